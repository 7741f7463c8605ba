// Choose a finding, or a numeral in the text: both light up, and the places of the evidence.
const marked = (kind, number) => document.querySelectorAll(`[data-${kind}~="${number}"]`);

function light(number, { follow }) {
  for (const lit of document.querySelectorAll(".lit")) lit.classList.remove("lit");
  const card = document.getElementById(`finding_${number}`);
  const places = [...marked("numeral", number)];
  for (const one of [card, ...places, ...marked("evidence", number)]) one.classList.add("lit");
  (follow === "card" ? card : places[0])?.scrollIntoView({ block: "nearest" });
}

document.addEventListener("click", (event) => {
  const card = event.target.closest(".card");
  const mark = event.target.closest("mark, .evidence");
  if (!card && !mark) return;
  event.preventDefault();
  if (card) light(card.dataset.number, { follow: "text" });
  else light((mark.dataset.numeral ?? mark.dataset.evidence).split(" ")[0], { follow: "card" });
});
