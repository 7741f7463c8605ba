// The page: check the text as it is written, or a file, show what is wrong, and what a model expects.

import { ApiError, ask, askForFile, useToken } from "./api.js";
import { Editor } from "./editor.js";
import { Findings, marksOf, placesOf } from "./findings.js";
import { takeFiles } from "./given-file.js";
import { onKeys } from "./keys.js";
import { countLine, listNumerals } from "./numerals.js";
import { findingsToUnits, sendable, toPoint, toUnits } from "./offsets.js";
import { Opened } from "./opened.js";
import { Panel, shownSources } from "./panel.js";
import { save } from "./save.js";
import { Tables } from "./tables.js";

const PAUSE = 200; // milliseconds without a keystroke before the text is checked
const find = (id) => document.getElementById(id);

const editor = new Editor(find("text"), find("marks"), { onText: checkSoon, onPick: pick });
const panel = new Panel(find("panel"), { onReplace: replace, onClose: close, onSource: showSource });
const tables = new Tables(find("tables"), {
  read: async (text) => (await ask("tables", { text: sendable(text) })).tables,
  onChange: checkText,
  onCell: showSource,
});

const opened = new Opened({
  onShow: (found, summary) => findings.show(found, summary),
  onPick: showFinding,
  onProblem: fileFailed,
  onClose: backToText,
});

const findings = new Findings(find("findings"), {
  onPick: showFinding,
  onAccept: accept,
  onFilter: (shown) => opened.view.only(shown, findings.chosen),
});

let limits = { characters: Infinity, file_bytes: Infinity };
let hasModel = false; // of language; without one there is nothing to predict
let seesTables = false; // whether it does
let examples = [];
let timer = 0;
let check = new AbortController(); // of the text
let prediction = new AbortController(); // of the open numeral
let opening = new AbortController(); // of a file
let known = { key: null, answer: null }; // the last prediction
let opener = null; // where the focus goes when the panel closes

function say(message) {
  find("problem").textContent = message;
}

/** A text that the model does not fit: then nothing is said of how often marks are wrong. */
function sayMisfit(message) {
  find("misfit").textContent = message;
  document.body.toggleAttribute("data-misfit", Boolean(message));
}

/** Whether the marks are those of an earlier text. */
function busy(state) {
  document.querySelector(".editor").setAttribute("aria-busy", String(state));
}

function checkSoon() {
  check.abort();
  clearTimeout(timer);
  busy(true);
  list();
  timer = setTimeout(checkText, PAUSE);
}

async function checkText() {
  check.abort();
  if (opened.isOpen) return;
  check = new AbortController();
  busy(true);
  const { text } = editor;
  const characters = toPoint(text, text.length);
  if (characters > limits.characters) {
    editor.show([]);
    findings.show([], "");
    sayMisfit("");
    list();
    say(`The text is too long: ${characters.toLocaleString("en")} characters, at most ${limits.characters.toLocaleString("en")} can be checked.`);
    find("count").textContent = "Not checked.";
    return;
  }
  try {
    const asked = { text: sendable(text), tables: tables.tables };
    const answer = await ask("check", asked, check.signal);
    const numerals = toUnits(answer.numerals, text);
    const found = findingsToUnits(answer.findings, text).map(ofText);
    const misfit = answer.domain?.misfit ?? "";
    say("");
    sayMisfit(misfit);
    editor.markSources([]);
    tables.mark([], null);
    editor.show(marksOf(numerals, found));
    findings.show(found, answer.summary);
    busy(false);
    list();
    find("count").textContent = hasModel ? countLine(editor.findings, found, misfit) : "";
    refresh();
  } catch (error) {
    failed(error, checkText);
  }
}

/** A finding of the text, for the list: what stands in a table beside it has to be named. */
function ofText(finding) {
  const isBeside = finding.start === null;
  const accept = finding.suggestion && !isBeside ? "write" : null;
  return { ...finding, where: isBeside ? finding.words : "", accept };
}

