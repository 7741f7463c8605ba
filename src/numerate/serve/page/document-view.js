// A file as a document: text and tables in their order, and what is marked in them.

import { element } from "./elements.js";

export class DocumentView {
  /** `onPick(index)` when the numeral of a finding is clicked. */
  constructor(root, onPick) {
    this.root = root;
    root.addEventListener("click", (event) => {
      const mark = event.target.closest("mark[data-numeral]");
      if (!mark) return;
      event.preventDefault();
      onPick(Number(mark.dataset.numeral.split(" ")[0]));
    });
  }

  show(blocks) {
    this.root.replaceChildren(...blocks.map(drawn));
  }

  /** The numeral of a finding, and what it rests on; null: nothing. */
  choose(index) {
    for (const mark of this.root.querySelectorAll("[data-selected], [data-chosen]")) {
      delete mark.dataset.selected;
      delete mark.dataset.chosen;
    }
    if (index === null) return;
    for (const mark of this.root.querySelectorAll(`[data-evidence~="${index}"]`)) mark.dataset.chosen = "";
    const numerals = this.root.querySelectorAll(`[data-numeral~="${index}"]`);
    for (const mark of numerals) mark.dataset.selected = "";
    numerals[0]?.scrollIntoView({ block: "center", inline: "nearest" });
  }

  /** Only the numerals of some findings stand out; what was chosen may not be among them. */
  only(indices, chosen) {
    if (chosen === null) this.choose(null);
    const shown = new Set(indices.map(String));
    for (const mark of this.root.querySelectorAll("mark[data-numeral]")) {
      const isShown = mark.dataset.numeral.split(" ").some((index) => shown.has(index));
      mark.dataset.level = isShown ? "wrong" : "none";
    }
  }
}

function drawn(block) {
  if (block.kind === "table") return table(block);
  const isHeading = block.kind.startsWith("#");
  const name = isHeading ? `h${Math.min(block.kind.length + 2, 6)}` : "p"; // under the file's name
  return element(name, { className: isHeading ? "" : block.kind }, ...segments(block.text));
}

function table({ label, caption, header, body, notes }) {
  const row = (cell) => (cells) =>
    element("tr", {}, ...cells.map((text) => element(cell, {}, ...segments(text))));
  return element(
    "figure",
    { className: "table" },
    element("figcaption", {}, element("b", {}, label), element("span", {}, ...segments(caption))),
    element(
      "div",
      { className: "cells", tabIndex: 0, role: "region", aria: { label } },
      element(
        "table",
        {},
        element("thead", {}, ...header.map(row("th"))),
        element("tbody", {}, ...body.map(row("td"))),
      ),
    ),
    notes.length ? element("p", { className: "note" }, ...segments(notes)) : "",
  );
}

function segments(some) {
  return some.map((segment) => (typeof segment === "string" ? segment : marked(segment)));
}

function marked({ text, numeral_of: numerals, evidence_of: evidence }) {
  const data = { evidence: evidence.join(" ") };
  if (!numerals.length) return element("span", { data }, text);
  const [first] = numerals;
  const link = element("a", { href: `#finding-${first}`, aria: { describedby: `message-${first}` } }, text);
  return element("mark", { data: { ...data, numeral: numerals.join(" "), level: "wrong" } }, link);
}
