// What the model expects where a numeral stands.

import { element } from "./elements.js";
import { numberLine } from "./number-line.js";
import { format, percent } from "./scale.js";

const STRATEGIES = {
  "h-softmax": "from memory",
  "d-rnn": "digit by digit",
  mog: "number line",
  lm: "language model",
  copy: "copied",
  compute: "computed",
};
const OTHERS = 8; // numerals to choose from
const SOURCES = 6; // that are named
const LEAST = 0.02; // the probability of the least of them
const WIDE = 10; // a range over so many times its lower end is read best on a logarithmic line

/** The sources that matter. */
export function shownSources(prediction) {
  const sources = prediction?.sources ?? [];
  return sources.filter(({ probability }) => probability >= LEAST).slice(0, SOURCES);
}

export class Panel {
  constructor(root, { onReplace, onClose, onSource }) {
    this.root = root;
    this.onReplace = onReplace;
    this.onClose = onClose;
    this.onSource = onSource;
    this.kind = null; // what the reader chose; until then, what fits
    root.addEventListener("keydown", (event) => {
      if (event.key === "Escape") onClose();
    });
    new ResizeObserver(() => this.#drawLine()).observe(root);
  }

  get isOpen() {
    return !this.root.hidden;
  }

  close() {
    this.root.hidden = true;
    this.root.replaceChildren();
    this.prediction = null;
  }

  /** Show a finding; its prediction may follow later. */
  show(finding, prediction) {
    const focused = this.root.contains(document.activeElement) && document.activeElement.id;
    this.root.hidden = false;
    this.finding = finding;
    this.prediction = prediction;
    this.root.setAttribute("aria-busy", String(!prediction));
    this.root.replaceChildren(
      this.#head(),
      ...(prediction
        ? [
            this.#oddness(),
            this.#line(),
            this.#others(),
            this.#sources(),
            this.#facts(),
            this.#shares(),
          ]
        : [element("p", { className: "waiting" }, "Asking the model …")]),
    );
    this.#drawLine();
    if (focused !== false) (document.getElementById(focused) ?? this.root).focus();
  }

  /** One of the sources is shown where it stands; null: none is. */
  choose(index) {
    for (const [place, button] of this.root.querySelectorAll(".sources button").entries()) {
      button.setAttribute("aria-pressed", String(place === index));
      if (place === index) button.scrollIntoView({ block: "nearest" });
    }
  }

  fail(message) {
    this.root.setAttribute("aria-busy", "false");
    this.root.querySelector(".waiting")?.remove();
    this.root.append(element("p", { className: "failed", role: "alert" }, message));
  }

  #head() {
    const { level, verdict, written } = this.finding;
    const close = element(
      "button",
      { type: "button", id: "panel-close", className: "quiet", onclick: this.onClose },
      "Close",
    );
    return element(
      "header",
      {},
      element(
        "h2",
        { id: "panel-title" },
        element("mark", { data: { level } }, written),
        ` ${verdict}`,
      ),
      close,
    );
  }

  #oddness() {
    if (this.finding.level === "plausible") return "";
    const { oddness } = this.prediction.written;
    const sentence = `${oddness.charAt(0).toUpperCase()}${oddness.slice(1)}.`;
    return element("p", { className: "oddness" }, sentence);
  }

  #line() {
    const choices = ["linear", "log"].map((kind) => {
      const input = element("input", {
        type: "radio",
        name: "scale",
        id: `scale-${kind}`,
        value: kind,
        checked: kind === this.#scale(),
        onchange: () => {
          this.kind = kind;
          this.#drawLine();
        },
      });
      return element("label", {}, input, kind === "log" ? "logarithmic" : kind);
    });
    return element(
      "figure",
      {},
      element("div", { className: "plot", data: { level: this.finding.level } }),
      element("fieldset", {}, element("legend", {}, "Number line"), ...choices),
    );
  }

  #scale() {
    const { low, high } = this.prediction.interval;
    const { value } = this.prediction.written;
    const [least, most] = [Math.min(low, value), Math.max(high, value)];
    return this.kind ?? (most > WIDE * Math.max(least, 1e-9) && most > 20 ? "log" : "linear");
  }

  #drawLine() {
    const plot = this.root.querySelector(".plot");
    if (!plot || !this.prediction) return;
    plot.replaceChildren(numberLine(this.prediction, this.#scale(), plot.clientWidth));
  }

  #facts() {
    const { interval, median, written } = this.prediction;
    const rows = [
      [`Plausible range (${percent(interval.level)})`, `${format(interval.low)} to ${format(interval.high)}`],
      ["Median", format(median)],
      ["Chance of this or less", percent(written.below)],
    ];
    return element(
      "dl",
      {},
      ...rows.flatMap(([term, value]) => [element("dt", {}, term), element("dd", {}, value)]),
    );
  }

  #others() {
    const { top, written } = this.prediction;
    const others = top.filter(({ numeral }) => numeral !== written.numeral).slice(0, OTHERS);
    const buttons = others.map(({ numeral, probability }, index) =>
      element(
        "li",
        {},
        element(
          "button",
          {
            type: "button",
            id: `other-${index}`,
            aria: { label: `Write ${numeral} instead, probability ${percent(probability)}` },
            onclick: () => this.onReplace(this.finding, numeral),
          },
          element("b", {}, numeral),
          element("small", {}, percent(probability)),
        ),
      ),
    );
    return element(
      "section",
      { className: "others" },
      element("h3", {}, "Write instead"),
      element("ul", {}, ...buttons),
    );
  }

  #sources() {
    const sources = shownSources(this.prediction);
    if (!sources.length) return "";
    const buttons = sources.map(({ numeral, reason, probability }, index) =>
      element(
        "li",
        {},
        element(
          "button",
          {
            type: "button",
            id: `source-${index}`,
            aria: { pressed: "false" },
            onclick: () => this.onSource(index),
          },
          element("b", {}, numeral),
          element("span", {}, reason === "text" ? "written before" : reason),
          element("small", {}, percent(probability)),
        ),
      ),
    );
    return element(
      "section",
      { className: "sources" },
      element("h3", {}, "From numbers in view"),
      element("ul", {}, ...buttons),
    );
  }

  #shares() {
    const { shares } = this.prediction;
    if (!shares.length) return "";
    const rows = shares.map(({ strategy, share }) => {
      const bar = element("span", { className: "share", aria: { hidden: "true" } });
      bar.style.setProperty("--share", share);
      return element(
        "li",
        {},
        element("span", {}, STRATEGIES[strategy] ?? strategy),
        bar,
        element("span", {}, percent(share)),
      );
    });
    return element(
      "section",
      { className: "shares" },
      element("h3", {}, "Where this comes from"),
      element("ul", {}, ...rows),
    );
  }
}
