// Which findings are shown: all, those of a kind of evidence, or those of a rule.

import { element } from "./elements.js";

const KINDS = ["recomputed", "detected", "unlikely"];

/** What one may choose, with how many each has; `suits` tells which are meant. */
export function choices(findings) {
  const of = (label, suits) => ({ label, suits, count: findings.filter(suits).length });
  const kinds = KINDS.map((kind) => of(kind, ({ evidence }) => evidence.some((one) => one.kind === kind)));
  const rules = new Map(findings.map(({ code, rule }) => [code, rule.replaceAll("-", " ")]));
  return {
    all: of("all findings", () => true),
    "by evidence": kinds.filter(({ count }) => count),
    "by rule": [...rules]
      .sort()
      .map(([code, rule]) => of(`${code} ${rule}`, (finding) => finding.code === code)),
  };
}

export class Filter {
  /** `onChange()` when another choice is made. */
  constructor(label, onChange) {
    this.label = label;
    this.select = label.querySelector("select");
    this.choices = new Map();
    this.select.addEventListener("change", onChange);
  }

  /** What was chosen stays so, if there is still any of it. */
  offer(findings) {
    const before = this.select.value;
    const { all, ...groups } = choices(findings);
    this.choices = new Map([all, ...Object.values(groups).flat()].map((one) => [one.label, one]));
    const option = ({ label, count }) => element("option", { value: label }, `${label} (${count})`);
    this.select.replaceChildren(
      option(all),
      ...Object.entries(groups).map(([name, some]) =>
        element("optgroup", { label: name }, ...some.map(option)),
      ),
    );
    this.select.value = this.choices.has(before) ? before : all.label;
    this.label.hidden = findings.length < 2;
  }

  suits(finding) {
    return this.choices.get(this.select.value).suits(finding);
  }
}
