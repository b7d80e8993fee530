(() => {
  "use strict";
  const search = document.getElementById("search");
  const shown = document.getElementById("shown");
  const boxes = [...document.querySelectorAll(".chips input")];
  // What is searched: the lines that can be seen of configs, cells and steps, and the precision.
  const line = (node) => node.querySelector("summary").textContent;
  const plans = [...document.querySelectorAll("details.plan")].map((plan) => ({
    plan,
    text: line(plan).toLowerCase(),
    cells: [...plan.querySelectorAll("details.cell")].map((cell) => ({
      cell, state: cell.dataset.state,
      text: [cell, ...cell.querySelectorAll(".step")].map(line).concat(cell.dataset.text)
        .join(" ").toLowerCase(),
    })),
  }));
  const rows = [...document.querySelectorAll("[data-of]")];
  const total = plans.reduce((sum, entry) => sum + entry.cells.length, 0);

  const apply = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const states = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
    const visible = new Set();
    let count = 0;
    for (const { plan, text, cells } of plans) {
      let any = false;
      for (const { cell, text: own, state } of cells) {
        const fits = states.has(state) && words.every((word) => text.includes(word) || own.includes(word));
        if (cell.hidden === fits) cell.hidden = !fits;
        if (fits) { any = true; count += 1; }
      }
      if (plan.hidden === any) plan.hidden = !any;
      if (any) visible.add(plan.dataset.model);
    }
    for (const row of rows) row.hidden = !visible.has(row.dataset.of);
    shown.textContent = count === total ? `${total} cells` : `${count} of ${total} cells`;
  };

  let waiting = 0;
  search.addEventListener("input", () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(apply);
  });
  for (const box of boxes) box.addEventListener("change", apply);
  document.getElementById("fold").addEventListener("click", () => {
    const open = plans.some(({ plan }) => !plan.open && !plan.hidden);
    for (const { plan } of plans) if (!plan.hidden) plan.open = open;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== search) { event.preventDefault(); search.focus(); }
    if (event.key === "Escape" && document.activeElement === search) { search.value = ""; apply(); }
  });
  const reveal = () => {
    const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    for (let node = target; node; node = node.parentElement) if (node.tagName === "DETAILS") node.open = true;
    if (target) target.scrollIntoView();
  };
  // On a large page what is inside the cells lies compressed in one place until somebody opens one: that of
  // the first packed cell first, and so on. It is markup of this page, escaped like the rest.
  const packed = document.getElementById("packed");
  const places = new Map([...document.querySelectorAll(".packed")].map((cell, place) => [cell, place]));
  let unpacked = null;
  const unpack = async () => {
    const bytes = Uint8Array.from(atob(packed.textContent), (sign) => sign.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  };
  document.addEventListener("toggle", async ({ target }) => {
    const place = places.get(target);
    if (place === undefined || !target.open) return;
    places.delete(target);
    unpacked = unpacked || unpack();
    target.insertAdjacentHTML("beforeend", (await unpacked)[place]);
  }, true);
  addEventListener("hashchange", reveal);
  apply();
  reveal();
})();
