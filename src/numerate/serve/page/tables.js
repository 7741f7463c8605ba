// Tables that the model has in view: pasted or dropped, shown, and their cells as sources.

import { element } from "./elements.js";

const LARGEST = 1 << 20; // bytes of a file; the server says what is too much of a table

export class Tables {
  #isGiven = false;

  /** `read(text)` gives the tables of a text, `onChange()` follows every change, `onCell(index)` is
   * told which source was chosen by its cell. */
  constructor(root, { read, onChange, onCell }) {
    this.root = root;
    this.read = read;
    this.onChange = onChange;
    this.onCell = onCell;
    this.tables = [];
    this.version = 0; // changes with them
    this.sources = [];
    this.chosen = null;
    this.form = root.querySelector("form");
    this.box = root.querySelector("textarea");
    root.querySelector("#table-add").addEventListener("click", () => this.#open());
    root.querySelector("#table-cancel").addEventListener("click", () => this.#close());
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.add(this.box.value);
    });
    root.addEventListener("dragover", (event) => {
      event.preventDefault();
      root.toggleAttribute("data-over", true);
    });
    root.addEventListener("dragleave", () => root.toggleAttribute("data-over", false));
    root.addEventListener("drop", (event) => this.#drop(event));
    root.addEventListener("click", ({ target }) => this.#pick(target));
    root.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && this.#pick(event.target)) event.preventDefault();
    });
  }

  /** Those that the server was started with, once: before what was added while it was asked. */
  use(tables) {
    if (this.#isGiven) return;
    this.#isGiven = true;
    this.tables = [...tables, ...this.tables];
    this.#changed();
  }

  async add(text) {
    this.#say("");
    try {
      const found = await this.read(text);
      this.tables = [...this.tables, ...found];
      this.#close();
      this.#changed();
      this.onChange();
    } catch (error) {
      if (error.name !== "AbortError") this.#say(error.message);
    }
  }

  remove(index) {
    this.tables = this.tables.filter((_, place) => place !== index);
    this.#changed();
    this.onChange();
    this.root.querySelector("#table-add").focus();
  }

  /** Mark the cells that some sources are from, and those of the chosen one more strongly. */
  mark(sources, chosen) {
    this.sources = sources;
    this.chosen = chosen;
    for (const cell of this.root.querySelectorAll("[data-source]")) {
      cell.removeAttribute("tabindex");
      delete cell.dataset.source;
      delete cell.dataset.chosen;
    }
    for (const [index, { numbers }] of [...sources.entries()].reverse()) {
      for (const number of numbers) {
        const cell = this.#cell(number);
        if (!cell) continue;
        cell.dataset.source = index;
        cell.tabIndex = 0;
        if (index === chosen) cell.dataset.chosen = "";
      }
    }
    for (const number of sources[chosen]?.numbers ?? []) {
      const cell = this.#cell(number);
      if (cell) cell.dataset.chosen = "";
    }
    this.root.querySelector("[data-chosen]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  #cell({ table, row, column }) {
    if (table === null || table >= this.tables.length) return null;
    const part = row < 0 ? "thead" : "tbody";
    const rows = this.root.querySelectorAll("figure.table")[table]?.querySelector(part)?.rows;
    return rows?.[row < 0 ? rows.length + row : row]?.cells[column];
  }

  #pick(target) {
    const cell = target.closest?.("[data-source]");
    if (cell) this.onCell(Number(cell.dataset.source));
    return Boolean(cell);
  }

  #open() {
    this.form.hidden = false;
    this.box.focus();
  }

  #close() {
    this.form.hidden = true;
    this.box.value = "";
    this.#say("");
  }

  #say(message) {
    this.root.querySelector("#table-problem").textContent = message;
  }

  async #drop(event) {
    event.preventDefault();
    event.stopPropagation(); // the page would open it
    this.root.toggleAttribute("data-over", false);
    const [file] = event.dataTransfer.files;
    if (file?.size > LARGEST) this.#say(`${file.name} is too large for a table.`);
    else await this.add(file ? await file.text() : event.dataTransfer.getData("text/plain"));
  }

  #changed() {
    this.version += 1;
    this.sources = [];
    this.chosen = null;
    this.root.querySelector("#tables-hint").hidden = this.tables.length > 0;
    this.root.querySelector("#table-list").replaceChildren(
      ...this.tables.map((table, index) => this.#shown(table, index)),
    );
  }

  #shown({ label, caption, header, body }, index) {
    const name = label || `Table ${index + 1}`;
    const remove = element(
      "button",
      {
        type: "button",
        className: "quiet",
        aria: { label: `Remove ${name}` },
        onclick: () => this.remove(index),
      },
      "Remove",
    );
    const row = (cell) => (cells) =>
      element("tr", {}, ...cells.map((text) => element(cell, {}, text)));
    return element(
      "figure",
      { className: "table" },
      element("figcaption", {}, element("b", {}, name), caption && ` ${caption}`, remove),
      element(
        "div",
        { className: "cells", tabIndex: 0, role: "region", aria: { label: name } },
        element(
          "table",
          {},
          element("thead", {}, ...header.map(row("th"))),
          element("tbody", {}, ...body.map(row("td"))),
        ),
      ),
    );
  }
}