/** The tables as the server takes them for a prediction, if the model sees any. */
function inView() {
  return seesTables ? { tables: tables.tables } : {};
}

/** One clear line; what may pass by itself is tried again. */
function failed(error, again) {
  if (error.name === "AbortError") return;
  if (!(error instanceof ApiError)) throw error;
  if (error.status === 401) {
    askForToken();
    return;
  }
  say(error.message);
  find("count").textContent = "Not checked.";
  if (error.retryAfter) timer = setTimeout(again, 1000 * error.retryAfter);
}

function list() {
  listNumerals(find("numerals"), editor.findings, editor.selected, (finding) => {
    pick(finding);
    find("panel").focus();
  });
}

function pick(mark) {
  opener = document.activeElement;
  editor.select(mark);
  list();
  const asks = hasModel && mark.numeral !== undefined;
  if (mark.finding !== undefined) showFinding(mark.finding, { follow: !asks });
  if (asks) {
    predict(mark);
    document.querySelector(".side").scrollTop = 0; // the panel is above the findings
  } else if (panel.isOpen) close();
}

/** A finding where it stands, with the places that it rests on; again: no more. */
function showFinding(index, { follow = true, focus = false } = {}) {
  const again = index === findings.chosen && document.activeElement?.closest("#findings") && !focus;
  const chosen = again ? null : index;
  if (opened.isOpen) {
    findings.choose(chosen, { follow, focus });
    opened.view.choose(chosen);
    return;
  }
  const places = chosen === null ? [] : placesOf(findings.found[chosen]);
  findings.choose(chosen, { follow, focus });
  editor.markSources(places);
  tables.mark(places.length ? [{ numbers: places }] : [], places.length ? 0 : null);
  const mark = editor.findings.find(({ finding }) => finding === chosen);
  if (mark) editor.select(mark);
}

/** The suggestion of a finding is written; where the text has changed since, nothing is. */
function accept(index) {
  const how = findings.found[index]?.accept;
  if (!how) return;
  if (how === "note") {
    opened.note(index, findings.note(index));
    return;
  }
  if (opened.isOpen) {
    opened.write(index);
    return;
  }
  const mark = editor.findings.find(({ finding }) => finding === index);
  if (mark) replace(mark, findings.found[index].suggestion.text);
}

/** After a new check: the open numeral may have changed, or be gone. */
function refresh() {
  if (!panel.isOpen) return;
  if (editor.selected?.numeral !== undefined) predict(editor.selected);
  else close();
}

async function predict(finding) {
  prediction.abort();
  const before = editor.text.slice(0, finding.end);
  const key = `${tables.version} ${before}`;
  if (known.key === key) {
    show(finding, known.answer);
    return;
  }
  prediction = new AbortController();
  if (!panel.isOpen) panel.show(finding, null);
  try {
    const [start, end] = [toPoint(before, finding.start), toPoint(before, finding.end)];
    const asked = { text: sendable(before), start, end, ...inView() };
    const answer = await ask("predict", asked, prediction.signal);
    known = { key, answer };
    show(finding, answer);
  } catch (error) {
    if (error instanceof ApiError && error.status !== 401) panel.fail(error.message);
    else failed(error, () => predict(finding));
  }
}

function show(finding, answer) {
  panel.show(finding, answer);
  tables.mark(shownSources(answer), null);
  editor.markSources([]);
}

/** Where a source of the open prediction stands: in the tables, in the text; again: no more. */
function showSource(index) {
  const sources = shownSources(panel.prediction);
  const chosen = index === tables.chosen ? null : index;
  editor.markSources(toUnits(sources[chosen]?.numbers ?? [], editor.text));
  tables.mark(sources, chosen);
  panel.choose(chosen);
}

function replace(finding, numeral) {
  editor.replace(finding, numeral);
  clearTimeout(timer);
  checkText();
}

