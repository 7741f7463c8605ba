// Findings are filtered here and shown a page at a time, so that thousands of them stay quick.
const EACH = 50;
const data = document.getElementById("data");
if (data) {
  const all = JSON.parse(data.textContent);
  const field = (id) => document.getElementById(id);
  let found = all;
  let at = 0;

  const element = (name, text, kind) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  };

  const sure = (one) => {
    if (!one.u) return "uncalibrated";
    return one.q > 0.99 ? "> 99 %" : `${Math.round(100 * one.q)} %`;
  };

  function card(one) {
    const item = element("li", undefined, `card ${one.b}`);
    const head = element("p", undefined, "head");
    const name = element("span");
    name.append(element("b", one.p), ` ${one.c} ${one.k}`);
    if (!one.p.startsWith(one.d)) name.append(` · ${one.d}`);
    head.append(name, element("span", `${one.b}, ${sure(one)}`));
    const quote = element("blockquote");
    quote.append(one.s[0], element("mark", one.s[1]), one.s[2]);
    item.append(head, quote, element("p", one.m));
    if (one.e.length) {
      const list = element("ul");
      list.append(...one.e.map((said) => element("li", said)));
      item.append(list);
    }
    if (one.g !== null) item.append(element("p", `Suggestion: ${one.g}`, "fix"));
    return item;
  }

  function show() {
    const last = Math.min(at + EACH, found.length);
    field("found_list").replaceChildren(...found.slice(at, last).map(card));
    field("counted").textContent =
      `${found.length.toLocaleString("en")} of ${all.length.toLocaleString("en")} findings`;
    field("at").textContent = found.length ? `${at + 1}–${last}` : "none";
    field("previous").disabled = at === 0;
    field("next").disabled = last === found.length;
  }

  function filter() {
    const named = field("document").value.trim().toLowerCase();
    const [kind, basis] = [field("kind").value, field("basis").value];
    const least = Number(field("least").value) || 0;
    found = all.filter(
      (one) =>
        (!kind || one.c === kind) &&
        (!basis || one.b === basis) &&
        one.q >= least &&
        (!named || one.d.toLowerCase().includes(named) || one.p.toLowerCase().includes(named)),
    );
    if (field("order").value) found.sort((a, b) => (a.d < b.d ? -1 : a.d > b.d ? 1 : 0));
    at = 0;
    show();
  }

  function turn(step) {
    at += step * EACH;
    show();
    field("filters").scrollIntoView();
  }

  field("filters").addEventListener("input", filter);
  field("filters").addEventListener("submit", (event) => event.preventDefault());
  field("previous").addEventListener("click", () => turn(-1));
  field("next").addEventListener("click", () => turn(1));
  filter();
}
