"""Whatever is wrong with a file of a run, every command says it in one line, or does its work."""

import copy
import json
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from numerate.cli import app
from numerate.errors import NumerateError, RunError
from numerate.lm.data.prepare import prepare
from numerate.lm.evaluate.remembered import read_evaluation
from numerate.lm.evaluate.result_tables import result_tables
from numerate.lm.inspect import inspect as inspection
from numerate.lm.model import load as loading
from numerate.lm.model import run_folder as names
from numerate.lm.model.load import load
from numerate.lm.model.opening import open_stored
from numerate.lm.model.reference import Reference
from numerate.lm.model.run_folder import RunFolder
from numerate.lm.reproduce.choices import Plan
from numerate.lm.train.options import TrainingOptions
from numerate.lm.train.run import train

MODEL = {"model": "mog", "vocabulary": 60, "hidden": 4}
OPTIONS = {"epochs": 1, "batch_size": 20}
RECORDS = [
    *(names.CONFIG, names.VOCABULARY, names.DOCUMENTS, names.ENVIRONMENT, names.LOG),
    *(names.METRICS, names.REFERENCE, names.CALIBRATION),
]
MADE_ANEW = ("reference.json", "calibration.json")  # which takes time
TEXT = "The ejection fraction is 55 %."
# Values of every type; some of them are right in some places, and impossible in others.
VALUES: tuple[Any, ...] = (
    None, True, -1, 10**30, 0.5, float("nan"), "x", "\0", "\ud800", [None], {},
)  # fmt: skip

Change = tuple[str, Callable[[Path], None]]  # what is done to a run, in words and deeds


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that has been used for everything, beside its dataset."""
    home = tmp_path_factory.mktemp("whole")
    prepare("cardiac", home / "data", documents=30, processes=1)
    run = home / "run"
    options: Any = {"options": TrainingOptions(**OPTIONS), "device": "cpu", **MODEL}
    train(home / "data", run, **options)
    text = home / "text.txt"
    text.write_text(TEXT)
    CliRunner().invoke(app, ["evaluate", str(run), "--metrics", "all"])
    CliRunner().invoke(app, ["check", str(text), "--model", str(run)])
    assert {path.name for path in run.iterdir()} >= set(RECORDS)
    return run


@pytest.fixture
def run(whole: Path) -> Iterator[Path]:
    """A copy that is spoilt again and again; its dataset is where it was."""
    folder = whole.with_name("spoilt")
    shutil.copytree(whole, folder)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"version": 1},
            "version: got 1, expected 2: made by a version before 0.5; train it again",
        ),
        ({"reading": None}, "dataset.reading: got null, expected an object"),
        ({"grammar": 1}, "dataset.reading: grammar: got 1, expected 2; train it again"),
    ],
)
def test_runs_of_before_0_5_are_refused_in_one_line(
    run: Path, change: dict[str, Any], said: str
) -> None:
    record = json.loads((run / names.CONFIG).read_text())
    place = record["dataset"]
    changed = {"version": record, "reading": place, "grammar": place["reading"]}
    changed[next(iter(change))] |= change
    (run / names.CONFIG).write_text(json.dumps(record))
    with pytest.raises(RunError) as error:
        load(run)
    assert str(error.value) == f"{run / names.CONFIG}: {said}"


def test_runs_of_before_0_5_can_be_replaced(run: Path) -> None:
    record = json.loads((run / names.CONFIG).read_text())
    (run / names.CONFIG).write_text(json.dumps(record | {"version": 1}))
    options: Any = {"options": TrainingOptions(**OPTIONS), "device": "cpu", **MODEL}
    with pytest.raises(NumerateError, match="already exists"):
        train(run.with_name("data"), run, **options)
    train(run.with_name("data"), run, **options, force=True)
    assert RunFolder(run).config().version == 2


def changes_of_records(whole: Path) -> Iterator[Change]:
    """Every key of every file: removed, and of every other type."""
    for name in RECORDS:
        lines = (whole / name).read_text().splitlines()
        record = json.loads(lines[0] if name.endswith("jsonl") else "\n".join(lines))
        for path in paths(record):
            where = f"{name}: {'.'.join(map(str, path))}"
            yield f"{where} removed", written(name, record, path, None, remove=True)
            for value in VALUES[::4] if name in MADE_ANEW else VALUES:
                yield f"{where} = {value!r}", written(name, record, path, value)


def changes_of_files(whole: Path) -> Iterator[Change]:
    """Every file: missing, empty, cut short, of something else, a folder."""
    for name in [*RECORDS, "model.safetensors"]:
        data = (whole / name).read_bytes()
        contents = {
            "empty": b"",
            "half": data[: len(data) // 2],
            "without its end": data[:-3],
            "no text": b"\xff\xfe\0",
            "a list": b"[1, 2]",
            "a number": b"7",
            "deep": b"[" * 100_000,
            "an object": b"{}",
        }
        for what, content in contents.items():
            yield f"{name} {what}", lambda run, n=name, c=content: (run / n).write_bytes(c) and None
        yield f"{name} missing", lambda run, n=name: (run / n).unlink()

        def folder(run: Path, name: str = name) -> None:
            (run / name).unlink()
            (run / name).mkdir()

        yield f"{name} a folder", folder


def paths(record: Any) -> Iterator[list[str | int]]:
    """To every value inside; of a list, to the first item."""
    inside: Any = []
    if isinstance(record, dict):
        inside = record.items()
    elif isinstance(record, list):
        inside = list(enumerate(record))[:1]
    for key, value in inside:
        yield [key]
        yield from ([key, *rest] for rest in paths(value))


def written(
    name: str, record: Any, path: list[str | int], value: Any, *, remove: bool = False
) -> Callable[[Path], None]:
    def write(run: Path) -> None:
        changed = copy.deepcopy(record)
        inner = changed
        for key in path[:-1]:
            inner = inner[key]
        if remove:
            del inner[path[-1]]
        else:
            inner[path[-1]] = value
        (run / name).write_text(json.dumps(changed))

    return write


def restore(whole: Path, run: Path, name: str) -> None:
    if (run / name).is_dir():
        (run / name).rmdir()
    shutil.copyfile(whole / name, run / name)


def one_line(error: BaseException) -> bool:
    return isinstance(error, NumerateError) and str(error).isprintable()


def readers(run: Path) -> dict[str, list[Callable[[], object]]]:
    """All that reads a file of a run, whatever the command."""
    folder = RunFolder(run)
    plan = Plan(run.parent / "data", run.parent, models=("mog",))

    def network() -> object:
        return open_stored(run)

    def tables() -> object:
        return (found := read_evaluation(run)) and result_tables([found])

    def trained() -> object:
        return plan.is_trained(plan.tasks[0])

    return {
        "config.json": [folder.trained, folder.open_dataset, network, trained],
        "vocabulary.json": [folder.vocabulary, network],
        "documents.json": [folder.trained_documents],
        "environment.json": [folder.environment],
        "log.jsonl": [folder.history],
        "metrics.json": [tables],
        "model.safetensors": [network],
        "reference.json": [lambda: load(run, say=lambda _: None)],
        "calibration.json": [lambda: load(run, say=lambda _: None).checker.calibration],
    }


def test_every_reader_refuses_in_one_line(
    whole: Path, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is found out again is known here already; below it is found out."""
    known = load(whole)
    calibration = known.checker.calibration
    monkeypatch.setattr(Reference, "of", lambda *_: known.reference)
    monkeypatch.setattr(loading, "calibrate", lambda *_, **__: calibration)
    for what, change in [*changes_of_records(whole), *changes_of_files(whole)]:
        name = what.replace(":", " ").split()[0]
        change(run)
        for read in readers(run)[name]:
            try:
                read()
            except Exception as error:
                if not one_line(error):
                    pytest.fail(f"{what}: {type(error).__name__}: {error}")
        restore(whole, run, name)


