// What is wrong with the numbers of the text: a list of findings, the most probable first.

import { apart } from "./edits.js";
import { element } from "./elements.js";
import { Filter } from "./filter.js";

const UNLIKELY = "NUM900"; // what the marks of a language model say anyway

/** The marks of the text: those of the language model, and over them those of findings. */
export function marksOf(numerals, findings) {
  const marks = new Map(numerals.map((numeral) => [numeral.start, numeral]));
  for (const [index, finding] of findings.entries()) {
    const { start, end, written, code } = finding;
    if (start === null) continue;
    const known = marks.get(start) ?? { start, end, written };
    const isOdd = code === UNLIKELY;
    const level = isOdd ? "implausible" : "wrong";
    const label = isOdd ? known.verdict ?? code : `wrong, ${code}`;
    marks.set(start, { ...known, level, label, verdict: known.verdict ?? code, finding: index });
  }
  return apart([...marks.values()]);
}

/** All places that a finding rests on, itself among them. */
export function placesOf(finding) {
  return [finding, ...finding.involved, ...finding.evidence.flatMap(({ places }) => places)];
}

export class Findings {
  /** `onPick(index)` when a finding is chosen, `onAccept(index)` when its suggestion is wanted,
   * `onFilter(indices)` when others are shown than before. */
  constructor(root, { onPick, onAccept, onFilter }) {
    this.root = root;
    this.list = root.querySelector("ol");
    this.onPick = onPick;
    this.onAccept = onAccept;
    this.onFilter = onFilter;
    this.found = [];
    this.shown = []; // indices of those that suit the filter
    this.noted = new Set(); // those whose suggestions the reader will write by hand
    this.chosen = null;
    this.at = 0; // where the reader is in the list, also when what was chosen is gone
    this.filter = new Filter(root.querySelector(".filter"), () => this.#draw());
  }

  /** Each with `where` it is, and whether its suggestion is to `write` or only to be noted. */
  show(found, summary) {
    if (this.chosen === null) this.at = 0;
    this.chosen = null;
    this.noted.clear();
    this.found = found;
    this.root.hidden = false;
    this.root.querySelector(".summary").textContent = summary;
    this.root.querySelector(".keys").hidden = !found.length;
    this.filter.offer(found);
    this.#draw();
  }

  /** One is shown where it stands; null: none is. On a narrow screen the list is below the text,
   * which stays in sight. */
  choose(index, { follow = true, focus = false } = {}) {
    this.chosen = index;
    if (index !== null) this.at = this.shown.indexOf(index);
    const beside = follow && matchMedia("(min-width: 60rem)").matches;
    for (const [place, card] of [...this.list.children].entries()) {
      const isIt = this.shown[place] === index;
      card.querySelector(".pick").setAttribute("aria-pressed", String(isIt));
      if (isIt && focus) card.querySelector(".pick").focus({ preventScroll: true });
      if (isIt && beside) card.scrollIntoView({ block: "nearest" });
    }
  }

  /** The reader begins with another list. */
  restart() {
    this.at = 0;
  }

  /** The index of the finding after the one where the reader is, or before it, round and round;
   * where none is chosen, it has moved up into its place. */
  beside(step) {
    const { length } = this.shown;
    const from = this.chosen === null && step > 0 ? this.at - 1 : this.at;
    return length ? this.shown[(from + step + length) % length] : null;
  }

  /** A suggestion is noted; again: no longer. Whether it is now. */
  note(index) {
    const isNoted = !this.noted.delete(index);
    if (isNoted) this.noted.add(index);
    const card = this.list.children[this.shown.indexOf(index)];
    card.querySelector(".apply").setAttribute("aria-pressed", String(isNoted));
    card.querySelector(".by-hand").hidden = !isNoted;
    return isNoted;
  }

  #draw() {
    const focused = [...this.list.children].indexOf(document.activeElement?.closest("li.finding"));
    this.shown = [...this.found.keys()].filter((index) => this.filter.suits(this.found[index]));
    this.list.replaceChildren(...this.shown.map((index) => this.#card(this.found[index], index)));
    this.choose(this.shown.includes(this.chosen) ? this.chosen : null, { follow: false });
    if (focused >= 0) {
      const card = this.list.children[Math.min(focused, this.shown.length - 1)];
      card?.querySelector("button").focus({ preventScroll: true });
    }
    this.onFilter(this.shown);
  }

  #card(finding, index) {
    const { code, where, message, evidence, probability, calibrated } = finding;
    const said = evidence.map(({ said }) => said).filter((line) => !message.includes(line));
    const percent = probability > 0.99 ? "> 99 %" : `${Math.round(100 * probability)} %`;
    const sure = calibrated ? percent : "uncalibrated";
    return element(
      "li",
      { className: "finding", id: `finding-${index}` },
      element(
        "button",
        {
          type: "button",
          className: "pick",
          aria: { pressed: "false" },
          onclick: () => this.onPick(index),
        },
        element("span", { className: "code" }, where ? `${code} ${where}` : code),
        element("span", { className: "sure" }, sure),
        element("span", { className: "message", id: `message-${index}` }, message),
      ),
      said.length ? element("ul", {}, ...said.map((line) => element("li", {}, line))) : "",
      finding.accept ? this.#button(finding, index) : "",
      element("p", { className: "by-hand", hidden: !this.noted.has(index) }, "Change it in the file itself."),
    );
  }

  #button({ written, suggestion, accept }, index) {
    const [word, what] = accept === "write" ? ["Write", {}] : ["Accept", { pressed: String(this.noted.has(index)) }];
    return element(
      "button",
      {
        type: "button",
        className: "apply",
        aria: { label: `${word} ${suggestion.text} instead of ${written}`, ...what },
        onclick: () => this.onAccept(index),
      },
      `${word} `,
      element("b", {}, suggestion.text),
    );
  }
}
