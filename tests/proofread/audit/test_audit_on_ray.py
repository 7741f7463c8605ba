"""An audit on a Ray cluster of several nodes, one of which dies."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.clusters import SmallCluster, cluster_of
from tests.proofread.audit.corpora import audited, files, write_notes

from numerate.engines import engine
from numerate.errors import NumerateError
from numerate.proofread.audit.audit import State
from numerate.proofread.audit.looked_for import LookedFor


@pytest.fixture(scope="module")
def cluster() -> Iterator[SmallCluster]:
    with cluster_of(2) as cluster:
        yield cluster


def test_an_audit_while_a_node_dies_is_that_of_one_machine(
    cluster: SmallCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("numerate.proofread.audit.packets.PACKET", 50)
    monkeypatch.setattr("numerate.documents.sources.BLOCK_PIECES", 1)
    write_notes(tmp_path / "notes", 40)
    audited(tmp_path / "notes", tmp_path / "here", block=8)
    deaths: list[int] = []

    def report(state: State) -> None:
        if state.checked >= 10 and not deaths:
            deaths.append(state.checked)
            cluster.replace(0)

    workers = engine("ray", processes=2)
    audited(tmp_path / "notes", tmp_path / "there", workers, block=8, report=report)
    assert deaths
    assert files(tmp_path / "there") == files(tmp_path / "here")


def test_workers_with_other_models_than_the_driver_are_refused(
    cluster: SmallCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("numerate.proofread.audit.looked_for.USUAL", ())
    write_notes(tmp_path / "notes", 1)
    with pytest.raises(NumerateError, match=r"has the models .*articles.*, expected none as here"):
        audited(tmp_path / "notes", tmp_path / "out", engine("ray", processes=1), LookedFor())
    assert not (tmp_path / "out").exists()