def commands(run: Path, out: Path) -> dict[str, list[str]]:
    """What opens a run."""
    again = [f"--{name.replace('_', '-')}={value}" for name, value in (MODEL | OPTIONS).items()]
    data, text = run.parent / "data", run.parent / "text.txt"
    return {
        "predict": ["predict", str(run), "The ejection fraction is", "--top", "1"],
        "rank": ["rank", str(run), TEXT, "The ejection fraction is 56 %."],
        "check": ["check", str(text), "--model", str(run), "--alarms", "0.05"],
        "check-benchmark": ["check-benchmark", str(data), "--model", str(run), "--limit", "1"],
        "evaluate": ["evaluate", str(run), "--limit", "2"],
        "inspect": ["inspect", str(run), "--out", str(out), "--limit", "2"],
        "resume": ["train", str(data), "--out", str(run), "--resume", "--device=cpu", *again],
        "force": ["train", str(data), "--out", str(run), "--force", "--device=cpu", *again],
    }


def invoke(arguments: list[str]) -> BaseException | None:
    """What a command ended with; None if it did its work, or said that it could not."""
    result = CliRunner().invoke(app, arguments)
    return None if isinstance(result.exception, SystemExit | None) else result.exception


SAMPLE = 5  # changes for each command; benchmarks/fuzz.py tries thousands


@pytest.mark.parametrize("command", list(commands(Path(), Path())))
def test_every_command_refuses_in_one_line(
    command: str, whole: Path, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inspection, "_exhibits", lambda *_: iter(()))  # drawing takes seconds
    everything = [*changes_of_records(whole), *changes_of_files(whole)]
    chosen = random.Random(command).sample(everything, SAMPLE)
    for number, (what, change) in enumerate(chosen):
        change(run)
        error = invoke(commands(run, tmp_path / str(number))[command])
        assert error is None or one_line(error), f"{command}, {what}: {error!r}"
        shutil.rmtree(run)
        shutil.copytree(whole, run)


def test_the_whole_run_is_fit_for_every_command(
    whole: Path, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the tests above would see nothing but refusals."""
    monkeypatch.setattr(inspection, "_exhibits", lambda *_: iter(()))
    for name, arguments in commands(run, tmp_path / "out").items():
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0, f"{name}: {result.output} {result.exception!r}"


@pytest.mark.parametrize("name", MADE_ANEW)
def test_what_can_be_found_out_again_is(whole: Path, run: Path, name: str) -> None:
    expected = load(whole).checker.assess(TEXT, 0.05)
    sound = (run / name).read_text()
    for spoilt in ("", "{}", sound[:100], sound.replace('"record"', '"rekord"')):
        (run / name).write_text(spoilt)
        said: list[str] = []
        assert load(run, say=said.append).checker.assess(TEXT, 0.05) == expected
        assert f"{run / name}: spoilt, made anew" in said[0]
        assert (run / name).read_text() == sound
    record = json.loads(sound)
    for key in record["record"]:
        changed = {**record, "record": {**record["record"], key: "x"}}
        (run / name).write_text(json.dumps(changed))
        assert load(run, say=said.append).checker.assess(TEXT, 0.05) == expected
