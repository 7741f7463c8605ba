"""Texts to try a run with."""

import json
import shutil
from pathlib import Path

from numerate.lm.data.dataset import Dataset
from numerate.lm.model.source import LONGEST, SHORTEST, ModelSource


def test_examples_are_of_the_dev_split(runs: dict[str, Path], dataset: Path) -> None:
    dev = set(Dataset.open(dataset).split("dev").read(["text"])["text"].to_pylist())
    examples = ModelSource(str(runs["mog"])).example_texts(count=3)
    assert len(set(examples)) == 3
    assert set(examples) <= dev
    assert all(SHORTEST <= len(text) <= LONGEST for text in examples)


def test_a_member_has_the_examples_of_its_run(runs: dict[str, Path]) -> None:
    member, run = ModelSource(f"{runs['combination']}:mog"), ModelSource(str(runs["combination"]))
    assert member.example_texts() == run.example_texts() != []


def test_without_its_dataset_a_run_has_none(
    runs: dict[str, Path], dataset: Path, tmp_path: Path
) -> None:
    shutil.copytree(runs["mog"], tmp_path / "run")
    config = tmp_path / "run" / "config.json"
    record = json.loads(config.read_text())
    record["dataset"] |= {"path": str(tmp_path / "gone"), "relative": None}
    config.write_text(json.dumps(record))
    assert ModelSource(str(tmp_path / "run")).example_texts() == []
    assert len(ModelSource(str(tmp_path / "run"), dataset).example_texts()) == 5
