"""Every figure's data against what the models say when asked one thing at a time."""

import csv
import io
import itertools
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.metrics.pairwise import cosine_similarity

from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.evaluate.evaluate import evaluate
from numerate.lm.heads.base import Context as Place
from numerate.lm.heads.base import NumeralHead
from numerate.lm.heads.combination import CombinationHead
from numerate.lm.heads.mixture import MixtureHead
from numerate.lm.heads.mixture_fit import GRANULARITIES
from numerate.lm.heads.registry import head_class
from numerate.lm.inspect.components import component_weights, gaussian_components
from numerate.lm.inspect.contexts import Context, dev_contexts, picked_contexts, typed_context
from numerate.lm.inspect.digit_embeddings import digit_similarities
from numerate.lm.inspect.errors_by_magnitude import BASELINE, LEAST, errors_by_magnitude
from numerate.lm.inspect.exhibit import Exhibit, NothingToShowError, Table
from numerate.lm.inspect.learnt_digits import learnt_digits
from numerate.lm.inspect.next_numeral import _spread, next_numeral
from numerate.lm.inspect.numeral_embeddings import numeral_similarities
from numerate.lm.inspect.probability_transform import calibration
from numerate.lm.inspect.runs import Run
from numerate.lm.inspect.strategies import EXAMPLES, LEAST_OCCURRENCES, strategy_shares
from numerate.lm.inspect.training_curves import training_curves
from numerate.lm.model.candidates import candidate_numerals
from numerate.reports.look import COLOURS, INK, WIDTH, line_styles, look


def rows_of(table: Table, /, **wanted: object) -> list[dict[str, object]]:
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    return [row for row in rows if all(row[key] == value for key, value in wanted.items())]


@pytest.fixture(scope="module")
def dev_context(runs: dict[str, Run]) -> Context:
    run = runs["mog"]
    place = int(np.argmax(run.shared.dev.table.precisions[run.shared.dev.rows]))
    return dev_contexts(run.shared.dataset, run.shared.dev, [place])[0]


@pytest.mark.parametrize("model", ["softmax", "softmax+rnn", "h-softmax", "h-softmax+rnn"])
def test_numeral_similarities_are_those_of_what_the_output_scores_with(
    runs: dict[str, Run], model: str
) -> None:
    run = runs[model]
    exhibit = numeral_similarities(list(runs.values()))
    numerals = run.model.vocabulary.numerals
    # A hidden state of one axis gives, up to a constant, that axis of all embeddings.
    axes = torch.eye(run.model.config.hidden)
    table = NumeralTable(["987654321", *numerals[1:]], run.model.vocabulary.numeral_ids())
    with torch.no_grad():
        shifted = run.model.head.log_prob_table(Place(axes), table).T.numpy()
        weight = run.model.head.embedding().numpy()  # type: ignore[operator]
    np.testing.assert_allclose(shifted - shifted[0], weight - weight[0], atol=1e-5)
    expected = cosine_similarity(weight)
    names = ["unknown", *numerals[1:]]
    for row in rows_of(exhibit.table, run=model)[::7]:
        i, j = names.index(str(row["numeral"])), names.index(str(row["other"]))
        assert row["cosine"] == pytest.approx(expected[i, j], abs=1e-6)
    order = [str(row["numeral"]) for row in rows_of(exhibit.table, run=model, other="unknown")]
    assert order[0] == "unknown"
    assert [float(text) for text in order[1:]] == sorted(float(text) for text in numerals[1:])


def test_many_numerals_are_cut_to_the_most_frequent(runs: dict[str, Run]) -> None:
    exhibit = numeral_similarities([runs["softmax"]], most=5)
    frequent = set(runs["softmax"].model.vocabulary.numerals[1:6])
    assert set(exhibit.table.column("numeral")) == frequent | {"unknown"}
    assert "less frequent numerals of the vocabulary are left out" in exhibit.caption


READ = "read at the input"
DIGIT_TABLES = {
    "softmax": {READ},
    "softmax+rnn": {READ, "read at the output"},
    "h-softmax": {READ},
    "h-softmax+rnn": {READ, "read at the output"},
    "d-rnn": {READ, "written before", "to be written"},
    "mog": {READ},
    "combination": {READ, "written before (d-rnn)", "to be written (d-rnn)"},
}


@pytest.mark.parametrize("model", DIGIT_TABLES)
def test_digit_similarities_of_every_table_there_is(runs: dict[str, Run], model: str) -> None:
    run = runs[model]
    table = digit_similarities(run).table
    assert set(table.column("table")) == DIGIT_TABLES[model]
    with torch.no_grad():
        expected = cosine_similarity(run.model.backbone.embedding.encoder.symbols.weight)
    found = np.array([row["cosine"] for row in rows_of(table, table=READ)]).reshape(12, 12)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert set(table.column("symbol")) >= {*"0123456789.", "end"}


