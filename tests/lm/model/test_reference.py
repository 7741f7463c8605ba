"""A run reads new text as the text was read that it learnt from."""

import json
from pathlib import Path

import pytest

import numerate
from numerate.errors import NumerateError
from numerate.lm.data.prepare import prepare
from numerate.lm.model.reference import Reference
from numerate.lm.train.options import TrainingOptions
from numerate.lm.train.run import train
from numerate.text.reading_rules import ReadingRules


def test_a_run_cuts_new_text_as_its_dataset(tmp_path: Path) -> None:
    source = tmp_path / "notes.jsonl"
    notes = [{"text": f"IL-6 war 7{n},5 mg in 1.{n}34 Proben"} for n in range(9)]
    source.write_text("\n".join(map(json.dumps, notes)))
    prepare(source, tmp_path / "data", decimal="comma", split_names=True)
    options = TrainingOptions(epochs=1, batch_size=4)
    train(
        tmp_path / "data",
        tmp_path / "run",
        model="softmax",
        vocabulary=10,
        hidden=4,
        options=options,
        device="cpu",
    )
    text = "IL-6 war 74,5"
    expected = ["il", "-", "6", "war", "74.5"]
    assert [t.text for t in numerate.load(tmp_path / "run").tokens(text)] == expected
    # Once it is known, the run needs no dataset for it.
    (tmp_path / "data").rename(tmp_path / "gone")
    lm = numerate.load(tmp_path / "run")
    assert [t.text for t in lm.tokens(text)] == expected
    assert [t.text for t in lm.read_texts([text])[0].numerals] == ["6", "74.5"]


def test_a_record_is_read_as_it_was_written() -> None:
    reference = Reference(ReadingRules("comma", True), 3, 4, ("1", "2"), 1.5)
    assert Reference.read(json.loads(json.dumps(reference.record()))) == reference
    with pytest.raises(NumerateError, match="grammar: got 1, expected 2"):
        Reference.read(json.loads(json.dumps(reference.record())) | {"reading": {"grammar": 1}})
