(() => {
  "use strict";
  const $ = (selector, from = document) => [...from.querySelectorAll(selector)];
  const search = document.getElementById("search");
  const shown = document.getElementById("shown");
  const boxes = $(".chips input");
  const cells = $("details.cell");

  // On a large page what is inside the cells lies compressed in one place until somebody opens one or looks
  // for something: that of the first packed cell first, and so on. It is markup of this page, escaped like
  // the rest.
  const packed = document.getElementById("packed");
  const places = new Map($(".packed").map((cell, place) => [cell, place]));
  const waiting = new Set(places.keys());
  let unpacked = null;
  const unpack = async () => {
    const bytes = Uint8Array.from(atob(packed.textContent), (sign) => sign.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  };
  const insides = () => { unpacked = unpacked || unpack(); return unpacked; };
  const fill = async (cell) => {
    if (!waiting.delete(cell)) return;
    cell.insertAdjacentHTML("beforeend", (await insides())[places.get(cell)]);
  };
  document.addEventListener("toggle", ({ target }) => { if (target.open) fill(target); }, true);

  // The filter. What is searched is all the text of a cell: steps, checks, errors, commands, ends of logs.
  const signs = { lt: "<", gt: ">", amp: "&", "#34": '"', "#39": "'" };
  const plain = (markup) => markup.replace(/<[^>]*>/g, " ").replace(/&(lt|gt|amp|#34|#39);/g, (_, name) => signs[name]);
  const plans = $("details.plan").map((plan) => ({
    plan, cells: $("details.cell", plan).map((cell) => ({ cell, text: "" })),
    text: plan.querySelector("summary").textContent.toLowerCase(),
  }));
  let indexed = null;
  const index = async () => {
    const texts = packed ? await insides() : [];
    for (const { cells: inside } of plans) {
      for (const entry of inside) {
        const place = places.get(entry.cell);
        const more = place === undefined ? "" : plain(texts[place]);
        entry.text = `${entry.cell.textContent} ${entry.cell.dataset.text} ${more}`.toLowerCase();
      }
    }
  };
  const rows = $("[data-of]");
  const cellOf = (name) => {
    for (let key = name; key; key = key.slice(0, Math.max(0, key.lastIndexOf("/")))) {
      const found = document.getElementById(key);
      if (found) return found;
    }
    return null;
  };
  const items = $(".item").map((item) => ({
    item, targets: $("a[href^='#']", item).map((link) => cellOf(link.hash.slice(1))).filter(Boolean)
      .map((target) => target.closest("details.cell") || target),
  }));

  const apply = async () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length) {
      indexed = indexed || index();
      await indexed;
    }
    const states = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
    const visible = new Set();
    let count = 0;
    for (const { plan, text, cells: inside } of plans) {
      let any = false;
      for (const { cell, text: own } of inside) {
        const fits = states.has(cell.dataset.state) && words.every((word) => text.includes(word) || own.includes(word));
        if (cell.hidden === fits) cell.hidden = !fits;
        if (fits) { any = true; count += 1; }
      }
      if (plan.hidden === any) plan.hidden = !any;
      if (any) visible.add(plan.dataset.model);
    }
    for (const row of rows) row.hidden = !visible.has(row.dataset.of);
    for (const { item, targets } of items) item.hidden = targets.length > 0 && targets.every((target) => target.hidden);
    shown.textContent = count === cells.length
      ? shown.dataset.all.replace("#", count)
      : shown.dataset.some.replace("##", cells.length).replace("#", count);
    shown.dataset.done = search.value;
  };

  // The address: #place?q=words&hide=states. It can be sent; a place alone is an ordinary anchor.
  const read = () => {
    const [place, query = ""] = decodeURIComponent(location.hash.slice(1)).split("?");
    return { place, asked: new URLSearchParams(query) };
  };
  const write = () => {
    const asked = new URLSearchParams();
    if (search.value) asked.set("q", search.value);
    const hidden = boxes.filter((box) => !box.checked).map((box) => box.value);
    if (hidden.length) asked.set("hide", hidden.join(","));
    const place = read().place;
    history.replaceState(null, "", asked.size || place ? `#${place}${asked.size ? `?${asked}` : ""}` : location.pathname);
  };
  const restore = () => {
    const { asked } = read();
    search.value = asked.get("q") || "";
    const hidden = (asked.get("hide") || "").split(",");
    for (const box of boxes) box.checked = !hidden.includes(box.value);
    return apply();
  };
  const reveal = async () => {
    const { place } = read();
    let target = place && cellOf(place);
    if (!target) return;
    if (waiting.has(target)) { await fill(target); target = cellOf(place); }
    for (let node = target; node; node = node.parentElement) {
      if (node.tagName === "DETAILS") node.open = true;
      node.hidden = false;
    }
    target.scrollIntoView();
  };

  let frame = 0;
  const changed = () => { write(); return apply(); };
  search.addEventListener("input", () => { cancelAnimationFrame(frame); frame = requestAnimationFrame(changed); });
  for (const box of boxes) box.addEventListener("change", changed);
  document.getElementById("fold").addEventListener("click", () => {
    const open = plans.some(({ plan }) => !plan.open && !plan.hidden);
    for (const { plan } of plans) if (!plan.hidden) plan.open = open;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== search) { event.preventDefault(); search.focus(); }
    if (event.key === "Escape" && document.activeElement === search) { search.value = ""; changed(); }
  });
  addEventListener("hashchange", () => { if (location.hash.includes("?")) restore(); reveal(); });
  document.addEventListener("click", ({ target }) => {
    // A link inside the page keeps the filter, and works a second time, too.
    const link = target.closest && target.closest("a[href^='#']");
    if (link && link.hash === location.hash) reveal();
  });

  // Readouts: the value of a curve under the pointer, and the step of a bar of the timeline.
  const cross = document.createElement("div");
  cross.className = "cross";
  cross.append(document.createElement("span"));
  document.addEventListener("pointermove", (event) => {
    const plot = event.target.closest && event.target.closest(".plot");
    if (!plot) { cross.remove(); return; }
    const values = plot.dataset.v.split(" ");
    const box = plot.querySelector("svg").getBoundingClientRect();
    const last = Math.max(values.length - 1, 1);
    const place = Math.min(values.length - 1, Math.max(0, Math.round(last * (event.clientX - box.left) / box.width)));
    const where = plot.dataset.x ? plot.dataset.x.split("|")[place] : "";
    cross.firstChild.textContent = where ? `${where}: ${values[place]}` : values[place];
    cross.style.left = `${box.left - plot.getBoundingClientRect().left + box.width * place / last}px`;
    cross.classList.toggle("turned", place > last / 2);
    if (cross.parentElement !== plot) plot.append(cross);
  });
  for (const drawn of $(".drawn")) {
    const bars = $("path", drawn).flatMap((path) => {
      const numbers = path.dataset.c.split(" ");
      return [...path.getAttribute("d").matchAll(/M(\d+) (\d+)h(\d+)/g)].map(([, x, y, wide], place) => (
        { x: +x, y: +y, wide: +wide, kind: path.dataset.kind, cell: cells[numbers[place]] }));
    });
    const svg = drawn.querySelector("svg");
    const readout = drawn.closest(".card").querySelector(".readout");
    const at = (event) => {
      const box = svg.getBoundingClientRect();
      const x = 1000 * (event.clientX - box.left) / box.width;
      const y = svg.viewBox.baseVal.height * (event.clientY - box.top) / box.height;
      return bars.find((bar) => Math.abs(bar.y - y) <= 5 && x >= bar.x - 2 && x <= bar.x + bar.wide + 2);
    };
    svg.addEventListener("pointermove", (event) => {
      const bar = at(event);
      svg.style.cursor = bar && bar.cell ? "pointer" : "";
      if (!bar || !bar.cell) return;
      const model = bar.cell.closest(".plan").querySelector("summary b").textContent;
      const [trainer, where] = bar.cell.querySelector("summary").children;
      const seconds = (bar.wide + 1) * drawn.dataset.span / 1000;
      readout.textContent = [model, `${trainer.textContent} ${where.textContent}`, bar.kind, `≈ ${seconds.toFixed(1)} s`].join(" · ");
    });
    svg.addEventListener("click", (event) => {
      const bar = at(event);
      if (bar && bar.cell) location.hash = bar.cell.id;
    });
  }

  // On paper everything that is not packed is open.
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = $("details.plan:not([open]),details.cell:not([open]):not(.packed)");
    for (const one of closed) one.open = true;
  });
  addEventListener("afterprint", () => { for (const one of closed) one.open = false; });

  restore().then(reveal);
})();