def ask(run: Run, context: Context, text: str) -> float:
    """p(numeral) as the head says when asked for this one alone."""
    batch = NumeralTable([text], run.model.vocabulary.numeral_ids()).batch(np.array([0]))
    assert run.model.head is not None
    with torch.no_grad():
        return float(run.model.head.log_prob(context.place(run), batch).exp())


def test_next_numeral_shows_the_models_own_probabilities(
    runs: dict[str, Run], dev_context: Context
) -> None:
    for context in (dev_context, typed_context("The ejection fraction is")):
        exhibit = next_numeral(list(runs.values()), context)
        shown = dict.fromkeys(exhibit.table.column("run"))
        assert list(shown) == ["h-softmax", "d-rnn", "mog", "combination"]
        for model in shown:
            rows = rows_of(exhibit.table, run=model)
            for row in rows[:: max(1, len(rows) // 40)]:
                expected = ask(runs[str(model)], context, str(row["numeral"]))
                assert row["probability"] == pytest.approx(expected, rel=1e-3, abs=1e-9)
            texts = {str(row["numeral"]) for row in rows}
            if model == "h-softmax":
                assert texts <= set(runs["h-softmax"].model.vocabulary.numerals)
            else:
                assert {row["decimals"] for row in rows} >= {0, 1}
            assert sum(float(str(row["probability"])) for row in rows) <= 1 + 1e-6
    assert "the dotted line" not in exhibit.caption
    assert (
        f"stands there, {dev_context.truth}, is" in next_numeral([runs["mog"]], dev_context).caption
    )


def test_a_long_grid_has_all_last_digits() -> None:
    assert _spread(3, 7, False, 100) == [3, 4, 5, 6, 7]
    for most in (250, 1000):
        points = _spread(0, 123_456, False, most)
        assert most / 2 < len(points) <= most + 1
        assert {point % 10 for point in points} == set(range(10))


def test_strategy_shares_are_averages_over_occurrences(runs: dict[str, Run]) -> None:
    run = runs["combination"]
    exhibit = strategy_shares(run)
    assert isinstance(run.model.head, CombinationHead)
    shares: dict[str, list[list[float]]] = {}
    with torch.no_grad():
        for place, row in enumerate(run.shared.dev.rows):
            weights = torch.softmax(run.model.head.weights @ run.dev_states[place], dim=0).tolist()
            shares.setdefault(run.shared.dev.table.texts[row], []).append(weights)
    frequent = {text: found for text, found in shares.items() if len(found) >= LEAST_OCCURRENCES}
    assert {str(row[0]) for row in exhibit.table.rows} == set(frequent)
    for text, count, *means in exhibit.table.rows:
        found = frequent[str(text)]
        assert count == len(found)
        assert means == pytest.approx([sum(c) / len(found) for c in zip(*found, strict=True)])
    examples, numerals = exhibit.shown
    members = list(run.model.head.members)
    flat = [weights for found in shares.values() for weights in found]
    for index, member in enumerate(members):
        rows = [row for row in examples.rows if row[0] == member]
        assert len(rows) == EXAMPLES
        percentages = [float(row[1].split()[0]) for row in rows]
        assert percentages == sorted(percentages, reverse=True)
        assert percentages[0] == pytest.approx(100 * max(w[index] for w in flat), abs=0.051)
        best = max(frequent, key=lambda text: np.mean([w[index] for w in frequent[text]]))
        assert numerals.rows[index][1].split(", ")[0] == best
    for row in examples.rows:
        assert row[2].count("**") == 2
        assert row[2].split("**")[1] in shares


def test_components_are_those_of_the_head(runs: dict[str, Run], dev_context: Context) -> None:
    for model in ("mog", "combination"):
        run = runs[model]
        head = next(head for head in run.heads().values() if isinstance(head, MixtureHead))
        table = gaussian_components(run).table
        assert table.column("mean") == head.means.tolist()
        assert table.column("sd") == head.sds.tolist()
        assert sorted(table.column("granularity")) == sorted(
            size for size in GRANULARITIES for _ in range(size)
        )
        weights = component_weights(run, dev_context).table
        found = [float(weight) for weight in weights.column("weight")]
        assert sum(found) == pytest.approx(1)
        assert found == sorted(found, reverse=True)
        with torch.no_grad():
            state = dev_context.place(run).hidden[0].double()
            scores = head.weights.double() @ state
        assert found[0] == pytest.approx(float(torch.softmax(scores, 0).max()), rel=1e-4)


def test_training_numbers_fill_the_histogram(runs: dict[str, Run]) -> None:
    figure = gaussian_components(runs["mog"]).figure
    heights = figure.axes[0].patches[0].get_data().values
    assert heights.sum() == pytest.approx(100)


def test_errors_are_medians_of_each_magnitude(runs: dict[str, Run]) -> None:
    chosen = [runs["mog"], runs["softmax"]]
    exhibit = errors_by_magnitude(chosen)
    truth = runs["mog"].shared.dev.table.values[runs["mog"].shared.dev.rows]
    candidates = candidate_numerals(runs["mog"].shared.corpora["train"])
    for run in chosen:
        shares = np.zeros(len(candidates))
        if not run.model.open_vocabulary:
            shares[candidates.known == 0] = -math.log(run.shared.oov[1])
        guess = np.empty(len(truth))
        for places, table in run.model.tables(run.reading.context, candidates):
            guess[places] = candidates.values[(table.numpy() + shares).argmax(1)]
        rows = rows_of(exhibit.table, run=run.label)
        assert sum(int(str(row["count"])) for row in rows) == len(truth)
        for row in rows:
            name = str(row["numbers"])
            low, _, high = name.replace(",", "").partition(" to ")
            inside = [
                (t, g) for t, g in zip(truth, guess, strict=True)
                if (t == 0 if name == "0" else float(low) <= t < float(high))
            ]  # fmt: skip
            assert row["count"] == len(inside)
            if name != "0":
                assert len(inside) >= LEAST
                errors = sorted(100 * abs(t - g) / t for t, g in inside)
                assert row["mdape"] == pytest.approx(float(np.median(errors)))
                right = [g > 0 and math.floor(math.log10(g) + 1e-12)
                         == math.floor(math.log10(t) + 1e-12) for t, g in inside]  # fmt: skip
                assert row["right_magnitude"] == pytest.approx(100 * sum(right) / len(right))
    assert BASELINE in exhibit.table.column("run")


def test_learnt_digits_of_data_and_model(runs: dict[str, Run]) -> None:
    exhibit = learnt_digits(list(runs.values()))
    assert list(dict.fromkeys(exhibit.table.column("of"))) == ["dev numerals", "d-rnn", "Benford"]
    for name in ("dev numerals", "d-rnn", "Benford"):
        for place in ("first", "second", "third"):
            shares = [float(str(r["share"])) for r in rows_of(exhibit.table, of=name, place=place)]
            assert sum(shares) == pytest.approx(1)
    texts = [runs["mog"].shared.dev.table.texts[row] for row in runs["mog"].shared.dev.rows]
    firsts = [text.replace(".", "").lstrip("0")[:1] for text in texts]
    ones = firsts.count("1") / sum(map(bool, firsts))
    (row,) = rows_of(exhibit.table, of="dev numerals", place="first", digit=1)
    assert row["share"] == pytest.approx(ones)
    assert [row[0] for row in exhibit.shown[0].rows][:2] == [
        "dev numerals, first",
        "dev numerals, second",
    ]
    by_label = {row[0]: row[1:] for row in exhibit.shown[0].rows}
    assert by_label["d-rnn, first"][:4] == ["–"] * 4  # probabilities are no counts to test
    assert "–" not in by_label["dev numerals, first"]
    assert float(by_label["d-rnn, first"][4]) > 0
    assert [note.partition(" ")[0] for note in exhibit.shown[0].notes] == ["Chi-square", "A"]


def test_training_curves_are_the_logs(runs: dict[str, Run]) -> None:
    table = training_curves(list(runs.values())).table
    assert len(table.rows) == sum(len(run.history) for run in runs.values())
    losses = [row["dev_loss"] for row in rows_of(table, run="mog")]
    assert losses == [record["dev_loss"] for record in runs["mog"].history]


@pytest.mark.parametrize("model", ["softmax", "mog"])
def test_training_curves_are_adjusted_as_perplexity_is(runs: dict[str, Run], model: str) -> None:
    """Closed and open vocabularies in the same terms: those of `evaluate` on the dev split."""
    exhibit = training_curves(list(runs.values()))
    losses = [float(str(r["adjusted_dev_loss"])) for r in rows_of(exhibit.table, run=model)]
    found = evaluate(runs[model].folder, split="dev", device="cpu")
    expected = found.figures["perplexity"]["all"]
    assert expected["app"] > expected["pp"]
    assert math.exp(min(losses)) == pytest.approx(expected["app"], rel=1e-4)
    line = next(line for line in exhibit.figure.axes[0].lines if line.get_label() == model)
    assert list(line.get_ydata()) == losses


def test_no_line_runs_off_its_axis(runs: dict[str, Run]) -> None:
    """Nor does that of the constant, which may be wrong by a factor of thousands."""
    figure = errors_by_magnitude(list(runs.values())).figure
    for axes in figure.axes:
        low, high = axes.get_ylim()
        heights = [height for line in axes.lines for height in line.get_ydata()]
        assert low <= min(heights)
        assert max(heights) <= high


def test_what_a_run_does_not_have_is_said(runs: dict[str, Run], dev_context: Context) -> None:
    for make, word in (
        (lambda: numeral_similarities([runs["mog"]]), "softmax over numerals"),
        (lambda: strategy_shares(runs["mog"]), "mog is no combination"),
        (lambda: gaussian_components(runs["d-rnn"]), "d-rnn has none"),
        (lambda: next_numeral([runs["softmax"]], dev_context), "none of h-softmax"),
    ):
        with pytest.raises(NothingToShowError, match=word):
            make()


def exhibits(runs: list[Run], context: Context) -> list[Exhibit]:
    last = {run.model.config.model: run for run in runs}  # of each model
    return [
        numeral_similarities(runs),
        numeral_similarities(runs[:1]),
        digit_similarities(last["combination"]),
        next_numeral(runs, context),
        strategy_shares(last["combination"]),
        learnt_digits(runs),
        gaussian_components(last["mog"]),
        component_weights(last["mog"], context),
        training_curves(runs),
        errors_by_magnitude(runs),
        calibration(runs),
    ]


@pytest.mark.parametrize("shared", ["runs", "mixed"])
def test_figures_fit_a_column_and_labels_do_not_overlap(
    request: pytest.FixtureRequest, shared: str
) -> None:
    runs = list(request.getfixturevalue(shared).values())
    for exhibit in exhibits(runs, picked_contexts(runs)[0]):
        figure = exhibit.figure
        figure.align_ylabels()  # as when it is saved
        assert figure.get_size_inches()[0] == WIDTH
        with look():
            figure.set_dpi(300)
            figure.draw_without_rendering()
        box = figure.bbox
        titles = [axes.title.get_window_extent() for axes in figure.axes if axes.get_title()]
        for one, other in itertools.combinations(titles, 2):
            assert not one.overlaps(other), f"{exhibit.name}: titles overlap"
        for axes in figure.axes:
            for axis in (axes.xaxis, axes.yaxis):
                texts = [t for t in axis.get_ticklabels() if t.get_text() and t.get_visible()]
                low, high = sorted(axis.get_view_interval())
                inside = [t for t in texts if low <= t.get_position()[axis is axes.yaxis] <= high]
                boxes = [text.get_window_extent() for text in inside]
                for text, extent in zip(inside, boxes, strict=True):
                    assert text.get_fontsize() >= 5
                    assert box.x0 - 2 <= extent.x0, f"{exhibit.name}: {text.get_text()}"
                    assert extent.x1 <= box.x1 + 2, f"{exhibit.name}: {text.get_text()}"
                for one, other in itertools.pairwise(boxes):
                    shared = one.shrunk(0.95, 0.8).overlaps(other.shrunk(0.95, 0.8))
                    assert not shared, f"{exhibit.name}: labels overlap"
            labels = (axes.title, axes.xaxis.label, axes.yaxis.label)
            for text in [label for label in labels if label.get_text()]:
                extent = text.get_window_extent()
                assert box.x0 - 2 <= extent.x0, f"{exhibit.name}: {text.get_text()}"
                assert extent.x1 <= box.x1 + 2, f"{exhibit.name}: {text.get_text()}"
            place = axes.get_subplotspec()  # a colour bar has none
            if place is None or place.is_first_col() or place.is_last_row():
                assert axes.get_xlabel() or axes.get_ylabel() or axes.get_title(), exhibit.name


def test_files_hold_the_figure_and_its_data(runs: dict[str, Run], tmp_path: Path) -> None:
    exhibit = training_curves([runs["mog"]])
    svg = exhibit.save(tmp_path / "figures")
    folder = tmp_path / "figures"
    assert (folder / "training-curves.svg").read_text() == svg
    assert (folder / "training-curves.png").read_bytes()[:4] == b"\x89PNG"
    rows = list(csv.DictReader(io.StringIO((folder / "training-curves.csv").read_text())))
    assert [float(row["dev_loss"]) for row in rows] == [
        record["dev_loss"] for record in runs["mog"].history
    ]
    before = (folder / "training-curves.png").read_bytes()
    training_curves([runs["mog"]]).save(folder)
    assert (folder / "training-curves.png").read_bytes() == before


def test_lines_can_be_told_apart_whoever_brings_a_head() -> None:
    heads = [head_class(name) for name in ("h-softmax", "h-softmax+rnn", "h-softmax")]
    unheard_of = [NumeralHead.style, NumeralHead.style, ("no such colour", "-.")]
    drawn = line_styles([*(head.style for head in heads), *unheard_of])
    lines = [(style["color"], style["linestyle"]) for style in drawn]
    blue = COLOURS["blue"]
    assert lines == [(blue, "-"), (blue, "--"), (blue, ":"), (INK, "-"), (INK, ":"), (INK, "-.")]
