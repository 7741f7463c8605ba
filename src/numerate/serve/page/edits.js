// What an edit does to findings, before the server has seen the new text.

/** Where two texts differ: the length of their common beginning, and of their common end. */
export function difference(before, after) {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  return { head, tail };
}

/** In the order of the text; of those that share a character, the one that was named first. */
export function apart(places) {
  const order = [...places.entries()].sort(([a, one], [b, other]) => one.start - other.start || a - b);
  const found = [];
  for (const [, place] of order) {
    if (place.start >= (found.at(-1)?.end ?? 0)) found.push(place);
  }
  return found;
}

/** Findings moved along with the text; one that the edit touches is dropped. */
export function moved(findings, before, after) {
  if (before === after) return findings;
  const { head, tail } = difference(before, after);
  const shift = after.length - before.length;
  const grows = /[\d.,]/.test(after[head] ?? "");
  const joins = /[\p{L}\p{M}\d.,]/u.test(after[after.length - tail - 1] ?? "");
  return findings.flatMap((finding) => {
    if (finding.end < head || (finding.end === head && !grows)) return [finding];
    const first = before.length - tail;
    if (finding.start > first || (finding.start === first && !joins)) {
      return [{ ...finding, start: finding.start + shift, end: finding.end + shift }];
    }
    return [];
  });
}
