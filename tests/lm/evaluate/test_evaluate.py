"""Every figure of an evaluation against plain loops over single tokens and single candidates."""

import json
import math
import shutil
import statistics
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from sklearn.metrics import (
    accuracy_score,
    mean_absolute_error,
    mean_absolute_percentage_error,
    median_absolute_error,
    root_mean_squared_error,
)
from tests.datasets import replace_rows

from numerate.lm.backbones import scratch
from numerate.lm.data.batching import load_corpora
from numerate.lm.data.dataset import SPLITS, Dataset
from numerate.lm.data.describe import describe
from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.data.prepare import prepare
from numerate.lm.evaluate.comparison import compare
from numerate.lm.evaluate.evaluate import Evaluation, evaluate
from numerate.lm.evaluate.figures import CLASSES
from numerate.lm.evaluate.remembered import evaluation_of
from numerate.lm.heads.base import Context
from numerate.lm.heads.registry import paper_heads
from numerate.lm.model import numeral_lm
from numerate.lm.model.candidates import candidate_numerals
from numerate.lm.model.numeral_lm import NumeralLM
from numerate.lm.model.opening import open_stored
from numerate.lm.train.options import TrainingOptions
from numerate.lm.train.run import train
from numerate.numeral import is_numeral

MODELS = paper_heads()
CLOSED = MODELS[:4]
OPEN = MODELS[4:]