function close() {
  const inside = find("panel").contains(document.activeElement);
  const index = editor.findings.findIndex(({ start }) => start === editor.selected?.start);
  prediction.abort();
  panel.close();
  tables.mark([], null);
  editor.markSources([]);
  editor.select(null);
  list();
  if (!inside) return;
  const fromList = opener && !opener.isConnected; // the list has been drawn again since
  const button = fromList && find("numerals").children[index]?.firstChild;
  (button || find("text")).focus();
}

function step(direction) {
  const index = findings.beside(direction);
  if (index !== null) showFinding(index, { focus: true });
}

onKeys({ next: () => step(1), previous: () => step(-1), accept: () => accept(findings.chosen) });

/** A file takes the place of the text, which is still there when it is closed. */
async function open(files) {
  sayOfFile("");
  const [file] = files;
  if (files.length !== 1) {
    sayOfFile(`Got ${files.length} files: open one at a time.`);
    return;
  }
  if (file.size > limits.file_bytes) {
    sayOfFile(`${file.name} is too large: at most ${limits.file_bytes >> 20} MiB can be read.`);
    return;
  }
  opening.abort();
  opening = new AbortController();
  find("reading").textContent = `Reading ${file.name} …`;
  try {
    const bytes = new Uint8Array(await file.arrayBuffer());
    await opened.open(file.name, bytes, opening.signal);
    findings.restart();
    check.abort();
    clearTimeout(timer);
    if (panel.isOpen) close();
    find("writing").hidden = true;
    document.body.toggleAttribute("data-opened", true);
  } catch (error) {
    if (error instanceof DOMException && error.name !== "AbortError") {
      sayOfFile(`${file.name} cannot be read: expected a file.`);
    } else fileFailed(error);
  }
  find("reading").textContent = "";
}

takeFiles(find("open"), find("file"), open);

function backToText() {
  sayOfFile("");
  find("writing").hidden = false;
  document.body.toggleAttribute("data-opened", false);
  checkText();
  find("text").focus();
}

function sayOfFile(message) {
  find("file-problem").textContent = message;
}

function fileFailed(error) {
  if (error.name === "AbortError") return;
  if (!(error instanceof ApiError)) throw error;
  if (error.status === 401) askForToken();
  else sayOfFile(error.message);
}

find("findings").addEventListener("click", async ({ target }) => {
  const { format } = target.closest("[data-format]")?.dataset ?? {};
  if (!format) return;
  try {
    const asked = { text: sendable(editor.text), tables: tables.tables, format };
    const blob = await (opened.isOpen ? opened.report(format) : askForFile("report", asked));
    save(blob, `${opened.isOpen ? opened.name : "text"}-report.${format}`);
  } catch (error) {
    fileFailed(error);
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && panel.isOpen && !find("token").open) close();
});

function askForToken() {
  const dialog = find("token");
  if (dialog.open) return;
  find("token-problem").textContent = sessionStorage.length ? "That token is not right." : "";
  dialog.showModal();
}

find("token").querySelector("form").addEventListener("submit", () => {
  useToken(find("token-value").value.trim());
  start();
});

let shown = 0; // which example

function showExample() {
  editor.set(examples[shown % examples.length]);
  shown += 1;
  checkText();
}

find("example").addEventListener("click", () => {
  if (panel.isOpen) close();
  showExample();
});

async function start() {
  try {
    const about = await ask("model");
    limits = about.limits;
    examples = about.examples;
    hasModel = about.strategy !== null;
    seesTables = about.sees_tables;
    const lm = about.name === about.strategy ? about.name : `${about.name}, ${about.strategy}`;
    const names = [...(hasModel ? [lm] : []), ...about.detectors];
    find("model").textContent = names.join("; ") || "rules alone";
    find("key").hidden = !hasModel;
    document.body.toggleAttribute("data-rules-alone", !hasModel);
    find("example").hidden = examples.length < 2;
    tables.use(about.tables);
    say("");
    if (editor.text || !examples.length) checkText();
    else showExample();
  } catch (error) {
    failed(error, start);
  }
}

start();
