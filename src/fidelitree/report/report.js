// Shows a tree of the block of data above, moves along the curve to the others, and switches the theme.
(() => {
  const { features, points, chosen } = JSON.parse(find("scene").textContent);
  const PRINT_ALL = 800; // nodes of a tree that is printed whole
  let here = chosen;
  let view = null; // the tab that was chosen, kept along the curve
  const shelf = [...document.querySelectorAll("template.tree-parts")].map((template) => template.content);
  const opened = document.createDocumentFragment(); // as it was written: the script draws into what is shown
  opened.append(...[...document.querySelectorAll("main [data-part]")].map((part) => part.cloneNode(true)));
  shelf.splice(chosen, 0, opened);
  let tree = plant({ features, ...points[here] });
  showTabs();

  // --- the tree three times, of which one is shown -------------------------------------------------------------------

  function showTabs() {
    const tabs = [...document.querySelectorAll("[role=tab]")];
    if (tabs.length < 2) return;
    const choose = (tab) => {
      for (const one of tabs) {
        one.setAttribute("aria-selected", one === tab);
        one.setAttribute("tabindex", one === tab ? "0" : "-1");
        find(one.getAttribute("aria-controls")).classList.toggle("other", one !== tab);
      }
    };
    tabs.forEach((tab, k) => {
      tab.addEventListener("click", () => { view = tab.id; choose(tab); });
      tab.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowLeft: tabs.length - 1 }[event.key];
        if (!step) return;
        const next = tabs[(k + step) % tabs.length];
        next.focus();
        next.click();
      });
    });
    tabs[0].parentElement.hidden = false;
    choose(tabs.find((tab) => tab.id === view) ?? tabs[0]);
  }

  // --- files that the page holds -------------------------------------------------------------------------------------

  document.addEventListener("click", (event) => {
    const name = event.target.closest("[data-file]")?.dataset.file;
    if (!name) return;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([points[here].files[name]], { type: "text/plain" }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  });

  // --- the curve: each tree has its own parts of the page ------------------------------------------------------------

  function moveTo(point) {
    if (point === here || !points[point]) return;
    here = point;
    const before = find("curve").getBoundingClientRect().top;
    const parts = shelf[point].cloneNode(true);
    for (const part of [...parts.children]) {
      document.querySelector(`main [data-part=${part.dataset.part}]`).replaceWith(part);
    }
    tree = plant({ features, ...points[point] });
    showTabs();
    tellSize();
    // What stands above the control may be taller now: the control stays under the hand that moves it.
    window.scrollBy({ top: find("curve").getBoundingClientRect().top - before, behavior: "instant" });
  }

  function tellSize() {
    const rows = document.querySelectorAll("#curve-numbers [data-point]");
    const told = rows[here].dataset.told;
    find("size").value = here;
    find("size").setAttribute("aria-valuetext", told);
    find("size-told").textContent = told;
    find("smaller").disabled = here === 0;
    find("larger").disabled = here === points.length - 1;
    rows.forEach((button, k) => {
      if (k === here) button.closest("tr").setAttribute("aria-current", "true");
      else button.closest("tr").removeAttribute("aria-current");
    });
    const marks = document.querySelectorAll(".curve .point");
    marks.forEach((mark, k) => mark.classList.toggle("here", k === here));
    const box = marks[here].closest(".scroll"); // narrower than the chart on a phone
    const [mark, frame] = [marks[here], box].map((one) => one.getBoundingClientRect());
    box.scrollLeft += (mark.left + mark.right - frame.left - frame.right) / 2;
  }

  if (find("curve")) {
    find("mover").hidden = false;
    find("size").addEventListener("input", (event) => moveTo(event.target.valueAsNumber));
    find("smaller").addEventListener("click", () => moveTo(here - 1));
    find("larger").addEventListener("click", () => moveTo(here + 1));
    find("curve").addEventListener("click", (event) => {
      const mark = event.target.closest("[data-point]");
      if (mark) moveTo(Number(mark.dataset.point));
    });
    tellSize();
  }

  // --- printing, theme -----------------------------------------------------------------------------------------------

  window.addEventListener("beforeprint", () => {
    if (tree.size <= PRINT_ALL) tree.openAll();
    else find("partly").hidden = false;
    if (find("curve-numbers")) find("curve-numbers").open = true;
  });

  const theme = find("theme");
  const preferred = window.matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (document.documentElement.dataset.theme ?? (preferred.matches ? "dark" : "light")) === "dark";
  const tell = () => theme.setAttribute("aria-pressed", isDark());
  theme.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    tell();
  });
  preferred.addEventListener("change", tell);
  tell();
})();
