"""Folders that somebody has made to hurt: each command says what is wrong in one line.

None of them waits, none reads what could not be held in memory, and none shows a stack trace.
"""

import json
import os
import shutil
import socket
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.lm.model.plausibility.test_command import numerate as command
from tests.trials import write_trials

from numerate.detector.small import SmallOptions
from numerate.errors import RunError
from numerate.lm.data import tensor_file
from numerate.lm.data.prepare import prepare
from numerate.lm.data.tensor_file import load_tensors
from numerate.lm.train.detector_fitting import FittingOptions
from numerate.lm.train.options import TrainingOptions
from numerate.lm.train.run import train
from numerate.lm.train.train_detector import train_detector

DEEP = "[" * 100_000 + "]" * 100_000
WEIGHTS = "model.safetensors"
SMALL = ("--epochs", "1", "--vocabulary", "60", "--hidden", "4", "--model", "mog")
Change = Callable[[Path], None]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset, a run and a detector."""
    home = tmp_path_factory.mktemp("home")
    write_trials(home / "articles", 40)
    prepare(home / "articles", home / "data", seed=1, processes=1)
    options = TrainingOptions(epochs=1, batch_size=20)
    train(
        home / "data", home / "run", model="mog", vocabulary=60, hidden=4, options=options,
        device="cpu",
    )  # fmt: skip
    train_detector(
        home / "data",
        home / "detector",
        network=SmallOptions(hidden=4, dropout=0.0),
        vocabulary=100,
        options=FittingOptions(epochs=1, batch_size=6),
        device="cpu",
    )
    (home / "text.md").write_text("Of 200 patients, 50 (25 %) died.\n")
    return home


@pytest.fixture
def copy(home: Path, tmp_path: Path) -> Path:
    """To be spoilt: shared files are links, those of a kind that are changed are not."""
    for name in ("data", "run", "detector"):
        shutil.copytree(home / name, tmp_path / name)
    shutil.copy(home / "text.md", tmp_path / "text.md")
    return tmp_path


@pytest.fixture(autouse=True)
def nothing_is_served(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a server that should have refused to start would never end."""

    def run(_: object, **__: object) -> None:
        raise AssertionError("it serves")

    monkeypatch.setattr("uvicorn.Server.run", run)


def commands(home: Path) -> dict[str, dict[str, list[str]]]:
    """By the folder that is spoilt: what opens it."""
    text, data, run, detector = (
        str(home / name) for name in ("text.md", "data", "run", "detector")
    )
    given = ["--dataset", data]
    return {
        "run": {
            "evaluate": ["evaluate", run, "--limit", "2", *given],
            "predict": ["predict", run, "There were", "--top", "1", *given],
            "rank": ["rank", run, "There were 5.", "There were 6.", *given],
            "check": ["check", text, "--model", run, "--alarms", "0.2", *given],
            "calibrate": ["calibrate", run, *given],
            "serve": ["serve", run, "--port", "0", *given],
            "inspect": ["inspect", run, "--out", str(home / "report"), *given],
        },
        "detector": {
            "check": ["check", text, "--model", detector, "--alarms", "0.2"],
            "serve": ["serve", detector, "--port", "0"],
            "check-benchmark": ["check-benchmark", data, "--model", detector, "--limit", "1"],
        },
        "data": {
            "describe": ["describe", data],
            "verify": ["describe", data, "--verify"],
            "train": ["train", data, "--out", str(home / "new"), *SMALL],
            "evaluate": ["evaluate", run, "--limit", "2", *given],
            "benford": ["benford", data, "--out", str(home / "benford")],
        },
    }


# What stands in the place of a file


def fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def listening(path: Path) -> None:
    path.unlink()
    here = Path.cwd()
    os.chdir(path.parent)  # names of sockets are short
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(path.name)
    finally:
        os.chdir(here)


