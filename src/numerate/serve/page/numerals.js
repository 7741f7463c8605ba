// The numerals of the text as a list of buttons: for the keyboard, and for a glance.

import { element } from "./elements.js";

/** Fill the list; buttons that stay keep the focus they may have. */
export function listNumerals(list, findings, selected, onPick) {
  const focused = [...list.children].indexOf(document.activeElement?.closest("li"));
  list.replaceChildren(
    ...findings.map((finding) => {
      const { level, verdict, label = verdict, written } = finding;
      const chosen = selected?.start === finding.start;
      return element(
        "li",
        {},
        element(
          "button",
          {
            type: "button",
            data: { level },
            aria: { pressed: String(chosen), label: `${written}, ${label}` },
            onclick: () => onPick(finding),
          },
          element("mark", { data: { level } }, written),
        ),
      );
    }),
  );
  if (focused >= 0) list.children[Math.min(focused, findings.length - 1)]?.firstChild.focus();
}

/** One line: how many numerals there are, how many of them are wrong or implausible, and how many
 * findings stand in tables. */
export function countLine(marks, found, misfit) {
  const inTables = found.filter(({ start }) => start === null).length;
  if (!marks.length && !inTables) return "No numeral yet.";
  const all = marks.length === 1 ? "1 numeral" : `${marks.length} numerals`;
  const odd = misfit ? "very odd to this model" : "implausible";
  const of = (level) => marks.filter((mark) => mark.level === level).length;
  const counts = [[of("wrong"), "wrong"], [of("implausible"), odd], [inTables, "wrong in tables"]];
  const said = counts.filter(([count]) => count).map((pair) => pair.join(" "));
  return `${all}, ${said.join(", ") || `none ${odd}`}.`;
}
