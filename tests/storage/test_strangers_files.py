"""No command removes, renames or changes a file that it did not write, whatever its name."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.lm.model.plausibility.test_command import numerate as command
from tests.strangers import bytes_below
from tests.trials import write_trials

import numerate
import numerate.cli
from numerate.errors import NumerateError
from numerate.lm.data.prepare import prepare
from numerate.lm.model.shipped.pack import About, pack
from numerate.storage.folder_kind import temporary_name

pytest_plugins = ("tests.trained",)

HIDDEN = (
    ".own.old-abc123",
    ".own.old-0123456789ab",
    ".own.partial-abcdefgh",
    ".own.new",
    ".own.new-0123456789ab",
    ".own.replaced",
    ".own.staged",
    ".own.shared",
)
TRAIN = "--model h-softmax --vocabulary 60 --hidden 4 --epochs 1 --batch-size 20 --device cpu"
# What makes each kind of folder.
COMMANDS = {
    "prepare": "prepare cardiac --documents 10 --processes 1 --out OWN",
    "train": f"train DATA {TRAIN} --out OWN",
    "train-detector": "train-detector TRIALS --hidden 4 --epochs 1 --device cpu --out OWN",
    "audit": "audit TEXTS --model none --processes 1 --out OWN",
    "evaluate": "evaluate OWN --limit 5",
    "inspect": "inspect RUN --limit 5 --out OWN",
    "benford": "benford TEXTS/a.txt --out OWN",
}
FORCED = ("prepare", "train", "train-detector", "audit")
RECORDS = {"prepare": "manifest.json", "train": "config.json", "train-detector": "config.json"}

Ran = tuple[int, str, str]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What commands read, and of each the folder that it wrote."""
    made = tmp_path_factory.mktemp("made")
    prepare("cardiac", made / "DATA", documents=20, processes=1)
    prepare(write_trials(made / "articles", 30), made / "TRIALS", processes=1)
    (made / "TEXTS").mkdir()
    (made / "TEXTS" / "a.txt").write_text("Of 200 patients, 50 (30%) died. It rose to 7.25.\n")
    patch = pytest.MonkeyPatch()
    patch.setattr("signal.signal", lambda *_: None)
    for name in ("train", "evaluate", "prepare", "train-detector", "audit", "inspect", "benford"):
        out = made / name
        if name == "evaluate":
            shutil.copytree(made / "train", out)
        patch.setattr("sys.argv", ["numerate", "-q", *arguments(made, name, out)])
        with pytest.raises(SystemExit) as left:
            numerate.cli.main()
        assert not left.value.code, name
        if name == "train":
            shutil.copytree(out, made / "RUN")
    patch.undo()
    return made


def arguments(made: Path, name: str, own: Path, *, force: bool = False) -> list[str]:
    words = COMMANDS[name].split() + (["--force"] if force else [])
    for place in ("DATA", "TRIALS", "TEXTS", "RUN"):
        words = [word.replace(place, str(made / place)) for word in words]
    return [word.replace("OWN", str(own)) for word in words]


@pytest.fixture
def ran(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    def run(name: str, *, force: bool = False) -> Ran:
        return command(capsys, "-q", *arguments(made, name, tmp_path / "own", force=force))

    return run


def put_beside(folder: Path) -> dict[str, bytes]:
    """Folders of others beside a folder, with hidden names like those that commands once used."""
    for name in HIDDEN:
        for file in ("config.json", "manifest.json", "notes.txt", "ours"):
            path = folder.parent / name / file
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"precious {name}/{file}")
    (folder.parent / ".own.lock.txt").write_text("precious")
    return others(folder)


def others(folder: Path) -> dict[str, bytes]:
    """All that is beside a folder."""
    found = bytes_below(folder.parent)
    return {name: data for name, data in found.items() if not name.startswith(f"{folder.name}/")}


