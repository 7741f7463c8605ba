// The text box and the layer of marks behind it. Both are in one cell of a grid and have the same
// metrics, and the box never scrolls by itself, so a mark is always under its numeral.

import { apart, moved } from "./edits.js";

export class Editor {
  /** `onText(text)` after every edit, `onPick(finding)` when a numeral is clicked. */
  constructor(area, layer, { onText, onPick }) {
    this.area = area;
    this.layer = layer;
    this.text = area.value;
    this.findings = [];
    this.selected = null;
    this.sources = []; // where the numbers of a chosen source or finding stand
    area.addEventListener("input", () => {
      this.#follow();
      onText(this.text);
    });
    area.addEventListener("click", () => {
      const finding = this.at(area.selectionStart);
      if (finding && area.selectionStart === area.selectionEnd) onPick(finding);
    });
  }

  /** The numeral at a position, its two ends included. */
  at(position) {
    return this.findings.find(({ start, end }) => start <= position && position <= end);
  }

  set(text) {
    this.area.value = text;
    this.#follow();
  }

  /** Findings of this very text. */
  show(findings) {
    this.findings = findings;
    if (this.selected) this.selected = this.#same(this.selected);
    this.#draw();
  }

  select(finding) {
    this.selected = finding;
    this.#draw();
    this.layer.querySelector("[data-selected]")?.scrollIntoView({ block: "nearest" });
  }

  /** Mark some places, whether or not there is a numeral that is marked anyway. */
  markSources(places) {
    this.sources = places.filter(({ start }) => start !== null);
    this.#draw();
    this.layer.querySelector("[data-chosen]")?.scrollIntoView({ block: "nearest" });
  }

  /** Write another numeral in the place of one; Ctrl+Z takes it back. */
  replace(finding, numeral) {
    const { start } = finding;
    const focused = document.activeElement;
    this.area.focus({ preventScroll: true });
    this.area.setSelectionRange(start, finding.end);
    this.selected = { ...finding, end: start + numeral.length };
    // Unlike setRangeText, this is a step of the box's own history.
    if (!document.execCommand("insertText", false, numeral)) {
      this.area.setRangeText(numeral, start, finding.end, "end");
      this.area.dispatchEvent(new Event("input"));
    }
    if (focused !== this.area) focused?.focus({ preventScroll: true });
  }

  #follow() {
    this.sources = [];
    this.findings = moved(this.findings, this.text, this.area.value);
    if (this.selected) {
      const [selected] = moved([this.selected], this.text, this.area.value);
      this.selected = selected ?? { ...this.selected, end: this.selected.start };
    }
    this.text = this.area.value;
    this.#draw();
  }

  #same(finding) {
    return this.findings.find(({ start, end }) => start <= finding.start && finding.start < end);
  }

  #draw() {
    const parts = [];
    const chosen = new Set(this.sources.map(({ start }) => start));
    let position = 0;
    for (const finding of apart([...this.findings, ...this.sources])) {
      parts.push(this.text.slice(position, finding.start));
      const mark = document.createElement("mark");
      mark.textContent = this.text.slice(finding.start, finding.end);
      mark.dataset.level = finding.level ?? "none";
      if (this.selected?.start === finding.start) mark.dataset.selected = "";
      if (chosen.has(finding.start)) mark.dataset.chosen = "";
      parts.push(mark);
      position = finding.end;
    }
    // A last line that is empty has no height of its own.
    parts.push(this.text.slice(position), "\u200b");
    this.layer.replaceChildren(...parts);
  }
}
