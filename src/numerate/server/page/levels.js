// Three levels of plausibility: each has a word, a colour and an underline of its own.

export const LEVELS = {
  plausible: "plausible here",
  unusual: "unusual here",
  implausible: "implausible here",
};

const UNUSUAL = 0.1; // of ten numerals of ordinary text, one is so unlikely

export function levelOf(finding) {
  if (finding.flagged) return "implausible";
  return finding.plausibility < UNUSUAL ? "unusual" : "plausible";
}