@pytest.fixture(scope="module")
def cardiac(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "cardiac"
    prepare("cardiac", folder, documents=30)
    return folder


@pytest.fixture(scope="module")
def runs(cardiac: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The seven models, trained just enough that their predictions differ from place to place."""
    folder = tmp_path_factory.mktemp("runs")
    options = TrainingOptions(epochs=4, batch_size=3, learning_rate=0.05)
    for model in MODELS:
        sizes = {"vocabulary": 200, "hidden": 6}
        train(cardiac, folder / model, model=model, device="cpu", options=options, **sizes)
    return {model: folder / model for model in MODELS}


@pytest.fixture(scope="module")
def evaluations(runs: dict[str, Path]) -> dict[str, Evaluation]:
    return {name: evaluate(run, metrics="all", device="cpu") for name, run in runs.items()}


def paragraphs(dataset: Path, split: str) -> list[list[str]]:
    return Dataset.open(dataset).split(split).read(["tokens"])["tokens"].to_pylist()


def oov_sets(dataset: Path, model: NumeralLM, splits: tuple[str, ...]) -> dict[str, set[str]]:
    known = {*model.vocabulary.words, *model.vocabulary.numerals}
    types = {token for split in splits for text in paragraphs(dataset, split) for token in text}
    return {
        "words": {type for type in types - known if not is_numeral(type)},
        "numerals": {type for type in types - known if is_numeral(type)},
    }


@dataclass
class Loops:
    """What a run says of the test split, one paragraph and one candidate at a time."""

    costs: dict[str, list[float]]  # −log p of each token, by class
    adjusted: dict[str, list[float]]
    truth: list[str]
    candidates: list[str]
    scores: np.ndarray  # [numerals, candidates] log p of the candidate, given a numeral
    grid: list[str]  # the candidates, and frequent numerals: what intervals end at
    grid_scores: np.ndarray

    @classmethod
    def over(cls, run: Path, dataset: Path) -> "Loops":
        model = open_stored(run)
        corpora = load_corpora(Dataset.open(dataset), model.vocabulary)
        known = {*model.vocabulary.words, *model.vocabulary.numerals}
        closed = {"words", "numerals"} if model.config.model in CLOSED else {"words"}
        oov = {k: len(types) for k, types in oov_sets(dataset, model, SPLITS).items()}
        costs: dict[str, list[float]] = {"words": [], "numerals": []}
        adjusted: dict[str, list[float]] = {"words": [], "numerals": []}
        truth, states = [], []
        for index, tokens in enumerate(paragraphs(dataset, "test")):
            batch = corpora["test"].collate(np.array([index]))
            with torch.no_grad():
                hidden = model.backbone.hidden(batch)
                log_probs = model.log_prob(batch).tolist()
            at_step = dict(zip(batch.positions.tolist(), log_probs, strict=True))
            assert len(at_step) == len(tokens) + 1
            for step, token in enumerate([*tokens, "<eos>"]):
                kind = "numerals" if is_numeral(token) else "words"
                cost = -at_step[step]
                costs[kind].append(cost)
                if token not in known and kind in closed:
                    cost += math.log(oov[kind])
                adjusted[kind].append(cost)
                if kind == "numerals":
                    truth.append(token)
                    states.append(hidden[step])
        candidates = candidate_numerals(corpora["train"]).texts
        train = paragraphs(dataset, "train")
        counts = Counter(token for tokens in train for token in tokens if is_numeral(token))
        frequent = sorted(counts, key=lambda text: (-counts[text], text))[:500]
        grid = list(dict.fromkeys([*candidates, *frequent]))
        assert len(grid) > len(candidates)
        scores = []
        for text in grid:
            of_candidate = score_one(model, torch.stack(states), text)
            if text not in known and "numerals" in closed:
                of_candidate = [value - math.log(oov["numerals"]) for value in of_candidate]
            scores.append(of_candidate)
        for figures in (costs, adjusted):
            figures["all"] = figures["words"] + figures["numerals"]
        both = np.array(scores).T
        return cls(costs, adjusted, truth, candidates, both[:, : len(candidates)], grid, both)

    def predicted(self) -> list[str]:
        best = []
        for row in self.scores.tolist():
            largest = max(row)
            best.append(next(t for t, v in zip(self.candidates, row, strict=True) if v == largest))
        return best


def score_one(model: NumeralLM, states: torch.Tensor, text: str) -> list[float]:
    """log p of one candidate in each state, through `log_prob` or the softmax written out."""
    ids = model.vocabulary.numeral_ids()
    with torch.no_grad():
        if not model.head.flat:
            batch = NumeralTable([text], ids).batch(np.zeros(len(states), dtype=np.int64))
            return model.head.log_prob(Context(states), batch).tolist()
        scores = (states.double() @ model.head.embedding().double().T).tolist()
    return [row[ids.get(text, 0)] - math.log(sum(map(math.exp, row))) for row in scores]


@pytest.fixture(scope="module")
def loops(runs: dict[str, Path], cardiac: Path) -> dict[str, Loops]:
    return {name: Loops.over(run, cardiac) for name, run in runs.items()}


def test_the_corpus_puts_the_evaluation_to_the_test(loops: dict[str, Loops]) -> None:
    """Otherwise the comparisons below could pass for want of anything to compare."""
    for name, found in loops.items():
        assert len(found.truth) > 50
        assert len(set(found.predicted())) > 1, name
        assert (found.adjusted["numerals"] != found.costs["numerals"]) == (name in CLOSED)
        assert found.adjusted["words"] != found.costs["words"]


@pytest.mark.parametrize("model", MODELS)
def test_perplexities_are_those_of_single_tokens(
    evaluations: dict[str, Evaluation], loops: dict[str, Loops], model: str
) -> None:
    expected = {
        name: {
            "pp": math.exp(statistics.fmean(loops[model].costs[name])),
            "app": math.exp(statistics.fmean(loops[model].adjusted[name])),
        }
        for name in CLASSES
    }
    found = evaluations[model].figures["perplexity"]
    assert found.keys() == expected.keys()
    for name, figures in expected.items():
        assert found[name] == pytest.approx(figures, rel=1e-6)


@pytest.mark.parametrize("model", MODELS)
def test_number_line_errors_are_those_of_single_candidates(
    evaluations: dict[str, Evaluation], loops: dict[str, Loops], model: str
) -> None:
    truth = [float(text) for text in loops[model].truth]
    guess = [float(text) for text in loops[model].predicted()]
    assert 0 not in truth
    percentages = [100 * abs(t - g) / t for t, g in zip(truth, guess, strict=True)]
    assert evaluations[model].figures["number_line"] == pytest.approx(
        {
            "rmse": root_mean_squared_error(truth, guess),
            "mae": mean_absolute_error(truth, guess),
            "mdae": median_absolute_error(truth, guess),
            "mape": 100 * mean_absolute_percentage_error(truth, guess),
            "mdape": statistics.median(percentages),
            "zeros": 0,
        },
        rel=1e-6,
    )


@pytest.mark.parametrize("model", MODELS)
def test_figures_beyond_the_paper_are_those_of_single_candidates(
    evaluations: dict[str, Evaluation], loops: dict[str, Loops], model: str
) -> None:
    found, texts = evaluations[model].figures["beyond"], loops[model].predicted()
    own = evaluations[model].figures["central"]["own"]
    pairs = list(zip(map(Decimal, loops[model].truth), map(Decimal, texts), strict=True))
    both = [(t, g) for t, g in pairs if t and g]
    orders = [bool(t) == bool(g) and t.adjusted() == g.adjusted() for t, g in pairs]
    values = np.array([float(text) for text in loops[model].candidates])
    distances = np.abs(values[:, None] - values)
    scores, inside, widths = [], {0.5: 0, 0.9: 0}, {0.5: [], 0.9: []}
    grid = np.array([float(text) for text in loops[model].grid])
    rows = zip(pairs, loops[model].scores, loops[model].grid_scores, strict=True)
    for (true, _), row, on_grid in rows:
        p = np.exp(row) / math.fsum(np.exp(row))
        scores.append(p @ np.abs(values - float(true)) - p @ distances @ p / 2)
        p = np.exp(on_grid) / math.fsum(np.exp(on_grid))
        for level in inside:
            low, high = (
                min(x for x in grid if p[grid <= x].sum() >= q - 1e-9)
                for q in ((1 - level) / 2, (1 + level) / 2)
            )
            inside[level] += low <= float(true) <= high
            widths[level].append(high - low)
    expected = {
        "accuracy": accuracy_score(loops[model].truth, texts),
        "order_accuracy": statistics.fmean(orders),
        "log10_error": statistics.fmean(abs(float(g.log10() - t.log10())) for t, g in both),
        "log10_zeros": len(pairs) - len(both),
        "crps": statistics.fmean(scores),
    }
    assert found == pytest.approx(expected, rel=1e-6)
    assert own == pytest.approx(
        {
            "coverage_50": inside[0.5] / len(pairs),
            "coverage_90": inside[0.9] / len(pairs),
            "median_width_50": statistics.median(widths[0.5]),
            "median_width_90": statistics.median(widths[0.9]),
            "mean_width_50": statistics.fmean(widths[0.5]),
            "mean_width_90": statistics.fmean(widths[0.9]),
        },
        rel=1e-6,
    )


@pytest.mark.parametrize("model", MODELS)
def test_numbers_that_suit_errors_are_those_of_least_expected_error(
    evaluations: dict[str, Evaluation], loops: dict[str, Loops], model: str
) -> None:
    """Each candidate is tried as the answer, and its error expected under the distribution."""
    values = np.array([float(text) for text in loops[model].candidates])
    values_or_inf = np.where(values == 0, np.inf, values)  # a zero has no percentage error
    distances = np.abs(values[:, None] - values)  # [answer, number]
    truth = np.array([float(text) for text in loops[model].truth])
    middle, percentage = np.empty((2, len(truth)))
    for index, row in enumerate(loops[model].scores):
        p = np.exp(row) / math.fsum(np.exp(row))
        for errors, chosen in ((distances, middle), (distances / values_or_inf, percentage)):
            expected = errors @ p
            nearly = expected <= expected.min() * (1 + 1e-9)
            chosen[index] = values[nearly].min()
    errors = np.abs(middle - truth)
    assert evaluations[model].figures["selected"] == pytest.approx(
        {
            "mae": mean_absolute_error(truth, middle),
            "mdae": median_absolute_error(truth, middle),
            "mape": 100 * mean_absolute_percentage_error(truth, percentage),
            "mdape": 100 * statistics.median(errors / truth),
        },
        rel=1e-6,
    )


def ratios(evaluation: Evaluation) -> dict[str, float]:
    figures = evaluation.figures["perplexity"]
    return {name: figures[name]["app"] / figures[name]["pp"] for name in CLASSES}


def test_closed_vocabulary_models_share_the_ratio_of_adjusted_to_plain_perplexity(
    evaluations: dict[str, Evaluation],
) -> None:
    expected = ratios(evaluations[CLOSED[0]])
    assert min(expected.values()) > 1.1
    for name in CLOSED[1:]:
        assert ratios(evaluations[name]) == pytest.approx(expected, rel=1e-9)


def test_open_vocabulary_models_are_adjusted_on_words_alone(
    evaluations: dict[str, Evaluation],
) -> None:
    for name in OPEN:
        assert ratios(evaluations[name])["numerals"] == 1
        shared = ratios(evaluations[CLOSED[0]])["words"]
        assert ratios(evaluations[name])["words"] == pytest.approx(shared, rel=1e-9)


def leaves(figures: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested figures under one name each; the ends of an interval under two."""
    flat: dict[str, Any] = {}
    for name, value in figures.items():
        if isinstance(value, list):
            value = dict(zip(("low", "high"), value, strict=True))
        inner = leaves(value, f"{prefix}{name}.") if isinstance(value, dict) else {}
        flat |= inner or {prefix + name: value}
    return flat


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("paragraphs_at_once", "rows"), [(1, 1), (4, 7), (1000, 100_000)])
def test_figures_do_not_depend_on_the_size_of_batches(
    runs: dict[str, Path],
    evaluations: dict[str, Evaluation],
    monkeypatch: pytest.MonkeyPatch,
    model: str,
    paragraphs_at_once: int,
    rows: int,
) -> None:
    monkeypatch.setattr(scratch, "BATCH_SIZE", paragraphs_at_once)
    monkeypatch.setattr(numeral_lm, "TABLE_ROWS", rows)
    found = evaluate(runs[model], metrics="all", device="cpu")
    expected = leaves(evaluations[model].figures)
    assert leaves(found.figures) == pytest.approx(expected, rel=1e-6)
    np.testing.assert_allclose(found.adjusted, evaluations[model].adjusted, rtol=1e-5)


@pytest.mark.parametrize("model", ["softmax", "combination"])
def test_figures_and_intervals_do_not_depend_on_the_order_of_documents(
    runs: dict[str, Path], cardiac: Path, tmp_path: Path, model: str
) -> None:
    shuffled = tmp_path / "shuffled"
    shutil.copytree(cardiac, shuffled)
    for split in ("train", "test"):
        table = pq.read_table(shuffled / f"{split}-00000.parquet")
        order = np.random.default_rng(3).permutation(len(table))
        assert order.tolist() != sorted(order)
        replace_rows(shuffled, split, table.take(pa.array(order)))
    choices: dict[str, Any] = {"metrics": "all", "confidence": 0.9, "device": "cpu"}
    expected = evaluate(runs[model], **choices)
    found = evaluate(runs[model], shuffled, **choices)
    assert found.targets.rows.tolist() != expected.targets.rows.tolist()
    for name in ("figures", "intervals", "baselines", "counts", "oracle"):
        one, other = getattr(found, name), getattr(expected, name)
        assert leaves(one) == pytest.approx(leaves(other), rel=1e-6), name


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("model", MODELS)
def test_figures_do_not_depend_on_the_device(
    runs: dict[str, Path], evaluations: dict[str, Evaluation], model: str
) -> None:
    found = evaluate(runs[model], metrics="all", device="cuda")
    expected = leaves(evaluations[model].figures)
    assert leaves(found.figures) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("split", ["dev", "test"])
def test_the_oracle_is_the_one_that_describe_shows(
    runs: dict[str, Path], cardiac: Path, split: str
) -> None:
    evaluation = evaluate(runs["h-softmax"], split=split, device="cpu")
    oracle = evaluation.oracle
    assert oracle is not None
    described = describe(Dataset.open(cardiac), 200).splits[split]
    assert oracle["perplexity"] == pytest.approx(described.oracle, rel=1e-12)
    for name in CLASSES:
        app = evaluation.figures["perplexity"][name]["app"]
        above = math.log(app) - math.log(oracle["perplexity"][name])
        assert oracle["nats_above"][name] == pytest.approx(above, rel=1e-9)
        assert above > 0


def test_where_there_are_tables_there_are_two_oracles(
    runs: dict[str, Path], tmp_path: Path
) -> None:
    prepare("cardiac", tmp_path / "tables", documents=60, seed=1, tables=True)
    evaluation = evaluate(runs["h-softmax"], tmp_path / "tables", device="cpu")
    described = describe(Dataset.open(tmp_path / "tables"), 200).splits["test"]
    seeing = evaluation.oracle_with_tables
    assert seeing is not None
    assert seeing["perplexity"] == pytest.approx(described.oracle_with_tables, rel=1e-12)
    assert evaluation.best_possible is evaluation.oracle  # the model does not see
    found = evaluation_of(json.loads(json.dumps(evaluation.record())), evaluation.folder)
    assert (found.sight, found.oracle_with_tables) == ("none", seeing)


@pytest.mark.parametrize("split", ["dev", "test"])
def test_only_the_split_that_is_asked_for_is_evaluated(
    runs: dict[str, Path], cardiac: Path, split: str
) -> None:
    evaluation = evaluate(runs["h-softmax"], split=split, device="cpu")
    tokens = paragraphs(cardiac, split)
    assert evaluation.split == split
    assert evaluation.counts["tokens"] == sum(len(text) + 1 for text in tokens)
    assert evaluation.counts["numerals"] == sum(is_numeral(t) for text in tokens for t in text)


@pytest.mark.parametrize(("choice", "splits"), [("all", SPLITS), ("train", ("train",))])
def test_the_oov_set_has_the_types_of_the_splits_chosen(
    runs: dict[str, Path], cardiac: Path, choice: str, splits: tuple[str, ...]
) -> None:
    evaluation = evaluate(runs["h-softmax"], oov_set=choice, device="cpu")
    model = open_stored(runs["h-softmax"])
    sizes = {name: len(types) for name, types in oov_sets(cardiac, model, splits).items()}
    known = {*model.vocabulary.words, *model.vocabulary.numerals}
    tokens = [token for text in paragraphs(cardiac, "test") for token in text]
    for name, numeral in (("words", False), ("numerals", True)):
        unknown = sum(t not in known for t in tokens if is_numeral(t) == numeral)
        assert evaluation.counts[f"oov_{name}"] == sizes[name]
        assert evaluation.counts[f"unknown_{name}"] == unknown
        total = sum(is_numeral(t) == numeral for t in tokens)
        total += 0 if numeral else len(paragraphs(cardiac, "test"))  # ends are words
        expected = math.exp(unknown / total * math.log(sizes[name]))
        assert ratios(evaluation)[name] == pytest.approx(expected, rel=1e-9)


def test_the_two_oov_sets_differ(cardiac: Path, runs: dict[str, Path]) -> None:
    model = open_stored(runs["h-softmax"])
    every, seen = oov_sets(cardiac, model, SPLITS), oov_sets(cardiac, model, ("train",))
    assert seen["words"] < every["words"]
    assert seen["numerals"] < every["numerals"]


def test_baselines_are_constants_from_the_training_numbers(
    evaluations: dict[str, Evaluation], cardiac: Path
) -> None:
    numbers = {
        split: [float(t) for text in paragraphs(cardiac, split) for t in text if is_numeral(t)]
        for split in ("train", "test")
    }
    constants = {
        "mean": statistics.fmean(numbers["train"]),
        "median": statistics.median(numbers["train"]),
    }
    found = evaluations["mog"].baselines
    assert found.keys() == constants.keys()
    for name, constant in constants.items():
        guess = [constant] * len(numbers["test"])
        percentages = [100 * abs(t - constant) / t for t in numbers["test"]]
        assert found[name] == pytest.approx(
            {
                "rmse": root_mean_squared_error(numbers["test"], guess),
                "mae": mean_absolute_error(numbers["test"], guess),
                "mdae": median_absolute_error(numbers["test"], guess),
                "mape": statistics.fmean(percentages),
                "mdape": statistics.median(percentages),
                "zeros": 0,
            }
        )


@pytest.mark.parametrize("model", ["h-softmax+rnn", "combination"])
def test_every_figure_lies_in_its_interval(runs: dict[str, Path], model: str) -> None:
    wide = evaluate(runs[model], metrics="all", confidence=0.95, device="cpu")
    narrow = evaluate(runs[model], metrics="all", confidence=0.5, device="cpu")
    figures = leaves(wide.figures)
    for count in ("number_line.zeros", "beyond.log10_zeros"):
        del figures[count]
    assert {name.rpartition(".")[0] for name in leaves(wide.intervals)} == figures.keys()
    for name, figure in figures.items():
        low, high = (leaves(wide.intervals)[f"{name}.{end}"] for end in ("low", "high"))
        assert low <= figure <= high, name
        inner = [leaves(narrow.intervals)[f"{name}.{end}"] for end in ("low", "high")]
        assert low <= inner[0] <= inner[1] <= high, name
    spread = leaves(wide.intervals)
    assert spread["perplexity.all.pp.low"] < spread["perplexity.all.pp.high"]
    assert spread["number_line.rmse.low"] < spread["number_line.rmse.high"]


def test_intervals_leave_the_figures_alone(
    runs: dict[str, Path], evaluations: dict[str, Evaluation]
) -> None:
    found = evaluate(runs["mog"], metrics="all", confidence=0.95, device="cpu")
    assert leaves(found.figures) == leaves(evaluations["mog"].figures)
    assert evaluations["mog"].intervals == {}


def test_a_comparison_is_the_difference_of_log_adjusted_perplexities(
    evaluations: dict[str, Evaluation],
) -> None:
    first, second = evaluations["h-softmax"], evaluations["d-rnn"]
    forth, back = compare(first, second, 0.95), compare(second, first, 0.95)
    for name in CLASSES:
        apps = [e.figures["perplexity"][name]["app"] for e in (first, second)]
        expected = math.log(apps[1]) - math.log(apps[0])
        assert forth[name].difference == pytest.approx(expected, rel=1e-9)
        assert back[name].difference == pytest.approx(-expected, rel=1e-9)
        assert forth[name].low <= expected <= forth[name].high
        assert forth[name].p_value == back[name].p_value
    # On numerals the closed head is ahead in each of the six documents: 2 of 2⁶ signs are as far.
    assert forth["numerals"].p_value == pytest.approx(2 / 64, abs=0.01)


def test_a_comparison_is_the_difference_of_figures_over_numerals(
    evaluations: dict[str, Evaluation],
) -> None:
    first, second = evaluations["softmax"], evaluations["d-rnn"]
    forth, back = compare(first, second, 0.95), compare(second, first, 0.95)
    places = {
        "mae": ("number_line", "mae"),
        "mape": ("number_line", "mape"),
        "accuracy": ("beyond", "accuracy"),
        "crps": ("beyond", "crps"),
        **{name: ("number_line", name) for name in ("mdae", "mdape")},
        **{f"selected_{name}": ("selected", name) for name in ("mae", "mdae", "mape", "mdape")},
    }
    assert forth.keys() == {*CLASSES, *places}
    for name, (table, figure) in places.items():
        figures = [evaluation.figures[table][figure] for evaluation in (first, second)]
        expected = figures[0] - figures[1]
        assert forth[name].difference == pytest.approx(expected, rel=1e-9, abs=1e-12)
        assert back[name].difference == pytest.approx(-expected, rel=1e-9, abs=1e-12)
        assert forth[name].low <= forth[name].difference <= forth[name].high
        assert forth[name].p_value == back[name].p_value
    assert forth["mae"].difference != 0
    least = min(forth.values(), key=lambda result: result.p_value)
    assert least.p_holm == pytest.approx(min(1, 13 * least.p_value))


def test_a_run_does_not_differ_from_itself(evaluations: dict[str, Evaluation]) -> None:
    for result in compare(evaluations["mog"], evaluations["mog"], 0.95).values():
        assert (result.difference, result.low, result.high, result.p_value) == (0, 0, 0, 1)
