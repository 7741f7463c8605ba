// What is wrong with the numbers of the text: a list of findings, the most probable first.

import { apart } from "./edits.js";
import { element } from "./elements.js";

const UNLIKELY = "NUM900"; // what the marks of a language model say anyway

/** The marks of the text: those of the language model, and over them those of findings. */
export function marksOf(numerals, findings) {
  const marks = new Map(numerals.map((numeral) => [numeral.start, numeral]));
  for (const [index, finding] of findings.entries()) {
    const { start, end, written, code } = finding;
    if (start === null) continue;
    const known = marks.get(start) ?? { start, end, written };
    const level = code === UNLIKELY ? known.level : "wrong";
    marks.set(start, { ...known, level, verdict: known.verdict ?? code, finding: index });
  }
  return apart([...marks.values()]);
}

/** All places that a finding rests on, itself among them. */
export function placesOf(finding) {
  return [finding, ...finding.involved, ...finding.evidence.flatMap(({ places }) => places)];
}

export class Findings {
  /** `onPick(index)` when a finding is chosen, `onApply(index)` when its suggestion is wanted. */
  constructor(root, { onPick, onApply }) {
    this.root = root;
    this.list = root.querySelector("ol");
    this.onPick = onPick;
    this.onApply = onApply;
    this.found = [];
    this.chosen = null;
  }

  show(found, summary) {
    const focused = [...this.list.children].indexOf(document.activeElement?.closest("li"));
    this.found = found;
    this.root.hidden = false;
    this.root.querySelector(".summary").textContent = summary;
    this.list.replaceChildren(...found.map((finding, index) => this.#card(finding, index)));
    this.choose(null);
    if (focused >= 0) this.list.children[focused]?.querySelector("button").focus();
  }

  /** One is shown where it stands; null: none is. On a narrow screen the list is below the text,
   * which stays in sight. */
  choose(index, { follow = true } = {}) {
    this.chosen = index;
    const beside = follow && matchMedia("(min-width: 60rem)").matches;
    for (const [place, card] of [...this.list.children].entries()) {
      card.querySelector(".pick").setAttribute("aria-pressed", String(place === index));
      if (place === index && beside) card.scrollIntoView({ block: "nearest" });
    }
  }

  #card(finding, index) {
    const { code, written, message, evidence, suggestion, probability, calibrated } = finding;
    const where = finding.start === null ? ` ${finding.words}` : "";
    const said = evidence.map(({ said }) => said).filter((line) => !message.includes(line));
    const percent = probability > 0.99 ? "> 99 %" : `${Math.round(100 * probability)} %`;
    const sure = calibrated ? percent : "uncalibrated";
    const apply = element(
      "button",
      {
        type: "button",
        className: "apply",
        aria: { label: `Write ${suggestion?.text} instead of ${written}` },
        onclick: () => this.onApply(index),
      },
      "Write ",
      element("b", {}, suggestion?.text ?? ""),
    );
    return element(
      "li",
      { className: "finding" },
      element(
        "button",
        {
          type: "button",
          className: "pick",
          aria: { pressed: "false" },
          onclick: () => this.onPick(index),
        },
        element("span", { className: "code" }, `${code}${where}`),
        element("span", { className: "sure" }, sure),
        element("span", { className: "message" }, message),
      ),
      said.length ? element("ul", {}, ...said.map((line) => element("li", {}, line))) : "",
      suggestion && finding.start !== null ? apply : "",
    );
  }
}