@pytest.mark.parametrize(
    ("name", "how"),
    [(name, how) for name in COMMANDS for how in ("new", "there")]
    + [(name, "forced") for name in FORCED],
)
def test_folders_beside_that_only_have_such_names_stay(
    name: str, how: str, made: Path, tmp_path: Path, ran: Callable[..., Ran]
) -> None:
    own = tmp_path / "own"
    if how != "new":
        shutil.copytree(made / name, own)
    before, inside = put_beside(own), bytes_below(own)
    status, _, err = ran(name, force=how == "forced")
    assert others(own) == before
    refused = (name == "evaluate" and how == "new") or (
        how == "there" and name in FORCED and name != "audit"
    )
    assert bool(status) == refused, err
    assert (err.count("\n") == 1) == refused, err
    if refused:
        assert bytes_below(own) == inside
        assert own.exists() == (how != "new")


def notes(own: Path) -> str:
    (own / "notes.txt").write_text("precious")
    return "notes.txt"


def notes_in_a_folder(own: Path) -> str:
    (own / "drafts").mkdir()
    (own / "drafts" / "notes.txt").write_text("precious")
    return "drafts/"


def notes_among_figures(own: Path) -> str:
    (own / "tensorboard").mkdir()
    (own / "tensorboard" / "notes.txt").write_text("precious")
    return "tensorboard/"


def hidden_notes(own: Path) -> str:
    (own / ".config.json.swp").write_text("precious")
    return ".config.json.swp"


def link_to_notes(own: Path) -> str:
    theirs = own.parent / "theirs"
    theirs.write_text("precious")
    first = min(path for path in own.iterdir() if path.name not in ("audit.json", "config.json"))
    first.unlink()
    first.symlink_to(theirs)
    return first.name


@pytest.mark.parametrize(
    "put", [notes, notes_in_a_folder, notes_among_figures, hidden_notes, link_to_notes]
)
@pytest.mark.parametrize("name", FORCED)
def test_a_folder_with_a_file_of_somebody_else_is_refused_with_force_too(
    name: str, put: Callable[[Path], str], made: Path, tmp_path: Path, ran: Callable[..., Ran]
) -> None:
    own = shutil.copytree(made / name, tmp_path / "own")
    which = put(own)
    before = bytes_below(tmp_path)
    status, out, err = ran(name, force=True)
    assert (status, out) == (2, "")
    assert err.startswith(f"numerate: {own}: ")
    assert which in err
    assert "which numerate did not write; move it away or choose another folder" in err
    assert err.count("\n") == 1
    assert bytes_below(tmp_path) == before
    assert {path.name for path in tmp_path.iterdir()} <= {"own", "theirs"}


@pytest.mark.parametrize("text", ["{}", "[]", "{", '{"format": "numerate dataset"}', "precious"])
@pytest.mark.parametrize("name", FORCED)
def test_a_record_that_is_not_ours_marks_no_folder_of_ours(
    name: str, text: str, tmp_path: Path, ran: Callable[..., Ran]
) -> None:
    own = tmp_path / "own"
    own.mkdir()
    for file in (RECORDS.get(name, "audit.json"), "index.html", "train-00000.parquet"):
        (own / file).write_text(text)
    if name == "audit":
        (own / "train-00000.parquet").unlink()
    before = bytes_below(tmp_path)
    status, _, err = ran(name, force=True)
    assert (status, err.count("\n")) == (2, 1)
    assert err.startswith(f"numerate: {own}")
    assert bytes_below(tmp_path) == before


@pytest.mark.parametrize("named", ["notes.txt", "../notes.txt", "train-00001.parquet.txt"])
def test_a_manifest_that_names_a_file_of_somebody_else(
    named: str, made: Path, tmp_path: Path, ran: Callable[..., Ran]
) -> None:
    own = shutil.copytree(made / "prepare", tmp_path / "own")
    (own / named).write_text("precious")
    manifest = json.loads((own / "manifest.json").read_text())
    manifest["tables"].append(named)
    manifest["files"][named] = {"bytes": 8, "sha256": ""}
    (own / "manifest.json").write_text(json.dumps(manifest))
    status, _, err = ran("prepare", force=True)
    assert (own / named).read_text() == "precious"
    if not named.startswith(".."):
        assert (status, err.count("\n")) == (2, 1)
        assert f"holds {named}, which numerate did not write" in err


