// A file that the reader gives: dropped anywhere on the page, or chosen from a list.

/** `onFiles(files)` when there are any; what a part of the page takes for itself is left to it. */
export function takeFiles(button, input, onFiles) {
  const over = (state) => document.body.toggleAttribute("data-over", state);
  const hasFiles = (event) => event.dataTransfer?.types.includes("Files") && !event.defaultPrevented;
  document.addEventListener("dragover", (event) => {
    over(hasFiles(event));
    if (hasFiles(event)) event.preventDefault();
  });
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) over(false); // it has left the page
  });
  document.addEventListener("drop", (event) => {
    over(false);
    if (!hasFiles(event)) return;
    event.preventDefault();
    onFiles([...event.dataTransfer.files]);
  });
  button.addEventListener("click", () => input.click());
  input.addEventListener("change", () => {
    onFiles([...input.files]);
    input.value = ""; // the same file again is a change, too
  });
}
