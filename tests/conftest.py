"""What all tests share: fixed seeds, no clock, one thread, since small models want no more.

And what those of using models share: small runs, one of every model, and enumeration.
"""

import shutil
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import settings
from playwright.sync_api import Browser, expect, sync_playwright
from tests.trials import write_trials

import numerate
from numerate.detector.small import SmallOptions
from numerate.lm.data.prepare import prepare
from numerate.lm.heads.base import NextNumeral
from numerate.lm.heads.registry import paper_heads
from numerate.lm.model.numeral_lm import NumeralLM
from numerate.lm.train.detector_fitting import FittingOptions
from numerate.lm.train.options import TrainingOptions
from numerate.lm.train.run import train
from numerate.lm.train.train_detector import train_detector
from numerate.numeral import is_numeral
from numerate.reports.notices import Loudness, set_loudness

# A busy machine is not an error.
settings.register_profile("numerate", deadline=None, derandomize=True)
settings.load_profile("numerate")
expect.set_options(timeout=60_000)  # milliseconds


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="session", autouse=True)
def no_rule_fails() -> Iterator[None]:
    """To users a rule that breaks is one line beside what the others find; to tests, an error."""
    with pytest.MonkeyPatch.context() as patch:
        direct = "numerate.rules.recompute._isolated"
        patch.setattr(direct, lambda rule, read, failures: rule.recompute(read))
        yield


@pytest.fixture(scope="session", autouse=True)
def few_documents_suffice() -> Iterator[None]:
    """Dev splits of tests are small: intervals are calibrated on them all the same."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("numerate.lm.model.conformal.DOCUMENTS", 1)
        yield


@pytest.fixture(autouse=True)
def no_model_unless_named(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """`check` asks the model that comes with the package where none is named; what tests say of
    the rules must not depend on it. Those that are about it are marked `installed`."""
    if "installed" not in request.keywords:
        monkeypatch.setattr("numerate.proofread.models.USUAL", ())


@pytest.fixture(autouse=True)
def usual_loudness() -> Iterator[None]:
    """What a command was told in one test is forgotten in the next."""
    yield
    set_loudness(Loudness.USUAL)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, driven by Playwright; where there is none, tests of pages are skipped."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("no Chromium: install the package chromium to test pages")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()


OPTIONS = TrainingOptions(epochs=2, batch_size=10)


@pytest.fixture(scope="session")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "cardiac"
    prepare("cardiac", folder, documents=120, seed=1, processes=1)
    return folder


@pytest.fixture(scope="session")
def runs(dataset: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("runs")
    for name in paper_heads():
        train(
            dataset,
            folder / name,
            model=name,
            vocabulary=300,
            hidden=16,
            options=OPTIONS,
            device="cpu",
        )
    return {name: folder / name for name in paper_heads()}


@pytest.fixture(scope="session")
def trials(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Articles whose numbers stand in tables, and their dataset beside them in `data`."""
    folder = tmp_path_factory.mktemp("trials")
    write_trials(folder / "articles", 60)
    prepare(folder / "articles", folder / "data", seed=1, processes=1)
    return folder


@pytest.fixture(scope="session")
def grounded_runs(trials: Path) -> dict[str, Path]:
    """A run that sees the tables of a paragraph, and one that sees all of a document."""
    for sight in ("tables", "document"):
        train(
            trials / "data",
            trials / sight,
            model="grounded",
            sight=sight,
            vocabulary=100,
            hidden=16,
            options=TrainingOptions(epochs=8 if sight == "tables" else 1, batch_size=10),
            device="cpu",
        )
    return {sight: trials / sight for sight in ("tables", "document")}


@pytest.fixture(scope="session")
def grounded(grounded_runs: dict[str, Path]) -> dict[str, NumeralLM]:
    return {sight: numerate.load(run) for sight, run in grounded_runs.items()}


@pytest.fixture(scope="session")
def detector_run(trials: Path) -> Path:
    """A small detector that has learnt to compare a text with its table."""
    train_detector(
        trials / "data",
        trials / "detector",
        network=SmallOptions(hidden=16, dropout=0.0),
        vocabulary=200,
        options=FittingOptions(epochs=25, batch_size=6, learning_rate=0.01),
        device="cpu",
    )
    return trials / "detector"


@pytest.fixture(scope="session")
def models(runs: dict[str, Path]) -> dict[str, NumeralLM]:
    return {name: numerate.load(run) for name, run in runs.items()}


@pytest.fixture(scope="session")
def short_numerals() -> list[str]:
    """All numerals of at most four characters."""
    return _short_numerals(4)


@pytest.fixture(scope="session")
def assert_best_first() -> Callable[..., None]:
    return _assert_best_first


def _short_numerals(characters: int) -> list[str]:
    """Every normalised numeral of at most so many characters."""
    strings = (
        "".join(symbols)
        for length in range(1, characters + 1)
        for symbols in product("0123456789.", repeat=length)
    )
    return [text for text in strings if is_numeral(text)]


def _assert_best_first(
    found: NextNumeral,
    numerals: list[str],
    score: Callable[[list[str]], Iterable[float]],
    *,
    beyond: float,
    at_least: int,
    tolerance: float = 1e-5,
) -> None:
    """The stream begins with the best of all numerals, in order, with their log-probabilities.

    No numeral that is not enumerated has more than probability `beyond`: whatever has more is
    among the best of all numerals there are.
    """
    log_probs = np.array(list(score(numerals)))
    order = np.lexsort((numerals, -log_probs))
    sure = [index for index in order if np.exp(log_probs[index]) > beyond + 1e-9]
    assert len(sure) >= at_least, f"only {len(sure)} numerals beat what is not enumerated"
    stream = found.stream()
    streamed = [next(stream) for _ in sure]
    np.testing.assert_allclose([p for _, p in streamed], log_probs[sure], atol=tolerance)
    # Numerals that are equally probable but for rounding may change places.
    expected = dict(zip(numerals, log_probs, strict=True))
    for text, log_prob in streamed:
        assert abs(expected.get(text, -np.inf) - log_prob) < tolerance
    assert len({text for text, _ in streamed}) == len(streamed)
