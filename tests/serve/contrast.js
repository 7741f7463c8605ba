// Contrasts of what is on the page, as parts of what is required: 4.5 for text, 3 for drawings.
() => {
  const luminance = (colour) => {
    const [r, g, b] = colour.match(/[\d.]+/g).map(Number).map((c) => c / 255)
      .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const colour = getComputedStyle(e).backgroundColor;
      if (colour !== "rgba(0, 0, 0, 0)") return colour;
    }
  };
  const contrast = (a, b) => {
    const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };
  const result = {};
  const words =
      "h1, h2, h3, #model, label, textarea, #count, #key, footer p, button, dt, dd, legend, small," +
      "li > span:first-child, .finding span, .finding li, .summary, th, td, figcaption, #tables p, .sources span";
  for (const e of document.querySelectorAll(words)) {
    if (!e.getClientRects().length) continue;
    result[`text ${e.tagName} ${e.id || e.textContent.slice(0, 20)}`] =
      contrast(getComputedStyle(e).color, ground(e)) / 4.5;
  }
  for (const e of document.querySelectorAll("mark:not([data-level=none])")) {
    result[`line ${e.dataset.level}`] =
      contrast(getComputedStyle(e).textDecorationColor, ground(e)) / 3;
  }
  const panel = ground(document.getElementById("panel"));
  for (const [name, property] of [["mass", "fill"], ["needle", "stroke"], ["axis", "stroke"],
      ["range-foot", "fill"], ["tick", "fill"], ["written", "fill"]]) {
    const shape = document.querySelector(`svg .${name}`);
    if (!shape) continue; // no panel is open
    const drawn = getComputedStyle(shape)[property];
    result[`drawn ${name}`] = contrast(drawn, panel) / 3;
  }
  return result;
}
