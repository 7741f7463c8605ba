// Keys of the whole page: letters where nobody types, F8 anywhere.

const FIELDS = "textarea, input, select, [contenteditable], dialog";

export function onKeys({ next, previous, accept }) {
  const letters = { n: next, p: previous, a: accept };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const letter = event.target.closest(FIELDS) ? undefined : letters[event.key];
    const action = event.key === "F8" ? (event.shiftKey ? previous : next) : letter;
    if (!action) return;
    event.preventDefault();
    action();
  });
}
