"""A worker whose machine lacks what the driver's has refuses, and finds nothing by other means."""

from pathlib import Path

import pytest
from tests.proofread.audit.corpora import RULES_ALONE

from numerate.documents.reader import Unit
from numerate.errors import NumerateError, SourceError
from numerate.proofread.audit.auditor import auditor
from numerate.proofread.audit.looked_for import LookedFor
from numerate.proofread.options import CheckOptions


def test_other_models_where_none_is_named() -> None:
    what = LookedFor()
    assert "articles" in what.usual()
    told = r"worker on \S+: has the models .*articles \(\w{8}\).*, expected none as here"
    with pytest.raises(NumerateError, match=told):
        auditor(what, 0, {})
    others = what.usual() | {"articles": "of another version"}
    with pytest.raises(NumerateError, match=r"expected .*articles \(of anoth\).* as here"):
        auditor(what, 0, others)


def test_models_that_are_named_or_not_asked_are_not_compared() -> None:
    assert RULES_ALONE.usual() == {}
    assert LookedFor(CheckOptions(models=("articles",))).usual() == {}
    assert LookedFor(CheckOptions(select=("NUM1",))).usual() == {}


def test_a_folder_from_which_a_document_takes_files_in(tmp_path: Path) -> None:
    audit = auditor(RULES_ALONE, 0, {})
    text = b"Of all, 30 of 60 (10\\%) were women.\n"
    unit = Unit("main.tex", "latex", text, folder=tmp_path / "gone")
    (alone,) = audit([unit])
    assert [row["written"] for row in alone.findings] == ["10"]
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").touch()
    for folder in (tmp_path / "gone", tmp_path / "empty", tmp_path / "file"):
        unit = Unit("main.tex", "latex", text + b"\\input{part}\n", folder=folder)
        told = rf"{folder}: main.tex takes in files from there, and the worker on \S+ does not"
        with pytest.raises(SourceError, match=told):
            audit([unit])
