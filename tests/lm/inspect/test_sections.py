"""What a report says of its tables is what they are."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.lm.evaluate.test_seeds import run

from numerate.lm.evaluate.result_tables import result_tables
from numerate.lm.evaluate.seeds import together
from numerate.lm.inspect.sections import results_section


@pytest.mark.parametrize(("seeds", "counted"), [(1, "documents"), (2, "documents and seeds")])
def test_seeds_are_counted_where_a_row_has_several(
    seeds: int, counted: str, tmp_path: Path
) -> None:
    trained = [run(0, seed) for seed in range(seeds)]
    told = result_tables(together({"mog": trained, "rest": trained[:1]}, 0.95))
    dataset = SimpleNamespace(manifest={"content_hash": "same"})
    runs: Any = [SimpleNamespace(shared=SimpleNamespace(dataset=dataset), folder=tmp_path / "mog")]
    section = results_section(runs, told, tmp_path)
    assert section is not None
    text = " ".join(section.paragraphs)
    assert f"which counts {counted}." in text
    notes = " ".join(note for table in section.tables for note in table.notes)
    assert f"that count {counted}, p" in notes
    assert ("of the first seed of each row" in text) == (seeds > 1)


def test_a_table_of_one_model_is_not_said_to_have_a_note_on_tests(tmp_path: Path) -> None:
    dataset = SimpleNamespace(manifest={"content_hash": "same"})
    runs: Any = [SimpleNamespace(shared=SimpleNamespace(dataset=dataset), folder=tmp_path / "mog")]
    for names, said in ((("mog",), False), (("mog", "rest"), True)):
        trained = {name: [run(0, seed) for seed in (1, 2)] for name in names}
        section = results_section(runs, result_tables(together(trained, 0.95)), tmp_path)
        assert section is not None
        assert ("its note says" in " ".join(section.paragraphs)) is said
        notes = [note for table in section.tables for note in table.notes]
        assert any(note.startswith("Bold: ") for note in notes) is said
