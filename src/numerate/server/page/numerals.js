// The numerals of the text as a list of buttons: for the keyboard, and for a glance.

import { element } from "./elements.js";

/** Fill the list; buttons that stay keep the focus they may have. */
export function listNumerals(list, findings, selected, onPick) {
  const focused = [...list.children].indexOf(document.activeElement?.closest("li"));
  list.replaceChildren(
    ...findings.map((finding) => {
      const { level, verdict, written } = finding;
      const chosen = selected?.start === finding.start;
      return element(
        "li",
        {},
        element(
          "button",
          {
            type: "button",
            data: { level },
            aria: { pressed: String(chosen), label: `${written}, ${verdict}` },
            onclick: () => onPick(finding),
          },
          element("mark", { data: { level } }, written),
        ),
      );
    }),
  );
  if (focused >= 0) list.children[Math.min(focused, findings.length - 1)]?.firstChild.focus();
}

/** One line that says how many numerals there are, and how many are flagged. */
export function countLine(findings, misfit) {
  if (!findings.length) return "No numeral yet.";
  const flagged = findings.filter((finding) => finding.flagged).length;
  const all = findings.length === 1 ? "1 numeral" : `${findings.length} numerals`;
  const odd = misfit ? "very odd to this model" : "implausible";
  return `${all}, ${flagged || "none"} ${odd}.`;
}
