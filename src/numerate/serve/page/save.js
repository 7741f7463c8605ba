// What the reader keeps: a file that the browser saves, made here.

import { element } from "./elements.js";

export function save(blob, name) {
  const href = URL.createObjectURL(blob);
  element("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000); // the browser may still be reading it
}
