"use strict";
// Enlarges plots in their place and images in a dialog; without it the report is whole all the same.
(() => {
  const MOST = 12, STEP = 1.4, FAR = 40;
  const button = (words, title, press) => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = words;
    made.title = title;
    made.setAttribute("aria-label", title);
    made.addEventListener("click", press);
    return made;
  };

  const zoomable = (figure) => {
    const pane = figure.querySelector(".pane"), image = pane.querySelector("img");
    let scale = 1, x = 0, y = 0, held = null;
    const show = () => {
      const width = pane.clientWidth, height = pane.clientHeight;
      x = Math.min(0, Math.max(width * (1 - scale), x));
      y = Math.min(0, Math.max(height * (1 - scale), y));
      // A wider image, not a stretched one: lines and letters are drawn anew.
      image.style.width = `${100 * scale}%`;
      image.style.marginLeft = `${x}px`;
      image.style.marginTop = `${y}px`;
      pane.classList.toggle("near", scale > 1);
      pane.dataset.zoom = scale.toFixed(2);
    };
    const zoom = (factor, at) => {
      if (!pane.style.height) pane.style.height = `${pane.clientHeight}px`;
      const place = at || [pane.clientWidth / 2, pane.clientHeight / 2];
      const next = Math.min(MOST, Math.max(1, scale * factor));
      x = place[0] - (place[0] - x) * next / scale;
      y = place[1] - (place[1] - y) * next / scale;
      scale = next;
      show();
    };
    const whole = () => { scale = 1; x = 0; y = 0; pane.style.height = ""; show(); };
    const move = (dx, dy) => { x += dx; y += dy; show(); };
    const within = (event) => {
      const box = pane.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    pane.tabIndex = 0;
    pane.setAttribute("role", "group");
    pane.setAttribute("aria-label", `Plot; plus and minus zoom, arrows move, 0 shows the whole. ${image.alt}`);
    pane.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && scale === 1) return; // the page scrolls until somebody zooms
      event.preventDefault();
      zoom(event.deltaY < 0 ? STEP : 1 / STEP, within(event));
    }, { passive: false });
    pane.addEventListener("dblclick", (event) => (scale > 1 ? whole() : zoom(STEP * STEP, within(event))));
    pane.addEventListener("pointerdown", (event) => {
      if (scale === 1) return;
      held = [event.clientX, event.clientY];
      pane.setPointerCapture(event.pointerId);
      pane.classList.add("held");
      event.preventDefault();
    });
    pane.addEventListener("pointermove", (event) => {
      if (!held) return;
      move(event.clientX - held[0], event.clientY - held[1]);
      held = [event.clientX, event.clientY];
    });
    const release = () => { held = null; pane.classList.remove("held"); };
    pane.addEventListener("pointerup", release);
    pane.addEventListener("pointercancel", release);
    const keys = {
      "+": () => zoom(STEP), "=": () => zoom(STEP), "-": () => zoom(1 / STEP), "0": whole,
      ArrowLeft: () => move(FAR, 0), ArrowRight: () => move(-FAR, 0), ArrowUp: () => move(0, FAR), ArrowDown: () => move(0, -FAR),
    };
    pane.addEventListener("keydown", (event) => {
      if (!(event.key in keys) || event.ctrlKey || event.metaKey) return;
      if (event.key.startsWith("Arrow") && scale === 1) return;
      event.preventDefault();
      keys[event.key]();
    });
    const tools = document.createElement("div");
    tools.className = "tools";
    tools.append(
      button("+", "Zoom in", () => zoom(STEP)), button("−", "Zoom out", () => zoom(1 / STEP)),
      button("Whole", "Show the whole plot", whole),
    );
    figure.append(tools);
    window.addEventListener("resize", whole);
  };

  const dialog = document.createElement("dialog"), large = document.createElement("img"), words = document.createElement("p");
  dialog.append(large, words, button("Close", "Close", () => dialog.close()));
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  document.body.append(dialog);
  const opens = (card) => {
    const image = card.querySelector("img");
    if (!image) return;
    const open = () => {
      large.src = image.src;
      large.alt = image.alt;
      large.className = image.naturalWidth <= 64 ? "small" : "";
      words.textContent = [image.alt, ...[...card.querySelectorAll("b, span")].map((each) => each.textContent)].join("\n");
      dialog.showModal();
    };
    image.className = "opens";
    image.tabIndex = 0;
    image.setAttribute("role", "button");
    image.addEventListener("click", open);
    image.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      open();
    });
  };

  document.querySelectorAll("figure").forEach(zoomable);
  document.querySelectorAll(".card").forEach(opens);
})();
