// Click a column's name to sort by it, again to turn the order round. Text after numbers.
for (const button of document.querySelectorAll("th button")) {
  button.addEventListener("click", () => {
    const heading = button.closest("th");
    const body = heading.closest("table").tBodies[0];
    const descending = heading.getAttribute("aria-sort") === "ascending";
    for (const other of heading.parentNode.children) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
    const key = (row) => {
      const text = row.cells[heading.cellIndex].textContent.trim();
      const number = parseFloat(text.replaceAll(",", ""));
      return [Number.isNaN(number) ? Infinity : number, text];
    };
    const sign = descending ? -1 : 1;
    const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
    [...body.rows]
      .map((row) => [key(row), row])
      .sort(([a], [b]) => sign * (order(a[0], b[0]) || a[1].localeCompare(b[1])))
      .forEach(([, row]) => body.append(row));
  });
}
