"""Runs that see numbers, side by side with one that does not: what they take numerals from."""

from pathlib import Path

import numpy as np
import pytest

from numerate.analysis.runs import Run, open_runs
from numerate.batching import load_corpora
from numerate.training.options import TrainingOptions
from numerate.training.run import train

LIMIT = 8  # of the dev paragraphs


@pytest.fixture(scope="module")
def folders(trials: Path, grounded_runs: dict[str, Path]) -> dict[str, Path]:
    """Of three sights, by them."""
    blind = trials / "none"
    options = TrainingOptions(epochs=1, batch_size=10)
    train(trials / "data", blind, model="combination", vocabulary=100, hidden=8, options=options)
    return grounded_runs | {"none": blind}


@pytest.fixture(scope="module")
def runs(folders: dict[str, Path]) -> dict[str, Run]:
    opened = open_runs(folders.values(), device="cpu", limit=LIMIT)
    return {run.model.config.sight: run for run in opened}


@pytest.fixture(scope="module")
def run(runs: dict[str, Run]) -> Run:
    """The one that was trained for long enough to look."""
    return runs["tables"]


@pytest.mark.parametrize("sight", ["none", "tables", "document"])
def test_each_run_reads_the_same_paragraphs_with_its_own_view(
    runs: dict[str, Run], sight: str
) -> None:
    run = runs[sight]
    alone = load_corpora(run.shared.dataset, run.model.vocabulary, sight)["dev"]
    corpus = alone.take(run.shared.dev.sources)
    expected = run.model.numeral_log_probs(run.model.read(corpus))
    np.testing.assert_allclose(run.dev_log_probs(), expected, atol=1e-5)
    assert (run.sight is None) == (sight == "none")
    assert len(run.reading.corpus) == LIMIT
    texts = [run.shared.dev.table.texts[row] for row in run.shared.dev.rows]
    assert texts == [corpus.table.texts[row] for row in corpus.rows]
    typed = run.table_in(run.after("Mean age was"), run.shared.dev.table)
    assert typed.isfinite().all()  # without any table in view, others write the numeral
