// Draws a tree and follows an input through it, and builds a branch when it is first opened.

function plant(scene) {
  const { feature, no, yes, code } = scene.nodes;
  const size = feature.length;
  const ALL_OPEN = 81; // nodes up to which the whole tree is shown at once
  const OPEN_ROWS = 41; // lines of a larger tree that are shown at first
  const MOST_CONTROLS = 200;

  const parent = new Int32Array(size).fill(-1);
  const leafNumber = new Int32Array(size).fill(-1);
  const leaves = new Int32Array(size); // below each node
  const labelShares = scene.classes.length ? new Float64Array(size * scene.classes.length) : null;
  prepare();

  function prepare() {
    let seen = 0;
    for (let node = 0; node < size; node += 1) {
      if (feature[node] < 0) {
        leafNumber[node] = seen;
        seen += 1;
      } else {
        parent[no[node]] = node;
        parent[yes[node]] = node;
      }
    }
    const width = scene.classes.length;
    for (let node = size - 1; node >= 0; node -= 1) {
      if (feature[node] < 0) {
        leaves[node] = 1;
        scene.counts[leafNumber[node]]?.forEach((share, k) => { labelShares[node * width + k] = share; });
        continue;
      }
      leaves[node] = leaves[no[node]] + leaves[yes[node]];
      for (let k = 0; k < width; k += 1) {
        labelShares[node * width + k] = labelShares[no[node] * width + k] + labelShares[yes[node] * width + k];
      }
    }
  }

  // --- words and numbers ---------------------------------------------------------------------------------------------

  function condition(node, side, exact = false) {
    const asked = scene.features[feature[node]];
    if (asked.kind === "boolean") return `${asked.name} = ${side ? 1 : 0}`;
    if (asked.kind === "numeric") {
      const cut = scene.cuts[node];
      if (cut === null) return `${asked.name} is ${side ? "not " : ""}missing`;
      const also = scene.missing[node] === side ? " or missing" : "";
      return `${asked.name} ${side ? "≤" : ">"} ${exact ? cut : brief(cut)}${also}`;
    }
    const values = scene.sets[node].map((k) => asked.values[k]);
    if (values.length === 1) return `${asked.name} ${side ? "=" : "≠"} ${values[0]}`;
    const shown = exact || values.length <= 6 ? values : [...values.slice(0, 5), `${values.length - 5} more`];
    return `${asked.name} ${side ? "is" : "is not"} ${shown.slice(0, -1).join(", ")} or ${shown.at(-1)}`;
  }

  // 0 before 1, but "at most" before "above" and "in" before "not in".
  const sides = (node) => (scene.features[feature[node]].kind === "boolean" ? [false, true] : [true, false]);
  const child = (node, side) => (side ? yes[node] : no[node]);
  const sideOf = (node) => yes[parent[node]] === node;

  // --- the outline: an ARIA tree, built as it is opened --------------------------------------------------------------

  const outline = find("outline");
  const items = new Map();
  let current = null; // the one line that Tab reaches

  function chip(label) {
    const made = element("span", { class: `label tone-${label % 8}` });
    made.append(scene.labels[label]);
    return made;
  }

  function line(node) {
    const row = element("span", { class: "row" });
    const inner = feature[node] >= 0;
    row.append(element("span", { class: "twist", "aria-hidden": "true" }));
    const text = parent[node] < 0 ? "All inputs" : condition(parent[node], sideOf(node));
    row.append(element("span", { class: "condition" }, text));
    if (!inner) row.append(element("span", { class: "arrow", "aria-hidden": "true" }, "→"), chip(code[node]));
    if (inner) row.append(element("span", { class: "below" }, `${whole(leaves[node])} leaves`));
    if (scene.masses) row.append(massOf(node));
    return row;
  }

  function massOf(node) {
    const bar = element("span", { class: "mass-bar", "aria-hidden": "true" }, element("span"));
    bar.firstChild.style.width = `${100 * scene.masses[node]}%`;
    return element("span", { class: "mass" }, bar, element("span", { class: "mass-share" }, percent(scene.masses[node])));
  }

  function item(node, level, position, count) {
    const made = element("li", {
      role: "treeitem", tabindex: "-1", "aria-level": level, "aria-posinset": position, "aria-setsize": count,
    });
    made.append(line(node));
    if (feature[node] >= 0) made.setAttribute("aria-expanded", "false");
    made.node = node;
    items.set(node, made);
    return made;
  }

  function open(node) {
    const here = items.get(node);
    if (feature[node] < 0 || here.getAttribute("aria-expanded") === "true") return;
    if (here.children.length === 1) {
      const level = Number(here.getAttribute("aria-level")) + 1;
      const below = sides(node).map((side, k) => item(child(node, side), level, k + 1, 2));
      here.append(element("ul", { role: "group" }, ...below));
    }
    here.setAttribute("aria-expanded", "true");
  }

  function close(node) {
    const here = items.get(node);
    if (here.getAttribute("aria-expanded") !== "true") return;
    here.setAttribute("aria-expanded", "false");
    if (current !== here && here.contains(current)) focus(here, false);
  }

  const toggle = (node) => (items.get(node).getAttribute("aria-expanded") === "true" ? close(node) : open(node));

  function pathTo(node) {
    const path = [];
    for (let at = node; at >= 0; at = parent[at]) path.push(at);
    return path.reverse();
  }

  const reveal = (node) => pathTo(node).slice(0, -1).forEach(open);

  function focus(here, move = true) {
    current?.setAttribute("tabindex", "-1");
    current = here;
    here.setAttribute("tabindex", "0");
    if (move) here.focus();
  }

  function openAll() {
    for (let node = 0; node < size; node += 1) if (feature[node] >= 0) open(node); // parents come first
  }

  function openFirst() {
    if (size <= ALL_OPEN) return openAll();
    const waiting = [0];
    for (let rows = 1; rows + 2 <= OPEN_ROWS && waiting.length; rows += 2) {
      let best = 0; // most inputs first; without masses, level by level
      if (scene.masses) waiting.forEach((node, k) => { if (scene.masses[node] > scene.masses[waiting[best]]) best = k; });
      const [node] = waiting.splice(best, 1);
      open(node);
      waiting.push(...[no[node], yes[node]].filter((below) => feature[below] >= 0));
    }
  }

  function next(here) {
    if (here.getAttribute("aria-expanded") === "true") return here.lastElementChild.firstElementChild;
    for (let at = here; at && at !== outline; at = at.parentElement.closest("[role=treeitem]")) {
      if (at.nextElementSibling) return at.nextElementSibling;
    }
    return null;
  }

  function last(here) {
    while (here.getAttribute("aria-expanded") === "true") here = here.lastElementChild.lastElementChild;
    return here;
  }

  const above = (here) => here.parentElement.closest("[role=treeitem]");
  const before = (here) => (here.previousElementSibling ? last(here.previousElementSibling) : above(here));

  const keys = {
    ArrowDown: next,
    ArrowUp: before,
    Home: () => items.get(0),
    End: () => last(items.get(0)),
    ArrowRight: (here) => {
      if (here.getAttribute("aria-expanded") === "true") return next(here);
      open(here.node);
      return null;
    },
    ArrowLeft: (here) => {
      if (here.getAttribute("aria-expanded") !== "true") return above(here);
      close(here.node);
      return null;
    },
    Enter: (here) => void toggle(here.node),
    " ": (here) => void toggle(here.node),
  };

  outline.append(item(0, 1, 1, 1));
  openFirst();
  focus(items.get(0), false);

  const itemOf = (target) => target.closest("[role=treeitem]");
  outline.addEventListener("keydown", (event) => {
    const act = keys[event.key];
    if (!act || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const to = act(itemOf(event.target));
    if (to) focus(to);
  });
  outline.addEventListener("click", (event) => {
    if (!event.target.closest(".row")) return;
    const here = itemOf(event.target);
    toggle(here.node);
    focus(here);
  });
  outline.addEventListener("focusin", (event) => describe(itemOf(event.target).node));
  outline.addEventListener("mouseover", (event) => {
    if (event.target.closest(".row")) describe(itemOf(event.target).node);
  });
  find("expand").addEventListener("click", openAll);
  find("collapse").addEventListener("click", () => {
    for (let node = size - 1; node > 0; node -= 1) if (items.has(node)) close(node);
  });

  // --- what is known of one line -------------------------------------------------------------------------------------

  let described = -1;

  function describe(node) {
    if (node === described) return;
    described = node;
    const path = pathTo(node).slice(1);
    const conditions = path.map((at) => element("li", {}, condition(parent[at], sideOf(at), true)));
    const facts = element("dl", { class: "record" });
    const add = (name, ...value) => facts.append(element("div", {}, element("dt", {}, name), element("dd", {}, ...value)));
    if (scene.masses) add("Reached by", `${percent(scene.masses[node])} of ${scene.estimated ? "test rows" : "inputs"}`);
    if (feature[node] < 0) add("The tree answers", chip(code[node]));
    else add("Asks about", asks(node));
    describeLabels(node, add);
    const where = path.length ? element("ol", { class: "conditions" }, ...conditions) : element("p", {}, "All inputs");
    find("node").replaceChildren(where, facts);
  }

  function asks(node) {
    const influence = Number(scene.influences[feature[node]].toPrecision(3));
    return `${scene.features[feature[node]].name} (influence on the tree ${influence})`;
  }

  function describeLabels(node, add) {
    if (!labelShares) return;
    const width = scene.classes.length;
    const shares = [...labelShares.subarray(node * width, (node + 1) * width)];
    const total = shares.reduce((sum, share) => sum + share, 0);
    const tests = scene.samples === null ? Infinity : Math.round(total * scene.samples);
    if (!total) return add("The target answers", "no test input came here");
    const order = shares.map((share, k) => [share, k]).filter(([share]) => share > 0).sort((a, b) => b[0] - a[0]);
    const often = (share) => tests === Infinity ? percent(share / total) : whole(share * scene.samples);
    const shown = order.slice(0, 6).map(([share, k]) => `${scene.classes[k]} ${often(share)}`);
    const of = tests === Infinity ? "" : ` of ${whole(tests)} test inputs`;
    add("The target answers", `${shown.join(", ")}${order.length > 6 ? ", …" : ""}${of}`);
    if (scene.here[node]) add("How often wrong", scene.here[node]);
    const all = scene.wrong[0];
    if (all > 1e-12) add("Share of the error", percent(scene.wrong[node] / all));
  }

  // --- an input, typed in --------------------------------------------------------------------------------------------

  const form = find("input");
  const controls = new Map();
  const asked = new Set(feature.filter((i) => i >= 0));

  function control(i) {
    const { kind, values, start, missing } = scene.features[i];
    if (kind === "boolean") {
      const box = element("input", { type: "checkbox" });
      box.checked = start === 1;
      return box;
    }
    if (kind === "numeric") {
      const empty = missing ? { placeholder: "missing" } : { required: "" };
      return element("input", { type: "number", step: "any", value: start, ...empty });
    }
    const options = values.map((value, k) => element("option", { value: k }, value));
    const menu = element("select", {}, ...options, element("option", { value: -1 }, "(another value)"));
    menu.value = start;
    return menu;
  }

  // Over the likely values of a number; any other can be typed.
  function slider(i, typed) {
    const { likely, integer, name } = scene.features[i];
    const [low, high] = [likely[0], likely.at(-1)];
    if (!(low < high)) return [];
    const step = integer ? 1 : "any";
    const made = element("input", { type: "range", min: low, max: high, step, value: typed.value, id: `slide-${i}` });
    made.addEventListener("input", () => { typed.value = integer ? made.value : brief(made.valueAsNumber); });
    typed.slider = made;
    return [made, element("label", { for: made.id, class: "hidden" }, `${name}, likely values`)];
  }

  function fill(place, chosen) {
    for (const i of chosen) {
      const made = control(i);
      made.id = `feature-${i}`;
      controls.set(i, made);
      const { name, kind } = scene.features[i];
      const more = kind === "numeric" ? slider(i, made) : [];
      place.append(element("div", { class: `field ${kind}` }, element("label", { for: made.id }, name), made, ...more));
    }
  }

  function moveSliders() {
    for (const entry of controls.values()) if (entry.slider && entry.value !== "") entry.slider.value = entry.value;
  }

  fill(find("asked"), [...asked].sort((a, b) => scene.influences[b] - scene.influences[a]));
  const others = scene.features.map((_, i) => i).filter((i) => !asked.has(i));
  if (find("unasked")) {
    fill(find("unasked"), others.slice(0, Math.max(0, MOST_CONTROLS - asked.size)));
    const left = others.length - find("unasked").children.length;
    if (left > 0) find("unasked").append(element("p", { class: "note" }, `${left} more, without a control here.`));
  }

  const valueOf = (i) => {
    const entry = controls.get(i);
    if (entry.type === "checkbox") return entry.checked ? 1 : 0;
    return entry.type === "number" ? entry.valueAsNumber : Number(entry.value);
  };

  function answers(node, value) {
    if (scene.features[feature[node]].kind === "boolean") return value === 1;
    if (!(node in scene.cuts)) return scene.sets[node].includes(value);
    if (Number.isNaN(value)) return scene.missing[node] === true; // an empty field
    return scene.cuts[node] === null || value <= scene.cuts[node];
  }

  function follow() {
    const path = [0];
    for (let at = 0; feature[at] >= 0; path.push(at)) at = child(at, answers(at, valueOf(feature[at])));
    return path;
  }

  function show(path, move) {
    const leaf = path.at(-1);
    moveSliders();
    reveal(leaf);
    outline.querySelectorAll(".on-path").forEach((old) => {
      old.classList.remove("on-path");
      old.removeAttribute("aria-current");
    });
    path.forEach((node) => items.get(node).classList.add("on-path"));
    const drawn = document.querySelectorAll("#view-diagram [data-node], #view-diagram [data-to]");
    drawn.forEach((one) => one.classList.toggle("taken", path.includes(Number(one.dataset.node ?? one.dataset.to))));
    items.get(leaf).setAttribute("aria-current", "true");
    const steps = path.slice(1).map((node) => element("li", {}, condition(parent[node], sideOf(node))));
    const verdict = element("p", {}, "The tree answers ", chip(code[leaf]));
    find("answer").replaceChildren(verdict, ...(steps.length ? [element("ol", { class: "conditions" }, ...steps)] : []));
    describe(leaf);
    if (move) items.get(leaf).firstElementChild.scrollIntoView({ block: "nearest" });
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    show(follow(), true);
  });
  form.addEventListener("input", () => {
    if (form.checkValidity()) show(follow(), false);
  });

  function chosen({ kind, p, likely, missing }) {
    if (kind === "numeric" && Math.random() < missing) return "";
    if (kind === "numeric") return likely[Math.floor(Math.random() * likely.length)];
    let left = Math.random();
    if (kind === "boolean") return left < p;
    const place = p.findIndex((share) => (left -= share) < 0);
    return place < 0 ? p.indexOf(Math.max(...p)) : place;
  }

  find("random").addEventListener("click", () => {
    for (const [i, entry] of controls) {
      const value = chosen(scene.features[i]);
      if (entry.type === "checkbox") entry.checked = value;
      else entry.value = value;
    }
    show(follow(), true);
  });

  // --- the diagram, and leaves named elsewhere on the page -----------------------------------------------------------

  document.querySelectorAll("#view-diagram [data-node]").forEach((one) => {
    one.addEventListener("mouseover", () => describe(Number(one.dataset.node)));
  });
  document.querySelectorAll("[data-leaf]").forEach((button) => button.addEventListener("click", () => {
    find("tab-lines").click();
    const leaf = Number(button.dataset.leaf);
    reveal(leaf);
    focus(items.get(leaf));
    items.get(leaf).scrollIntoView({ block: "center" });
  }));

  return { size, openAll };
}
