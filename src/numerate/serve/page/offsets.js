// The server counts code points, as Python does; the browser counts UTF-16 units. An emoji is one
// of the former and two of the latter. Here, and only here, one becomes the other.

/** Code-point offset → UTF-16 offset, for every code point of the text and its end. */
export function unitOffsets(text) {
  const units = [0];
  for (const character of text) units.push(units.at(-1) + character.length);
  return units;
}

/** What the server says of places, with offsets that fit JavaScript strings; null stays null. */
export function toUnits(places, text, units = unitOffsets(text)) {
  return places.map((place) => ({
    ...place,
    start: units[place.start] ?? null,
    end: units[place.end] ?? null,
  }));
}

/** Findings likewise, with all the places that they name. */
export function findingsToUnits(findings, text) {
  const units = unitOffsets(text);
  return toUnits(findings, text, units).map((finding) => ({
    ...finding,
    involved: toUnits(finding.involved, text, units),
    evidence: finding.evidence.map((evidence) => ({
      ...evidence,
      places: toUnits(evidence.places, text, units),
    })),
  }));
}

/** A UTF-16 offset → the code-point offset that the server understands. */
export function toPoint(text, unit) {
  let points = 0;
  for (const _ of text.slice(0, unit)) points += 1;
  return points;
}

/** What the server accepts: no lone surrogates, no control characters. No offset changes. */
export function sendable(text) {
  return text.toWellFormed().replace(/[^\P{Cc}\t\n\f\r]/gu, " ");
}
