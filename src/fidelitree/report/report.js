// Shows a tree of the block of data above, moves along the curve to the others, and switches the theme.
(() => {
  const { features, points, chosen } = JSON.parse(find("scene").textContent);
  const PRINT_ALL = 800; // nodes of a tree that is printed whole
  let here = chosen;
  const shelf = [...document.querySelectorAll("template.tree-parts")].map((template) => template.content);
  const opened = document.createDocumentFragment(); // as it was written: the script draws into what is shown
  opened.append(...[...document.querySelectorAll("main [data-part]")].map((part) => part.cloneNode(true)));
  shelf.splice(chosen, 0, opened);
  let tree = plant({ features, ...points[here] });

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
