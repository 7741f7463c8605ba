"""`numerate evaluate` as users meet it: its output in every format, its refusals in one line."""

import csv
import errno
import io
import json
import os
import re
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from safetensors.torch import load_file
from tests.datasets import replace_rows

from numerate.cli import main
from numerate.lm.data.dataset import Dataset
from numerate.lm.data.prepare import prepare
from numerate.lm.inspect.runs import open_runs
from numerate.lm.inspect.sections import results_section
from numerate.lm.model.opening import open_model, open_stored
from numerate.lm.model.sharing import card
from numerate.lm.train.options import TrainingOptions
from numerate.lm.train.run import train
from numerate.numeral import is_numeral

NUMBER_LINE = {"rmse", "mae", "mdae", "mape", "mdape"}


@dataclass
class Done:
    status: int
    out: str
    err: str


Numerate = Callable[..., Done]


@pytest.fixture
def numerate(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Numerate]:
    """The command in this process, which has torch already."""
    handler = signal.getsignal(signal.SIGTERM)
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: str | Path) -> Done:
        monkeypatch.setattr(sys, "argv", ["numerate", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as exit:
            main()
        captured = capsys.readouterr()
        return Done(int(exit.value.code or 0), captured.out, captured.err)

    yield run
    signal.signal(signal.SIGTERM, handler)


@pytest.fixture(scope="module")
def cardiac(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "cardiac"
    prepare("cardiac", folder, documents=30)
    return folder


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Other reports of the same process."""
    folder = tmp_path_factory.mktemp("data") / "other"
    prepare("cardiac", folder, documents=30, seed=2)
    return folder


def quick(dataset: Path, out: Path, model: str, vocabulary: int = 200) -> Path:
    options = TrainingOptions(epochs=1)
    sizes = {"vocabulary": vocabulary, "hidden": 6}
    return train(dataset, out, model=model, device="cpu", options=options, **sizes).folder


@pytest.fixture(scope="module")
def trained(cardiac: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("runs")
    return {name: quick(cardiac, folder / name, name) for name in ("softmax", "combination")}


@pytest.fixture
def runs(trained: dict[str, Path], tmp_path: Path) -> dict[str, Path]:
    """Copies that a test may spoil."""
    return {name: shutil.copytree(run, tmp_path / name) for name, run in trained.items()}


def edit(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    record = json.loads(path.read_text())
    change(record)
    path.write_text(json.dumps(record))


def refused(done: Done, *parts: object) -> bool:
    assert done.status == 2, done
    assert done.out == ""
    assert re.fullmatch(r"numerate: [^\n]+\n", done.err), done.err
    for part in parts:
        assert str(part) in done.err
    return True


def refuse_constant(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")


def read(text: str) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(text, parse_constant=refuse_constant)
    return record


def flat(figures: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in figures.items():
        inner = (
            flat(value, f"{prefix}{name}.") if isinstance(value, dict) else {prefix + name: value}
        )
        found |= inner
    return found


# Output


def test_metrics_are_written_into_each_run(numerate: Numerate, runs: dict[str, Path]) -> None:
    done = numerate("evaluate", *runs.values())
    assert (done.status, done.err) == (0, "")
    for name, run in runs.items():
        metrics = read((run / "metrics.json").read_text())
        assert metrics["model"] == name
        assert metrics["split"] == "test"
        assert metrics["perplexity"].keys() == {"words", "numerals", "all"}
        assert all(figures.keys() == {"pp", "app"} for figures in metrics["perplexity"].values())
        assert metrics["number_line"].keys() == NUMBER_LINE | {"zeros"}
        assert metrics["baselines"].keys() == {"mean", "median"}
        assert all(isinstance(value, float) for value in flat(metrics["perplexity"]).values())
        assert "beyond" not in metrics
        assert name in done.out
    for word in ("words", "numerals", "all", "APP", "RMSE", "MdAPE", "mean", "median", "oracle"):
        assert word in done.out


def test_figures_that_cannot_be_saved_are_printed(
    numerate: Numerate, runs: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run of somebody else's: what was computed is not thrown away."""
    expected = numerate("evaluate", runs["softmax"], "--format", "json")
    (runs["softmax"] / "metrics.json").unlink()

    def refuse(target: Path, data: bytes) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(target))

    monkeypatch.setattr("numerate.storage.records.write", refuse)
    done = numerate("evaluate", runs["softmax"], "--format", "json")
    assert (done.status, done.out) == (0, expected.out)
    metrics = runs["softmax"] / "metrics.json"
    assert done.err == f"numerate: {metrics}: not saved: Permission denied\n"
    assert not metrics.exists()


def test_json_on_standard_output_is_what_is_written(
    numerate: Numerate, runs: dict[str, Path]
) -> None:
    done = numerate("evaluate", *runs.values(), "--format", "json", "--compare")
    record = read(done.out)
    assert record["runs"] == {
        str(run): read((run / "metrics.json").read_text()) for run in runs.values()
    }
    errors = {"mae", "mdae", "mape", "mdape"}
    assert record["comparison"].keys() == {"words", "numerals", "all", *errors}
    assert record["comparison"]["all"].keys() == {
        "difference",
        "low",
        "high",
        "p_value",
        "p_holm",
    }


def test_several_models_stand_in_one_table_with_their_cost(
    numerate: Numerate, runs: dict[str, Path]
) -> None:
    done = numerate("evaluate", *runs.values(), "--metrics", "all", "--format", "json")
    record = read(done.out)
    for name, run in runs.items():
        cost = record["cost"][str(run)]
        stored = sum(weight.numel() for weight in load_file(run / "model.safetensors").values())
        fitted = {"softmax": 0, "combination": 3 * 255}[name]  # Gaussians that nobody trains
        assert cost["parameters"] == stored - fitted
        assert cost["tokens_per_second"] > 0
    markdown = numerate("evaluate", *runs.values(), "--metrics", "all", "--format", "markdown").out
    last = markdown.strip().split("**All models")[-1]
    header, _, *rows = (line for line in last.splitlines() if line.startswith("|"))
    names = ["parameters", "words APP", "numerals APP", "CRPS", "in 50 %", "in 90 %", "tokens/s"]
    assert [cell.strip() for cell in header.split("|")[2:-1]] == names
    for row, (name, run) in zip(rows, runs.items(), strict=True):
        figures = read((run / "metrics.json").read_text())
        model, parameters, words, numerals, crps, *covered, _ = (
            cell.strip(" *").replace(",", "") for cell in row.split("|")[1:-1]
        )
        assert (model, int(parameters)) == (name, record["cost"][str(run)]["parameters"])
        expected = [figures["perplexity"][of]["app"] for of in ("words", "numerals")]
        expected += [figures["beyond"]["crps"]]
        expected += [figures["central"]["calibrated"][f"coverage_{level}"] for level in (50, 90)]
        found = [float(cell) for cell in (words, numerals, crps, *covered)]
        assert found == pytest.approx(expected, rel=1e-3)


def test_what_is_not_calibrated_says_where_documents_were_counted(
    numerate: Numerate, runs: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("numerate.lm.model.conformal.DOCUMENTS", 20)
    done = numerate(
        *("evaluate", runs["softmax"], "--metrics", "all", "--limit", "2", "--format", "json")
    )
    said = read(done.out)["runs"][str(runs["softmax"])]["calibrated_on"]
    assert said == (
        "not calibrated: got 2 documents with numerals in 2 paragraphs of the dev split of "
        "cardiac, expected at least 20"
    )


def test_perplexity_alone_is_the_same_and_replaces_nothing(
    numerate: Numerate, runs: dict[str, Path]
) -> None:
    run = runs["combination"]
    alone = numerate("evaluate", run, "--metrics", "perplexity", "--format", "json")
    assert not (run / "metrics.json").exists()
    assert "RMSE" not in numerate("evaluate", run, "--metrics", "perplexity").out
    whole = read(numerate("evaluate", run, "--format", "json").out)["runs"][str(run)]
    found = read(alone.out)["runs"][str(run)]
    assert found["perplexity"] == whole["perplexity"]
    assert found["oracle"] == whole["oracle"]
    assert "number_line" not in found
    numerate("evaluate", run, "--metrics", "perplexity")
    assert read((run / "metrics.json").read_text()) == whole


def test_csv_on_standard_output_has_the_figures_of_json(
    numerate: Numerate, runs: dict[str, Path]
) -> None:
    done = numerate(
        "evaluate", *runs.values(), "--format", "csv", "--confidence", "0.9", "--compare"
    )
    rows = list(csv.DictReader(io.StringIO(done.out)))
    for run in runs.values():
        metrics = read((run / "metrics.json").read_text())
        tables = ("perplexity", "number_line", "baselines", "oracle")
        expected = flat({name: metrics[name] for name in tables})
        mine = [row for row in rows if row["run"] == str(run)]
        found = {row["figure"]: float(row["value"]) for row in mine}
        assert {k: v for k, v in found.items() if not k.startswith("comparison.")} == expected
        intervals = {
            row["figure"]: [float(row["low"]), float(row["high"])] for row in mine if row["low"]
        }
        compared = {name for name in intervals if name.startswith("comparison.")}
        assert {k: v for k, v in intervals.items() if k not in compared} == flat(
            metrics["intervals"]
        )
    assert sum(row["figure"].endswith("p_value") for row in rows) == 7
    assert sum(row["figure"].endswith("p_holm") for row in rows) == 7


def test_markdown_and_latex_have_all_tables(numerate: Numerate, runs: dict[str, Path]) -> None:
    choices = ("--metrics", "all", "--compare", "--confidence", "0.95")
    markdown = numerate("evaluate", *runs.values(), *choices, "--format", "markdown").out
    blocks = re.split(r"\n\n(?=\*\*)", markdown.strip())
    assert len(blocks) == 8
    for block in blocks:
        lines = [line for line in block.splitlines() if line.startswith("|")]
        assert len({line.count("|") for line in lines}) == 1
        assert re.fullmatch(r"\|---\|(---:\|)+", lines[1])
    latex = numerate("evaluate", *runs.values(), *choices, "--format", "latex").out
    begun = re.findall(r"\\begin\{(\w+)\}", latex)
    assert begun == ["table", "tabular"] * 8
    assert sorted(begun) == sorted(re.findall(r"\\end\{(\w+)\}", latex))
    assert latex.count("{") == latex.count("}")


def test_all_metrics_with_intervals_that_contain_them(
    numerate: Numerate, runs: dict[str, Path]
) -> None:
    run = runs["combination"]
    numerate("evaluate", run, "--metrics", "all", "--confidence", "0.95")
    metrics = read((run / "metrics.json").read_text())
    names = ("perplexity", "number_line", "beyond", "selected", "central")
    tables = {name: metrics[name] for name in names}
    assert {"accuracy", "order_accuracy", "log10_error", "crps"} < tables["beyond"].keys()
    assert {"own", "calibrated"} == tables["central"].keys()
    assert {"mae", "mdae", "mape", "mdape"} == tables["selected"].keys()
    intervals = flat(metrics["intervals"])
    counts = {"number_line.zeros", "beyond.log10_zeros"}
    assert intervals.keys() == flat(tables).keys() - counts
    for name, (low, high) in intervals.items():
        figure = flat(tables)[name]
        assert low <= figure <= high, name


def test_oov_sizes_of_training_types(
    numerate: Numerate, runs: dict[str, Path], cardiac: Path
) -> None:
    run = runs["softmax"]
    vocabulary = open_stored(run).vocabulary
    types = set(Dataset.open(cardiac).split("train").encode().types)
    unknown = types - {*vocabulary.words, *vocabulary.numerals}
    numerate("evaluate", run, "--oov-set", "train")
    counts = read((run / "metrics.json").read_text())["counts"]
    assert counts["oov_numerals"] == sum(map(is_numeral, unknown)) > 0
    assert counts["oov_words"] == len(unknown) - counts["oov_numerals"] > 0


def test_figures_of_another_split_or_dataset_replace_none_and_are_told(
    numerate: Numerate, runs: dict[str, Path], tmp_path: Path
) -> None:
    run = runs["softmax"]
    cardiac = open_runs([run], device="cpu")[0].shared.dataset.folder
    prepare("cardiac", tmp_path / "other", documents=30, seed=7, processes=1)
    numerate("evaluate", run, "--dataset", cardiac)
    usual = read((run / "metrics.json").read_text())
    numerate("evaluate", run, "--dataset", cardiac, "--split", "dev")
    numerate("evaluate", run, "--dataset", tmp_path / "other")
    assert read((run / "metrics.json").read_text()) == usual
    for arguments, told in (
        (("--dataset", tmp_path / "other"), "another dataset"),
        (("--dataset", cardiac, "--split", "dev"), "--split dev"),
    ):
        (run / "metrics.json").unlink()
        numerate("evaluate", run, *arguments)
        results = results_section(open_runs([run], cardiac, device="cpu"))
        assert results is not None
        assert f"evaluated on other documents: softmax ({told})." in results.paragraphs[-1]
    numerate("evaluate", run, "--dataset", cardiac)  # the usual ones replace others
    assert read((run / "metrics.json").read_text())["split"] == "test"


def test_figures_of_another_oov_set_replace_none_and_stand_beside_none(
    numerate: Numerate, runs: dict[str, Path]
) -> None:
    run = runs["softmax"]
    numerate("evaluate", *runs.values(), "--confidence", "0.9")
    usual = read((run / "metrics.json").read_text())
    assert (usual["oov_set"], usual["confidence"]) == ("all", 0.9)
    numerate("evaluate", run, "--oov-set", "train")
    assert read((run / "metrics.json").read_text()) == usual
    (run / "metrics.json").unlink()
    numerate("evaluate", run, "--oov-set", "train")
    assert read((run / "metrics.json").read_text())["oov_set"] == "train"
    results = results_section(open_runs(list(runs.values()), device="cpu"))
    assert results is not None
    text = results.paragraphs[-1]
    assert "evaluated with another OOV set: softmax (--oov-set train)." in text
    assert "90 % interval" in text
    names = {row[0] for table in results.tables for row in table.rows}
    assert "combination" in names
    assert "softmax" not in names
    opened = open_model(run, device="cpu")
    assert opened.run is not None
    assert opened.record is not None
    assert "(`--oov-set train`)" in card(opened.model, opened.run, opened.record, None)


def test_runs_on_different_data_have_their_own_baselines(
    numerate: Numerate, runs: dict[str, Path], other: Path, tmp_path: Path
) -> None:
    elsewhere = quick(other, tmp_path / "elsewhere", "softmax")
    done = numerate("evaluate", runs["softmax"], elsewhere, "--format", "markdown")
    blocks = re.split(r"\n\n(?=\*\*)", done.out.strip())
    assert len(blocks) == 4
    means = [re.search(r"^\| mean .*$", block, re.MULTILINE) for block in blocks]
    rows = [match.group() for match in means if match]
    assert len(rows) == len(set(rows)) == 2


def test_runs_of_different_vocabularies_share_no_table_and_no_comparison(
    numerate: Numerate, runs: dict[str, Path], cardiac: Path, tmp_path: Path
) -> None:
    smaller = quick(cardiac, tmp_path / "smaller", "softmax", vocabulary=150)
    done = numerate("evaluate", *runs.values(), smaller, "--format", "markdown")
    blocks = re.split(r"\n\n(?=\*\*)", done.out.strip())
    assert ["| combination |" in block for block in blocks] == [True, True, True, False, False]
    *together, one, other = blocks
    for block in together:
        assert f"200 types, of {runs['softmax']}, {runs['combination']}." in block
    for block in (one, other):
        assert f"150 types, of {smaller}." in block
    assert all("Runs differ in vocabulary (200; 150)." in block for block in blocks)
    assert "**" not in one.partition("\n")[2], "alone, it is no best"
    for run in (*runs.values(), smaller):
        (run / "metrics.json").unlink()
    done = numerate("evaluate", runs["softmax"], smaller, "--compare")
    assert refused(done, runs["softmax"], smaller, "different vocabularies")
    assert not (smaller / "metrics.json").exists()
    alike = numerate("evaluate", *runs.values(), "--format", "markdown").out
    assert "Vocabulary of this table" not in alike
    assert "Runs differ" not in alike


def test_what_makes_runs_hard_to_compare_stands_under_their_tables(
    numerate: Numerate, runs: dict[str, Path], cardiac: Path, tmp_path: Path
) -> None:
    """Epochs are those asked for; of another dataset's runs nothing is said."""
    options = TrainingOptions(epochs=2, batch_size=5, seed=3)
    other = train(
        cardiac, tmp_path / "other", model="mog", vocabulary=200, hidden=4, options=options
    ).folder
    line = "Runs differ in batch size (50; 5) and epochs (1; 2)."
    done = numerate("evaluate", runs["softmax"], other, "--compare", "--format", "markdown")
    tables = re.split(r"\n\n(?=\*\*)", done.out.strip())
    assert len(tables) == 5
    assert all(line in table for table in tables), done.out
    read_back = read(numerate("evaluate", runs["softmax"], other, "--format", "json").out)
    assert read_back["notes"] == [line]
    section = results_section(open_runs([runs["softmax"], other], device="cpu"))
    assert section is not None
    assert sum(line in table.notes for table in section.tables) == 2
    smaller = quick(cardiac, tmp_path / "smaller", "softmax", vocabulary=150)
    three = numerate("evaluate", runs["softmax"], other, smaller).out
    assert "differ in vocabulary (200; 150), batch size (50; 5) and epochs (1; 2)." in three


def test_runs_of_alike_settings_and_of_other_data_differ_in_nothing(
    numerate: Numerate, runs: dict[str, Path], other: Path, tmp_path: Path
) -> None:
    seed = train(
        other,
        tmp_path / "elsewhere",
        model="mog",
        vocabulary=200,
        hidden=4,
        options=TrainingOptions(epochs=2, seed=2),
    ).folder
    assert "Runs differ" not in numerate("evaluate", runs["softmax"], seed).out
    both = numerate("evaluate", *runs.values(), "--format", "json").out
    assert "notes" not in read(both)


def test_a_split_without_numerals_has_no_figures_for_them(
    numerate: Numerate, tmp_path: Path
) -> None:
    texts = {
        "train": "one dose of 5 mg and 2.5 ml\n\nanother dose of 7 mg",
        "dev": "a dose of 3 mg",
        "test": "a dose\n\nanother dose of mg",
    }
    (tmp_path / "texts").mkdir()
    for split, text in texts.items():
        (tmp_path / "texts" / f"{split}.txt").write_text(text)
    prepare(tmp_path / "texts", tmp_path / "data", keep="all")
    options = TrainingOptions(epochs=1)
    sizes = {"vocabulary": 8, "hidden": 4}
    train(tmp_path / "data", tmp_path / "run", model="mog", device="cpu", options=options, **sizes)
    choices = ("--metrics", "all", "--confidence", "0.95")
    done = numerate("evaluate", tmp_path / "run", *choices)
    assert (done.status, done.err) == (0, "")
    assert "–" in done.out
    metrics = read((tmp_path / "run" / "metrics.json").read_text())
    assert metrics["perplexity"]["numerals"] == {"pp": None, "app": None}
    assert metrics["number_line"]["rmse"] is None
    assert metrics["beyond"]["crps"] is None
    assert metrics["selected"]["mape"] is None
    assert metrics["perplexity"]["words"]["pp"] > 1
    assert metrics["oracle"] is None
    rows = csv.DictReader(
        io.StringIO(numerate("evaluate", tmp_path / "run", "--format", "csv").out)
    )
    values = {row["figure"]: row["value"] for row in rows}
    assert values["number_line.rmse"] == ""
    compared = ("--compare", *choices, "--format", "markdown")
    tables = numerate("evaluate", tmp_path / "run", tmp_path / "run", *compared).out
    assert "| MAPE %, selected | – | – to – | 1.0000 | 1.0000 |" in tables
    assert "nan" not in tables


# Refusals


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (("--split", "tset"), ("split", "'tset'", "test")),
        (("--format", "html"), ("format", "'html'", "markdown")),
        (("--metrics", "some"), ("metrics", "'some'", "paper", "all")),
        (("--oov-set", "dev"), ("OOV set", "'dev'", "train")),
        (("--confidence", "1"), ("confidence", "1.0", "between 0 and 1")),
        (("--confidence", "0"), ("confidence", "0.0", "between 0 and 1")),
        (("--confidence", "95"), ("confidence", "95.0", "between 0 and 1")),
        (("--confidence", "nan"), ("confidence", "nan", "between 0 and 1")),
        (("--compare",), ("two runs", "got 1")),
        (("--device", "abacus"), ("device", "abacus")),
        (("--dataset", "nowhere"), ("nowhere", "not a dataset")),
    ],
)
def test_wrong_options_are_refused(
    numerate: Numerate, trained: dict[str, Path], options: tuple[str, ...], parts: tuple[str, ...]
) -> None:
    assert refused(numerate("evaluate", trained["softmax"], *options), *parts)


def test_a_comparison_of_three_runs_is_refused(
    numerate: Numerate, trained: dict[str, Path]
) -> None:
    run = trained["softmax"]
    assert refused(numerate("evaluate", run, run, run, "--compare"), "two runs", "got 3")


def test_a_comparison_across_different_data_is_refused(
    numerate: Numerate, runs: dict[str, Path], other: Path, tmp_path: Path
) -> None:
    elsewhere = quick(other, tmp_path / "elsewhere", "softmax")
    done = numerate("evaluate", runs["softmax"], elsewhere, "--compare")
    assert refused(done, runs["softmax"], elsewhere, "different data or splits, expected the same")
    assert not (elsewhere / "metrics.json").exists()


def test_a_run_that_does_not_exist_is_refused(numerate: Numerate, tmp_path: Path) -> None:
    assert refused(numerate("evaluate", tmp_path / "none"), tmp_path / "none", "not a run")


def test_a_file_instead_of_a_run_is_refused(numerate: Numerate, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert refused(numerate("evaluate", tmp_path / "file"), tmp_path / "file")


def test_a_run_still_being_written_is_refused(numerate: Numerate, runs: dict[str, Path]) -> None:
    run = runs["softmax"]
    edit(run / "config.json", lambda record: record.update(state="training"))
    assert refused(numerate("evaluate", run), run, "still being trained", "--resume")


def test_a_truncated_weights_file_is_refused(numerate: Numerate, runs: dict[str, Path]) -> None:
    weights = runs["softmax"] / "model.safetensors"
    whole = weights.read_bytes()
    for size in (0, 7, 100, len(whole) - 1):
        weights.write_bytes(whole[:size])
        assert refused(numerate("evaluate", runs["softmax"]), weights, "broken")
    weights.unlink()
    assert refused(numerate("evaluate", runs["softmax"]), weights.name, "missing")


def test_a_model_that_is_no_run_is_refused(numerate: Numerate, runs: dict[str, Path]) -> None:
    run = runs["softmax"]
    edit(run / "config.json", lambda record: record.pop("dataset"))
    assert refused(numerate("evaluate", run), run, "not a trained run", "dataset")


def test_without_its_training_documents_a_run_is_refused(
    numerate: Numerate, runs: dict[str, Path]
) -> None:
    (runs["softmax"] / "documents.json").write_text("{}")
    done = numerate("evaluate", runs["softmax"])
    assert refused(done, "documents.json", "train is missing")
    (runs["softmax"] / "documents.json").unlink()
    assert refused(numerate("evaluate", runs["softmax"]), "documents.json", "missing")


def test_a_dataset_that_was_moved_can_be_given(
    numerate: Numerate, runs: dict[str, Path], cardiac: Path, tmp_path: Path
) -> None:
    run, gone = runs["softmax"], tmp_path / "gone"
    edit(
        run / "config.json",
        lambda record: record["dataset"].update(path=str(gone), relative="nowhere"),
    )
    assert refused(numerate("evaluate", run), gone, "moved", "--dataset")
    assert numerate("evaluate", run, "--dataset", cardiac).status == 0


@pytest.mark.parametrize("how", ["no shard", "no paragraph"])
def test_an_empty_split_is_refused(
    numerate: Numerate, runs: dict[str, Path], cardiac: Path, tmp_path: Path, how: str
) -> None:
    empty = tmp_path / "empty"
    shutil.copytree(cardiac, empty)
    rows = pq.read_table(empty / "test-00000.parquet").slice(0, 0)
    replace_rows(empty, "test", None if how == "no shard" else rows)
    done = numerate("evaluate", runs["softmax"], "--dataset", empty)
    assert refused(done, empty, "the test split is empty")


def test_the_training_split_is_refused_with_its_documents(
    numerate: Numerate, runs: dict[str, Path], cardiac: Path
) -> None:
    ids = sorted(
        set(Dataset.open(cardiac).split("train").read(["document"])["document"].to_pylist())
    )
    done = numerate("evaluate", runs["softmax"], "--split", "train")
    assert refused(done, runs["softmax"], f"{len(ids)} documents", "train split", *ids[:5], "…")
    assert ids[5] not in done.err


def test_documents_seen_in_training_are_refused_in_another_dataset(
    numerate: Numerate, runs: dict[str, Path], cardiac: Path, tmp_path: Path
) -> None:
    leaking = tmp_path / "leaking"
    shutil.copytree(cardiac, leaking)
    seen = pq.read_table(cardiac / "train-00000.parquet").slice(3, 1)
    test = pq.read_table(cardiac / "test-00000.parquet")
    rows = [*test.to_pylist(), *seen.to_pylist()]
    replace_rows(leaking, "test", type(test).from_pylist(rows, test.schema))
    done = numerate("evaluate", runs["softmax"], "--dataset", leaking)
    assert refused(done, leaking, "test split", *seen["document"].to_pylist())
    assert "…" not in done.err


def test_a_foreign_vocabulary_is_refused(
    numerate: Numerate, runs: dict[str, Path], tmp_path: Path
) -> None:
    (tmp_path / "texts").mkdir()
    for split in ("train", "dev", "test"):
        (tmp_path / "texts" / f"{split}.txt").write_text("los números son 3 y 14")
    prepare(tmp_path / "texts", tmp_path / "data")
    done = numerate("evaluate", runs["softmax"], "--dataset", tmp_path / "data")
    assert refused(done, runs["softmax"], "vocabulary does not fit", tmp_path / "data", "of 200")


def test_other_documents_of_the_same_kind_are_accepted(
    numerate: Numerate, runs: dict[str, Path], other: Path
) -> None:
    done = numerate("evaluate", runs["softmax"], "--dataset", other)
    assert (done.status, done.err) == (0, "")
    metrics = read((runs["softmax"] / "metrics.json").read_text())
    assert metrics["dataset"] == Dataset.open(other).manifest["content_hash"]
    assert metrics["oracle"]["nats_above"]["all"] > 0


def test_training_text_without_numerals_is_refused(
    numerate: Numerate, runs: dict[str, Path], cardiac: Path, tmp_path: Path
) -> None:
    bare = tmp_path / "bare"
    shutil.copytree(cardiac, bare)
    table = pq.read_table(bare / "train-00000.parquet")
    rows = [
        {**row, "tokens": [token for token in row["tokens"] if not is_numeral(token)]}
        for row in table.to_pylist()
    ]
    replace_rows(bare, "train", type(table).from_pylist(rows, table.schema))
    done = numerate("evaluate", runs["softmax"], "--dataset", bare)
    assert refused(done, bare, "no numeral in the train split")
