"""A text of another kind is told; one of the same kind, or too short to tell, is let be."""

import copy
import json
import warnings
from pathlib import Path

import numpy as np
import pytest

from numerate.errors import DomainWarning
from numerate.lm.data.dataset import Dataset
from numerate.lm.model.checker import Checker
from numerate.lm.model.domain import FEWEST, SHORTEST, TRAITS, Domain, Traits, join_traits
from numerate.lm.model.numeral_lm import NumeralLM

PROSE = (
    "It was late in the autumn of 1873 when the old captain sold his 2 boats and walked home "
    "through the rain, thinking of the 14 children who had waited at the harbour for bread. "
    "Nobody knew why the lighthouse had burnt, or who had taken the silver from the chapel."
)


def documents(count: int, *, shift: float = 0.0, seed: int = 1, words: int = 400) -> list[Traits]:
    """Documents that differ from one another, and in themselves from word to word."""
    generator = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        share = generator.beta(4, 40) + shift
        own = generator.normal(5 + 10 * shift, 0.4)
        found.append(
            {
                "unknown_words": generator.binomial(1, share, words).astype(np.float64),
                "word_surprisal": generator.gamma(own, 1.0, words),
                "strangeness": generator.normal(2 * generator.normal(), 3.0, words // 10),
            }
        )
    return found


@pytest.mark.parametrize("words", [8, 20, 70, 400])
def test_documents_of_the_same_kind_are_rarely_refused(words: int) -> None:
    domain = Domain.of(documents(400))
    fits = [domain.compare(traits).fits for traits in documents(1000, seed=2, words=words)]
    assert np.mean([fit is False for fit in fits]) < 0.03


def test_documents_of_another_kind_are_told() -> None:
    domain = Domain.of(documents(400))
    fits = [domain.compare(traits).fits for traits in documents(200, shift=0.3, seed=3)]
    assert np.mean([fit is False for fit in fits]) > 0.98


def test_limits_are_what_counting_finds() -> None:
    """Stretches cut out by hand: none over the border of a document, hardly any beyond."""
    texts = documents(60, words=100)
    for name, trait in TRAITS.items():
        for stretches in Domain.of(texts).stretches[name]:
            values = sorted(
                float(trait.typical(text[name][start : start + stretches.length]))
                for text in texts
                for start in range(0, len(text[name]), stretches.length)
                if start + stretches.length <= len(text[name])
            )
            assert len(values) >= FEWEST
            assert stretches.usual == pytest.approx(np.median(values))
            beyond = [value for value in values if value > stretches.limit]
            assert (len(beyond) + 1) / (len(values) + 1) <= max(0.02 / 3, 1 / (len(values) + 1))
            least = stretches.usual + trait.margin_of(stretches.length)
            assert stretches.limit == pytest.approx(least) or stretches.limit in values


def test_the_shorter_the_more_chance() -> None:
    limits = [
        stretches.limit for stretches in Domain.of(documents(400)).stretches["word_surprisal"]
    ]
    assert len(limits) > 5
    assert limits[0] > limits[3] > limits[-1]


def test_too_short_to_tell() -> None:
    domain = Domain.of(documents(100))
    foreign = join_traits(documents(1, shift=0.9, seed=4))
    few = {name: values[: SHORTEST - 1] for name, values in foreign.items()}
    fit = domain.compare(few)
    assert fit.fits is None
    assert fit.calibrated
    assert domain.compare({name: values[:16] for name, values in foreign.items()}).fits is False
    assert domain.compare({}).fits is None
    assert Domain().compare(foreign).fits is None
    assert Domain.of([]).compare(foreign).fits is None


def test_one_unknown_word_makes_no_difference() -> None:
    texts = documents(100)
    for text in texts:
        text["unknown_words"][:] = 0
    domain = Domain.of(texts)
    for unknown, fits in ((1, True), (3, True), (4, False), (8, False)):
        words = (np.arange(8) < unknown).astype(np.float64)
        assert domain.compare({"unknown_words": words}).fits is fits


def test_absurd_numerals_do_not_make_a_text_foreign() -> None:
    domain = Domain.of(documents(100))
    (text,) = documents(1, seed=5)
    text["strangeness"][::3] = 1000.0
    assert domain.compare(text).fits
    text["strangeness"][:] = 1000.0
    assert domain.compare(text).fits is False


def test_what_is_kept_says_the_same() -> None:
    domain = Domain.of(documents(100))
    kept = Domain.read(json.loads(json.dumps(domain.record())))
    for text in documents(50, shift=0.1, seed=6):
        assert kept.compare(text).fits == domain.compare(text).fits


@pytest.mark.parametrize("name", ["softmax", "combination"])
def test_a_run_knows_its_own_reports_from_prose(
    models: dict[str, NumeralLM], dataset: Path, name: str
) -> None:
    lm = models[name]
    reports = Dataset.open(dataset).split("test").read(["text"])["text"].to_pylist()
    fits = [lm.checker.glance(text, 0.1).domain.fits for text in reports]
    assert sum(fit is False for fit in fits) <= 1
    assert sum(fit is True for fit in fits) > 20
    for found in (
        lm.checker.glance(PROSE, 0.1),
        lm.checker.assess(PROSE, 0.1),
        lm.checker.sift(PROSE, 0.1),
    ):
        assert found.domain.fits is False
        assert found.domain.compared["unknown_words"].value > 0.3
        assert found.numerals == 3
    assert lm.checker.glance("He weighs 74 kg at a height of 184 m.", 0.1).domain.fits is not False
    assert lm.checker.glance("EF is 55%.", 0.1).domain.fits is None
    assert lm.checker.glance("", 0.1).domain.fits is None


def test_paragraphs_without_numerals_count(models: dict[str, NumeralLM]) -> None:
    without = PROSE.replace("1873", "that year").replace("14 ", "").replace("2 ", "")
    found = models["mog"].checker.glance(f"{without}\n\nEjection fraction is 55 %.", 0.1)
    assert found.domain.fits is False


def test_python_is_warned_once(models: dict[str, NumeralLM]) -> None:
    lm = copy.copy(models["mog"])
    lm.use(lm.reference, Checker(lm, lambda: models["mog"].checker.calibration))
    with pytest.warns(
        DomainWarning, match=r"the text is unlike .* unknown to the model, \d+ % are"
    ):
        assert not lm.check(PROSE, 0.1).domain.calibrated
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not lm.check(PROSE, 0.1).domain.calibrated
