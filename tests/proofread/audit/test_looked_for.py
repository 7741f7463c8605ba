"""By what an audit is known: models by their files wherever they lie, runs by calibrations too."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.proofread.audit.corpora import RULES_ALONE, Watched, audited, files, write_notes

from numerate.errors import NumerateError
from numerate.lm.model.run_folder import CALIBRATION, CONFIG, OBSERVED, WEIGHTS, calibration_file
from numerate.proofread.audit.auditor import auditor
from numerate.proofread.audit.looked_for import LookedFor
from numerate.proofread.audit.packets import Piece
from numerate.proofread.options import CheckOptions

pytest_plugins = ("tests.trained",)


def looked_for(reference: object) -> LookedFor:
    return LookedFor(CheckOptions(models=(str(reference),)))


def digest(reference: object) -> str:
    (found,) = looked_for(reference).record()["models"].values()
    return str(found)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / CONFIG).write_text("{}", encoding="utf-8")
    (folder / WEIGHTS).write_bytes(b"weights")
    return folder


def test_a_member_is_known_by_the_files_of_its_run(run: Path) -> None:
    assert digest(f"{run}:mog") == digest(run)
    before = digest(run)
    (run / WEIGHTS).write_bytes(b"others")
    assert digest(f"{run}:mog") == digest(run) != before


def test_a_run_that_was_evaluated_is_the_same_model(run: Path) -> None:
    before = digest(run)
    (run / OBSERVED).write_bytes(b"what figures are made of")
    assert digest(run) == before


def test_a_file_is_a_pretrained_model_and_no_other(tmp_path: Path) -> None:
    file = tmp_path / "model.gguf"
    file.write_bytes(b"GGUF")
    before = digest(f"hf:{file}")
    file.write_bytes(b"GGUF, another")
    assert digest(f"hf:{file}") != before
    for nothing in (file, f"hf:{tmp_path}/gone.gguf", f"{tmp_path}/gone:mog"):
        with pytest.raises(NumerateError, match=r"no such folder, and no installed model"):
            digest(nothing)


def test_calibrations_are_those_of_what_is_asked(run: Path) -> None:
    assert looked_for(run).calibrations() == {}
    (run / CALIBRATION).write_text("of all", encoding="utf-8")
    (run / calibration_file("mog")).write_text("of one", encoding="utf-8")
    (whole,) = looked_for(run).calibrations().values()
    (member,) = looked_for(f"{run}:mog").calibrations().values()
    assert whole != member
    for other in ("articles", f"hf:{run}", f"{run}:lm"):
        assert looked_for(other).calibrations() == {}


class Calibrating(Watched):
    """Whose workers open a run, and find out its calibration if it is not there."""

    def __init__(self, place: Path, found: str, until: int | None = None) -> None:
        super().__init__(until)
        self._place, self._found = place, found

    def map(
        self, make: Callable[[], Callable[[Any], Any]], units: Iterable[list[Piece]]
    ) -> Iterator[Any]:
        self._place.write_text(self._found, encoding="utf-8")
        return super().map(partial(auditor, RULES_ALONE, 0, {}), units)


def test_findings_by_two_calibrations_do_not_belong_together(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("numerate.documents.sources.BLOCK_PIECES", 1)
    notes, out, place = tmp_path / "notes", tmp_path / "out", run / CALIBRATION
    what = looked_for(run)
    write_notes(notes, 4)
    for until in (2, 1):  # the first part makes the calibration, the second finds it
        with pytest.raises(KeyboardInterrupt):
            audited(notes, out, Calibrating(place, "first", until), what, block=1)
    before = files(out)
    assert "documents-00002.parquet" in before
    place.unlink()
    told = r"out: was audited otherwise: calibrations .*run \(.*, now .*run \(.*--force"
    with pytest.raises(NumerateError, match=told):
        audited(notes, out, Calibrating(place, "found out when it is opened"), what, block=1)
    place.write_text("of numerate calibrate", encoding="utf-8")
    with pytest.raises(NumerateError, match=told):
        audited(notes, out, Watched(), what)
    assert files(out) == before
    audited(notes, out, Calibrating(place, "third"), what, force=True)
    audited(notes, out, Calibrating(place, "third"), what)
