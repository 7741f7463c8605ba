// The number line: what the model expects as bars, its plausible range as a band, the written
// value as a line. Linear or logarithmic; on a logarithmic line, zero has a place of its own.

import { format, scaleFor } from "./scale.js";

const HEIGHT = 190;
const MARGIN = { top: 34, right: 14, bottom: 30, left: 14 };
const NAMESPACE = "http://www.w3.org/2000/svg";

function shape(name, attributes, text) {
  const element = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

/** An SVG of `width` pixels for one prediction; `kind` is linear or log. */
export function numberLine(prediction, kind, width) {
  const { interval, written } = prediction;
  const { edges, masses } = prediction.bars[kind];
  const base = HEIGHT - MARGIN.bottom;
  const scale = scaleFor(kind, edges, MARGIN.left, width - MARGIN.right);
  const svg = shape("svg", {
    class: "line",
    viewBox: `0 0 ${width} ${HEIGHT}`,
    width,
    height: HEIGHT,
    role: "img",
    "aria-label": describe(prediction),
  });
  svg.append(...range(interval, scale, base));
  const top = Math.max(...masses);
  for (const [index, mass] of masses.entries()) {
    const left = scale.place(edges[index]);
    const right = scale.place(edges[index + 1]);
    const height = top ? ((base - MARGIN.top - 12) * mass) / top : 0;
    if (height < 0.3) continue;
    const gap = right - left > 4 ? 1 : 0;
    svg.append(
      shape("rect", {
        class: "mass",
        x: left,
        y: base - height,
        width: Math.max(right - left - gap, 0.5),
        height,
      }),
    );
  }
  svg.append(...axis(scale, base, width));
  if (written) svg.append(...needle(written, scale, base, width));
  return svg;
}

function range(interval, scale, base) {
  const left = scale.place(interval.low);
  const width = Math.max(scale.place(interval.high) - left, 2);
  return [
    shape("rect", { class: "range", x: left, y: MARGIN.top, width, height: base - MARGIN.top }),
    shape("rect", { class: "range-foot", x: left, y: base - 1.5, width, height: 3 }),
  ];
}

function axis(scale, base, width) {
  const parts = [shape("line", { class: "axis", x1: 0, x2: width, y1: base, y2: base })];
  let free = -Infinity; // where the last label ends
  for (const value of scale.ticks()) {
    const x = scale.place(value);
    parts.push(shape("line", { class: "axis", x1: x, x2: x, y1: base, y2: base + 5 }));
    const label = format(value);
    const half = 3.6 * label.length + 2;
    const middle = Math.min(Math.max(x, half), width - half);
    if (middle - half > free) {
      parts.push(shape("text", { class: "tick", x: middle, y: base + 20 }, label));
      free = middle + half + 6;
    }
  }
  return parts;
}

function needle(written, scale, base, width) {
  const x = scale.place(written.value);
  const label = `written ${written.numeral}`;
  const half = 4 * label.length;
  const middle = Math.min(Math.max(x, half), width - half);
  return [
    shape("line", { class: "needle", x1: x, x2: x, y1: MARGIN.top - 8, y2: base + 4 }),
    shape("path", { class: "needle", d: `M${x - 5} ${MARGIN.top - 12}h10l-5 8z` }),
    shape("text", { class: "written", x: middle, y: MARGIN.top - 18 }, label),
  ];
}

function describe({ interval, median, written }) {
  const level = Math.round(100 * interval.level);
  const expected = `Expected: median ${format(median)}, ${level} % between ${format(interval.low)} and ${format(interval.high)}.`;
  return written ? `${expected} Written: ${written.numeral}.` : expected;
}
