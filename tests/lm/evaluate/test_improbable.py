"""Two numbers a hundred times larger than any that was trained on, and what becomes of figures."""

import json
import math
import random

import pytest

from numerate.lm.data.prepare import prepare
from numerate.lm.evaluate.evaluate import Evaluation, evaluate
from numerate.lm.evaluate.remembered import read_evaluation
from numerate.lm.evaluate.result_tables import result_tables
from numerate.lm.train.options import TrainingOptions
from numerate.lm.train.run import train

MODELS = ("mog", "d-rnn", "combination")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Evaluation]:
    folder = tmp_path_factory.mktemp("tails")
    chance = random.Random(1)
    (folder / "texts").mkdir()
    for split, count in (("train", 60), ("dev", 10), ("test", 20)):
        numbers = [str(chance.randint(100, 180)) for _ in range(count)]
        if split == "test":
            numbers[3] += "00"
            numbers[12] += "00"
        lines = [json.dumps({"text": f"a volume of {number} ml was seen"}) for number in numbers]
        (folder / "texts" / f"{split}.jsonl").write_text("\n".join(lines) + "\n")
    prepare(folder / "texts", folder / "data", keep="all")
    options = TrainingOptions(epochs=3, batch_size=6)
    evaluations = {}
    for model in MODELS:
        run = folder / model
        train(folder / "data", run, model=model, options=options, vocabulary=20, hidden=8)
        evaluations[model] = evaluate(run, device="cpu")
        evaluations[model].save()
    return evaluations


def test_the_table_says_what_makes_the_perplexity_of_the_mixture(
    found: dict[str, Evaluation],
) -> None:
    spoilt = found["mog"].figures["perplexity"]
    without = spoilt["without_improbable"]
    assert without["count"] == 2
    assert without["numerals"] < 1e4 < 1e40 < spoilt["numerals"]["app"]
    mine = found["mog"].targets.is_numeral
    costs = sorted(-found["mog"].adjusted[mine])
    assert math.log(without["numerals"]) == pytest.approx(sum(costs[:18]) / 18)
    notes = result_tables([*found.values()])[0].notes
    assert [note for note in notes if note.startswith("mog: 2 of 20 numerals")]
    remembered = read_evaluation(found["mog"].folder)
    assert remembered is not None
    assert remembered.figures["perplexity"]["without_improbable"] == without


def test_the_combination_is_not_spoilt_by_a_member(found: dict[str, Evaluation]) -> None:
    """Its digits bound what a number may cost, whatever the mixture makes of it."""
    numerals = {name: one.figures["perplexity"]["numerals"]["app"] for name, one in found.items()}
    assert numerals["combination"] < 2 * numerals["d-rnn"]
    assert "without_improbable" not in found["combination"].figures["perplexity"]