def endless(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


NO_FILES = {kind.__name__: kind for kind in (fifo, listening, endless, folder)}


# What stands in a JSON file


def text(written: str) -> Change:
    return lambda path: path.write_text(written) and None


def changed(*keys: str, value: str) -> Change:
    """A value inside, as it is written."""

    def change(path: Path) -> None:
        record = json.loads(path.read_text())
        inner = record
        for key in keys[:-1]:
            inner = inner[key]
        inner[keys[-1]] = "@@"
        path.write_text(json.dumps(record).replace('"@@"', value))

    return change


def twice(path: Path) -> None:
    record = json.loads(path.read_text())
    path.write_text(path.read_text().replace("{", f'{{"{next(iter(record))}": "x", ', 1))


JSONS: dict[str, Change] = {
    "deep": text(DEEP),
    "deep inside": text('{"format": ' + DEEP + "}"),
    "null": text("null"),
    "a list": text("[]"),
    "digits": text('{"format": ' + "9" * 5000 + "}"),
    "twice": twice,
}
OF_RUNS: dict[str, Change] = {
    "hidden": changed("hidden", value="1000000000000"),
    "more digits": changed("hidden", value="9" * 30),
    "NaN": changed("dropout", value="NaN"),
    "1e400": changed("dropout", value="1e400"),
    "layers": changed("network", "layers", value="1000000000"),
    "surrogate": changed("model", value='"\\ud800"'),
    "surrogate of a dataset": changed("dataset", "path", value='"\\ud800"'),
    "components": changed("head", "components", value="1000000000000"),
}
OF_DETECTORS: dict[str, Change] = {
    "hidden": changed("options", "hidden", value="1000000"),
    "layers": changed("options", "layers", value="1000000000"),
    "no options": changed("options", value="[]"),
    "dropout": changed("options", "dropout", value="1e400"),
    "kind": changed("kind", value='"os"'),
}
OF_DATASETS: dict[str, Change] = {
    "surrogate": changed("splits", "dev", "shards", value='["\\ud800.parquet"]'),
    "out": changed("splits", "dev", "shards", value='["../run/config.json"]'),
    "NaN": changed("splits", "dev", "paragraphs", value="NaN"),
}


# What stands in a file of weights


def header(record: object, size: int = 0) -> Change:
    """A file with this header, and so many bytes, which the disk does not have."""

    def write(path: Path) -> None:
        data = (record if isinstance(record, str) else json.dumps(record)).encode()
        with path.open("wb") as stream:
            stream.write(struct.pack("<Q", len(data)) + data)
            stream.truncate(8 + len(data) + size)

    return write


def meta(value: str) -> Change:
    return header('{"__metadata__": ' + value + "}")


def tensor(kind: str, shape: list[int], begin: int, end: int) -> dict[str, Any]:
    return {"dtype": kind, "shape": shape, "data_offsets": [begin, end]}


def tensors(size: int, kind: str = "model", **record: Any) -> Change:
    about = {"format": f"numerate {kind} 1", "digest": ""}
    return header({"__metadata__": {"numerate": json.dumps(about)}, **record}, size)


def of_its_own(size: int, **record: Any) -> Change:
    """With what the file says of itself, so that its vocabulary fits."""

    def write(path: Path) -> None:
        data = path.read_bytes()
        (length,) = struct.unpack("<Q", data[:8])
        about = json.loads(data[8 : 8 + length])["__metadata__"]
        header({"__metadata__": about, **record}, size)(path)

    return write


TERABYTE = 1 << 40
SAFETENSORS: dict[str, Change] = {
    "null": meta("null"),
    "list": meta("[]"),
    "number": meta('{"numerate": 7}'),
    "null inside": meta('{"numerate": "null"}'),
    "list inside": meta('{"numerate": "[]"}'),
    "deep": meta(DEEP),
    "deep inside": meta(json.dumps({"numerate": DEEP})),
    "not JSON": header("{"),
    "no text": lambda path: path.write_bytes(struct.pack("<Q", 2) + b"\xff\xfe") and None,
    "a list": header("[]"),
    "empty": lambda path: path.write_bytes(b"") and None,
    "short": lambda path: path.write_bytes(b"\0\0\0") and None,
    "long header": lambda path: path.write_bytes(struct.pack("<Q", 1 << 63) + b"{}") and None,
    "far end": tensors(4, x=tensor("F32", [1], 0, 1 << 62)),
    "overlap": tensors(8, x=tensor("F32", [2], 0, 8), y=tensor("F32", [1], 4, 8)),
    "gap": tensors(TERABYTE, x=tensor("F32", [1], TERABYTE - 4, TERABYTE)),
    "backwards": tensors(4, x=tensor("F32", [1], 4, 0)),
    "negative": tensors(4, x=tensor("F32", [-1], 0, 4)),
    "wrong size": tensors(4, x=tensor("F32", [3], 0, 4)),
    "endless": tensors(0, x=tensor("F32", [0, 1 << 62, 1 << 62], 0, 0)),
    "unknown dtype": tensors(4, x=tensor("F31", [1], 0, 4)),
    "no dtype": tensors(4, x={"shape": [1], "data_offsets": [0, 4]}),
    "twice": header('{"x": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}, ' * 2 + "}", 4),
    "surrogate": header('{"\\ud800": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}', 4),
    "a terabyte": of_its_own(TERABYTE, x=tensor("F32", [TERABYTE // 4], 0, TERABYTE)),
    "a terabyte beyond": of_its_own(TERABYTE, x=tensor("F32", [1], 0, 4)),
}


def table() -> Iterator[tuple[str, str, Change]]:
    """The folder, the file in it, what becomes of it."""
    files = {
        "run": ("config.json", "vocabulary.json", WEIGHTS),
        "detector": ("config.json", "vocabulary.json", "calibration.json", WEIGHTS),
        "data": ("manifest.json", "dev-00000.parquet", "train-00000.parquet"),
    }
    for place, names in files.items():
        for name in names:
            for what, change in NO_FILES.items():
                yield f"{place}/{name} {what}", name, change
            if name.endswith(".json"):
                for what, change in JSONS.items():
                    yield f"{place}/{name} {what}", name, change
            if name == WEIGHTS:
                for what, change in SAFETENSORS.items():
                    yield f"{place}/{name} {what}", name, change
    for what, change in OF_RUNS.items():
        yield f"run/config.json {what}", "config.json", change
    for what, change in OF_DETECTORS.items():
        yield f"detector/config.json {what}", "config.json", change
    for what, change in OF_DATASETS.items():
        yield f"data/manifest.json {what}", "manifest.json", change


TABLE = list(table())


def refused_in_one_line(
    capsys: pytest.CaptureFixture[str], arguments: list[str], what: str, name: str
) -> None:
    status, _, err = command(capsys, *arguments)
    lines = [line for line in err.splitlines() if line.startswith("numerate: ")]
    assert status in (1, 2), f"{what}: {err}"
    assert "Traceback" not in err, what
    assert len(lines) == 1, f"{what}: {err}"
    assert len(lines[0]) < 900, what
    assert name in lines[0], f"{what}: {err}"


@pytest.mark.parametrize(("what", "name", "change"), TABLE, ids=[row[0] for row in TABLE])
def test_a_hostile_folder_is_refused(
    what: str, name: str, change: Change, copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One command for each row, another one for the next: every pair would take an hour."""
    place = what.partition("/")[0]
    change(copy / place / name)
    chosen = list(commands(copy)[place].values())
    arguments = chosen[TABLE.index((what, name, change)) % len(chosen)]
    refused_in_one_line(capsys, arguments, what, place)


@pytest.mark.parametrize(
    ("place", "name"), [("run", WEIGHTS), ("detector", "config.json"), ("data", "manifest.json")]
)
def test_every_command_refuses_a_fifo(
    place: str, name: str, copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fifo(copy / place / name)
    for what, arguments in commands(copy)[place].items():
        refused_in_one_line(capsys, arguments, what, place)


def test_the_folders_are_fit_for_the_commands(
    copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Else the tests above would see nothing but refusals."""
    for calls in commands(copy).values():
        for name, arguments in calls.items():
            if name not in ("serve", "inspect"):  # which would not end, and takes long
                status, _, err = command(capsys, *arguments)
                assert status == 0, f"{name}: {err}"


def test_what_a_manifest_names_beside_its_files_is_not_read(
    copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--verify` reads all that the manifest has a hash of."""
    (copy / "zeros").symlink_to("/dev/zero")
    path = copy / "data" / "manifest.json"
    record = json.loads(path.read_text())
    record["files"]["../zeros"] = {"bytes": 0, "sha256": ""}
    path.write_text(json.dumps(record))
    refused_in_one_line(capsys, ["describe", str(path.parent), "--verify"], "verify", "zeros")


def test_weights_that_do_not_fit_the_memory_are_not_read(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = home / "run" / WEIGHTS
    size = path.stat().st_size
    assert load_tensors(path, "numerate model 1")[0]
    monkeypatch.setattr(tensor_file, "memory", lambda: 2 * size - 1)
    with pytest.raises(RunError, match=r"expected at most half of the memory"):
        load_tensors(path, "numerate model 1")
