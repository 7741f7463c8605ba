"""The same mistake has the same exit status in every command: 2 for wrong use, 1 for a failure."""

import errno
from pathlib import Path

import pytest
from tests.lm.model.plausibility.test_command import numerate

from numerate.cli.exits import errors_exit
from numerate.errors import BROKEN, FailureError, NumerateError, RunError
from numerate.lm.data.prepare import prepare
from numerate.storage.atomic import InUseError

pytest_plugins = ("tests.trained",)

# What each command is called with: {0} is the file or folder that is wrong, {d} a good dataset.
CALLS = {
    "prepare": "prepare {0} --out out",
    "describe": "describe {0}",
    "train": "train {0} --out out",
    "train-detector": "train-detector {0} --out out",
    "evaluate": "evaluate {0}",
    "reproduce": "reproduce {0} --out out",
    "inspect": "inspect {0} --out out",
    "benford": "benford {0}",
    "predict": "predict {0} text",
    "rank": "rank {0} 5",
    "check": "check {0}",
    "audit": "audit {0} --out out --model none --processes 1",
    "compare": "compare {0} --source good.txt",
    "rule": "rule {0}",
    "fill": "fill {0} good.txt",
    "calibrate": "calibrate {0}",
    "check-benchmark": "check-benchmark {d} --model {0}",
    "models": "models {0}",
    "serve": "serve {0} --port 0",
    "lsp": "lsp {0}",
}
MISTAKES = [
    *(("missing file or folder", call, "gone") for call in CALLS.values()),
    *(("wrong folder", call, "empty") for call in CALLS.values()),
    *(("unknown option", f"{call} --colr red", "{d}") for call in CALLS.values()),
    *(("both -v and -q", f"{call} -v -q", "{d}") for call in CALLS.values()),
    *(("nothing at all", name, "") for name in CALLS if name not in ("serve", "models", "lsp")),
    *(
        ("unknown value", call, "{d}")
        for call in (
            "prepare good.txt --out out --format jsn",
            "prepare good.txt --out out --keep some",
            "train {d} --out out --model softmx",
            "train {d} --out out --device abacus",
            "evaluate {d} --format jsn",
            "evaluate {d} --metrics some",
            "evaluate {d} --split tst",
            "reproduce {d} --out out --models softmx",
            "reproduce {d} --out out --metrics some",
            "reproduce {d} --out out --suite som",
            "reproduce {d} --out out --suite pretrained",
            "benford good.txt --format jsn",
            "predict {d} text --format jsn",
            "rank {d} 5 --format jsn",
            "check good.txt --format jsn",
            "check good.txt --input-format jsn",
            "check good.txt --select NUM7",
            "check {d} good.txt",
            "audit good.txt --out out --format jsn",
            "audit good.txt --out out --select NUM7",
            "audit good.txt --out out --engine steam",
            "audit good.txt --out out --model nobody",
            "compare good.txt --source good.txt --format jsn",
            "rule NUM7",
            "rule --all --format jsn",
            "check-benchmark {d} --format jsn",
        )
    ),
    *(
        ("bad number", call, "{d}")
        for call in (
            "prepare cardiac --out out --documents many",
            "prepare cardiac --out out --documents 0",
            "describe {d} --vocabulary 0",
            "train {d} --out out --epochs 0",
            "train {d} --out out --dropout 2",
            "train {d} --out out --vocabulary 1000000",
            "evaluate {d} --confidence 2",
            "reproduce {d} --out out --confidence 2",
            "reproduce {d} --out out --seeds 0",
            "check good.txt --alarms 2",
            "compare good.txt --source good.txt --alarms 2",
            "serve {d} --port 70000",
            "serve {d} --workers 0",
            "serve {d} --workers 1000",
        )
    ),
    *(
        ("a file where a folder is to be", call, "{d}")
        for call in (
            "prepare cardiac --out good.txt",
            "train {d} --out good.txt",
            "reproduce {d} --out good.txt",
            "benford good.txt --out good.txt",
        )
    ),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("mistakes")
    prepare("cardiac", root / "data", documents=20, processes=1)
    (root / "empty").mkdir()
    (root / "good.txt").write_text("It is 5.\n")
    return root


@pytest.mark.parametrize(
    ("call", "wrong"),
    [pytest.param(call, wrong, id=f"{mistake}: {call}") for mistake, call, wrong in MISTAKES],
)
def test_wrong_use_is_two(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    folder: Path,
    call: str,
    wrong: str,
) -> None:
    monkeypatch.chdir(folder)
    before = sorted(path.relative_to(folder) for path in folder.rglob("*"))
    arguments = call.format(wrong.format(d="data"), d="data").split()
    status, out, err = numerate(capsys, *arguments)
    assert status == 2, err
    assert "Traceback" not in err
    assert err or out  # without any argument, the help
    if err.startswith("numerate: "):
        assert err.count("\n") == 1
    assert sorted(path.relative_to(folder) for path in folder.rglob("*")) == before


def test_every_command_is_in_the_table() -> None:
    import typer

    from numerate.cli import app

    assert set(CALLS) == set(typer.main.get_command(app).commands)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (NumerateError("wrong"), 2),
        (RunError("wrong"), 2),
        (FileNotFoundError(errno.ENOENT, "No such file", "x"), 2),
        (PermissionError(errno.EACCES, "Permission denied", "x"), 2),
        (NotADirectoryError(errno.ENOTDIR, "Not a directory", "x"), 2),
        (FailureError("failed"), 1),
        (InUseError("in use by another process"), 1),
        (OSError(errno.ENOSPC, "No space left on device", "x"), 1),
        (OSError(errno.EIO, "Input/output error"), 1),
    ],
)
def test_what_fails_on_the_way_is_one(
    capsys: pytest.CaptureFixture[str], error: Exception, status: int
) -> None:
    with pytest.raises(SystemExit) as left, errors_exit():
        raise error
    assert left.value.code == status
    assert capsys.readouterr().err.count("\n") == 1


def test_a_mistake_of_ours_is_not_taken_for_a_finding(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left, errors_exit():
        raise ZeroDivisionError("ours")
    assert left.value.code == BROKEN
    assert "ZeroDivisionError: ours" in capsys.readouterr().err