def test_a_report_that_names_a_file_of_somebody_else(
    made: Path, tmp_path: Path, ran: Callable[..., Ran]
) -> None:
    own = shutil.copytree(made / "inspect", tmp_path / "own")
    (tmp_path / "notes.csv").write_text("precious")
    (own / "figures" / "mine.csv").write_text("precious")
    memory = json.loads((own / "report.json").read_text())
    for name in ("../../notes", "mine"):
        (own / "report.json").write_text(json.dumps({**memory, "figures": [name]}))
        before = bytes_below(tmp_path)
        status, _, err = ran("inspect")
        assert (status, err.count("\n")) == (2, 1)
        assert "report.json: figures: got" in err
        assert bytes_below(tmp_path) == before


def test_benford_refuses_a_folder_with_other_files(
    made: Path, tmp_path: Path, ran: Callable[..., Ran]
) -> None:
    own = shutil.copytree(made / "benford", tmp_path / "own")
    assert ran("benford")[0] == 0
    notes(own)
    before = bytes_below(tmp_path)
    status, _, err = ran("benford")
    assert (status, err.count("\n")) == (2, 1)
    assert "own: holds notes.txt, which numerate did not write" in err
    assert bytes_below(tmp_path) == before


def test_evaluate_writes_through_no_link(
    made: Path, tmp_path: Path, ran: Callable[..., Ran]
) -> None:
    own, theirs = shutil.copytree(made / "evaluate", tmp_path / "own"), tmp_path / "theirs"
    theirs.write_text("precious")
    for name in ("metrics.json", "observed.safetensors", "reference.json"):
        (own / name).unlink(missing_ok=True)
        (own / name).symlink_to(theirs)
    notes(own)
    ran("evaluate")
    assert theirs.read_text() == "precious"
    assert (own / "metrics.json").is_symlink()
    assert (own / "notes.txt").read_text() == "precious"


def test_a_packed_model_keeps_the_files_of_others(made: Path, tmp_path: Path) -> None:
    own, about = tmp_path / "own", About("a test", ["English"], "CC0", [])
    put_beside(own)
    pack(own, about, detector=made / "train-detector")
    pack(own, about, detector=made / "train-detector", force=True)
    (own / "__init__.py").write_text("precious")
    before = bytes_below(tmp_path)
    with pytest.raises(NumerateError, match=r"own: holds __init__\.py, which numerate did not wr"):
        pack(own, about, detector=made / "train-detector", force=True)
    assert bytes_below(tmp_path) == before
    (own / "__init__.py").unlink()
    (own / "model.json").write_text("{}")
    with pytest.raises(NumerateError, match=r"own: not a model of ours"):
        pack(own, about, detector=made / "train-detector", force=True)
    assert (own / "model.json").read_text() == "{}"


def test_a_saved_model_takes_no_folder_of_others(made: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    before = put_beside(own)
    model = numerate.load(made / "RUN", made / "DATA")
    model.save_pretrained(own)
    assert others(own) == before
    inside = bytes_below(own)
    with pytest.raises(NumerateError, match="own: already exists"):
        model.save_pretrained(own)
    assert bytes_below(own) == inside


KILLED = """
import os, signal, sys
real, calls = os.rename, 0
def rename(*arguments, **more):
    global calls
    calls += 1
    if calls == {call}:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(*arguments, **more)
os.rename = rename
from numerate.cli import main
main()
"""


@pytest.mark.parametrize("call", [1, 2])
@pytest.mark.parametrize("name", ["prepare", "train"])
def test_after_a_kill_no_more_than_our_own_folders_is_put_in_order(
    name: str, call: int, made: Path, tmp_path: Path, ran: Callable[..., Ran]
) -> None:
    """Killed before the old folder moves, and before the new one takes its place."""
    own = shutil.copytree(made / name, tmp_path / "own")
    (own / temporary_name(RECORDS[name])).write_text("{")  # of ours, cut off by an earlier kill
    before = put_beside(own)
    done = subprocess.run(
        [sys.executable, "-c", KILLED.format(call=call), *arguments(made, name, own, force=True)],
        capture_output=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert own.exists() == (call == 1)
    left = {path.name for path in tmp_path.iterdir()} - {"own", *HIDDEN, ".own.lock.txt"}
    assert ".own.lock" in left
    assert len(left) == 1 + call
    status, _, err = ran(name, force=True)
    assert (status, err) == (0, "")
    assert others(own) == before
    assert bytes_below(own).keys() == bytes_below(made / name).keys()
