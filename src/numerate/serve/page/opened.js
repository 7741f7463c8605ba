// The file that is open: its bytes, what the server says of it, and suggestions written into it.

import { ask, askForFile } from "./api.js";
import { DocumentView } from "./document-view.js";
import { element } from "./elements.js";
import { save } from "./save.js";

const find = (id) => document.getElementById(id);

export class Opened {
  #bytes = null;
  #earlier = []; // its bytes before each change
  #isBusy = false;

  /** `onShow(findings, summary)` after each reading, `onPick(index)` when a numeral is clicked,
   * `onProblem(error)` for what went wrong, `onClose()`. */
  constructor({ onShow, onPick, onProblem, onClose }) {
    this.root = find("opened");
    this.view = new DocumentView(find("document"), onPick);
    this.onShow = onShow;
    this.onProblem = onProblem;
    find("opened-save").addEventListener("click", () => save(this.#blob(), this.name));
    find("opened-back").addEventListener("click", () => this.#takeBack());
    find("opened-close").addEventListener("click", () => {
      this.close();
      onClose();
    });
  }

  get isOpen() {
    return !this.root.hidden;
  }

  /** Shown once the server has read it; until then, and where it cannot, all stays as it is. */
  async open(name, bytes, signal) {
    const answer = await this.#read(name, bytes, signal);
    this.name = name;
    this.#earlier = [];
    this.#say("");
    this.root.hidden = false;
    this.#show(bytes, answer);
    find("opened-name").focus();
  }

  close() {
    this.root.hidden = true;
    this.#bytes = null;
    this.view.show([]);
  }

  /** The suggestion of a finding is written into the file, which is checked again. */
  async write(index) {
    const { change, suggestion, written, words } = this.found[index];
    const instead = Uint8Array.from(atob(change.base64), (sign) => sign.charCodeAt(0));
    const [before, after] = [this.#bytes.slice(0, change.start), this.#bytes.slice(change.end)];
    const bytes = new Uint8Array(await new Blob([before, instead, after]).arrayBuffer());
    const said = `${suggestion.text} is written instead of ${written}, ${words}.`;
    await this.#change(bytes, [...this.#earlier, this.#bytes], said);
  }

  /** It is noted for the reader, who alone can change the file; or no longer. */
  note(index, isNoted) {
    const { suggestion, written, words } = this.found[index];
    const said = `Accepted: ${suggestion.text} instead of ${written}, ${words}. Change it in ${this.name} itself.`;
    this.#say(isNoted ? said : "");
  }

  report(format) {
    return askForFile(`document/report?${this.#query(this.name)}&format=${format}`, this.#blob());
  }

  async #takeBack() {
    await this.#change(this.#earlier.at(-1), this.#earlier.slice(0, -1), "Taken back.");
    if (find("changed").hidden) find("opened-name").focus(); // the button is gone
  }

  async #change(bytes, earlier, said) {
    if (this.#isBusy) return;
    this.#isBusy = true;
    try {
      const answer = await this.#read(this.name, bytes);
      this.#earlier = earlier;
      this.#show(bytes, answer);
      this.#say(said);
    } catch (error) {
      this.onProblem(error);
    } finally {
      this.#isBusy = false;
    }
  }

  #read(name, bytes, signal) {
    return ask(`document?${this.#query(name)}`, new Blob([bytes]), signal);
  }

  #show(bytes, answer) {
    this.#bytes = bytes;
    this.found = answer.findings;
    find("opened-name").textContent = this.name;
    find("changed").hidden = !this.#earlier.length;
    find("notices").replaceChildren(...answer.notices.map((line) => element("li", {}, line)));
    this.view.show(answer.blocks);
    this.onShow(
      answer.findings.map((finding) => ({
        ...finding,
        where: finding.words,
        accept: finding.suggestion && (finding.change ? "write" : "note"),
      })),
      answer.summary,
    );
  }

  #query(name) {
    return new URLSearchParams({ name });
  }

  #blob() {
    return new Blob([this.#bytes]);
  }

  #say(message) {
    find("opened-note").textContent = message;
  }
}
