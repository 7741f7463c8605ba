"""Runs that see numbers, side by side with one that does not: what they take numerals from."""

import itertools
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.lm.backbones.pretrained.conftest import save

from numerate.documents.document import Table
from numerate.lm.data.batching import load_corpora
from numerate.lm.heads.copy import CopyHead
from numerate.lm.inspect.contexts import Context
from numerate.lm.inspect.exhibit import Exhibit, NothingToShowError
from numerate.lm.inspect.inspect import inspect_runs
from numerate.lm.inspect.number_sources import number_sources
from numerate.lm.inspect.runs import Run, open_runs
from numerate.lm.inspect.strategies import strategy_shares
from numerate.lm.inspect.table_attention import (
    _cut,
    _draw,
    _Looked,
    attention_over_table,
    picked_places,
)
from numerate.lm.inspect.traced import SOURCES, STANDINGS
from numerate.lm.model.opening import Settings
from numerate.lm.train.options import TrainingOptions
from numerate.lm.train.over_backbone import BackboneChoice
from numerate.lm.train.run import train
from numerate.reports.look import look

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


def test_sources_have_what_their_members_wrote(run: Run) -> None:
    """By Bayes' rule, member by member and numeral by numeral."""
    dev, head = run.reading.corpus, run.model.head
    members = head.members_by_name()
    shares = run.traced.shares
    np.testing.assert_allclose(shares.sum(1), 1)
    for place in range(0, len(dev.rows), 3):
        context, numeral = run.at(place), dev.table.batch(dev.rows[place : place + 1])
        with torch.no_grad():
            whole = head.log_prob(context, numeral).double().exp().item()
            weights = head.mixture_weights(context)[0].double()
            alone = {n: m.log_prob(context, numeral).double().exp() for n, m in members.items()}
        wrote = {
            name: (weight * alone[name]).item() / whole
            for name, weight in zip(members, weights, strict=True)
        }
        assert shares[place, :3].sum() == pytest.approx(wrote.pop("copy"), abs=1e-5)
        assert shares[place, 3:-1].sum() == pytest.approx(wrote.pop("compute"), abs=1e-5)
        assert shares[place, -1] == pytest.approx(sum(wrote.values()), abs=1e-5)


def test_shares_are_averages_over_numerals_of_a_kind(run: Run) -> None:
    exhibit = number_sources(run)
    by_kind = {row[1]: row for row in exhibit.table.rows}
    assert by_kind["all"][2] == len(run.shared.dev.rows)
    names = list(exhibit.table.columns)
    for row in exhibit.table.rows:
        for named in (SOURCES, STANDINGS):
            total = sum(float(row[names.index(name)]) for name in named)
            assert total == pytest.approx(100)
    # Every article gives one percentage, of two numbers in the table; all else stands there.
    texts = run.shared.dataset.split("dev").read(["text"])["text"].to_pylist()
    shown = [texts[source] for source in run.shared.dev.sources]
    assert by_kind["percentages"][2] == sum(text.count(" %") for text in shown)
    assert by_kind["percentages"][names.index("can be computed")] == pytest.approx(100)
    assert by_kind["other decimals"][names.index("in a table")] == pytest.approx(100)
    assert float(by_kind["other decimals"][names.index("table")]) > 90, "it has learnt to copy"
    counts = [row[2] for row in exhibit.table.rows if row[0] == "by size"]
    assert sum(map(int, counts)) == len(run.shared.dev.rows)
    sources, standings = exhibit.shown
    assert [row[0] for row in sources.rows] == list(by_kind)
    assert [row[0] for row in standings.rows] == [k for k in by_kind if k not in STANDINGS]


def test_a_run_without_sight_has_no_sources(runs: dict[str, Run]) -> None:
    for make in (number_sources, picked_places):
        with pytest.raises(NothingToShowError, match="combination sees no"):
            make(runs["none"])


@pytest.mark.parametrize("sight", ["tables", "document"])
def test_cells_are_shaded_by_what_copy_says(runs: dict[str, Run], sight: str) -> None:
    run = runs[sight]
    (head,) = run.heads_of(CopyHead).values()
    places = picked_places(run)
    assert places == picked_places(run)
    traced = run.traced
    in_table = traced.from_tables[traced.standing == STANDINGS.index("in a table")]
    assert traced.from_tables[places[0]] == in_table.max()
    assert len(places) >= 2
    assert list(traced.from_tables[places]) == sorted(traced.from_tables[places], reverse=True)
    for place in places:
        exhibit = attention_over_table(run, place)
        with torch.no_grad():
            sources = head.sources(run.at(place))
        expected: dict[tuple[int | None, int | None], float] = {}
        for source in sources:
            (number,) = source.numbers
            if number.table is not None:
                cell = number.row, number.column
                expected[cell] = expected.get(cell, 0.0) + source.probability
        assert {row[:2] for row in exhibit.table.rows} == set(expected)
        for row, column, _, _, _, probability, _ in exhibit.table.rows:
            assert probability == pytest.approx(expected[row, column], abs=1e-6)
        truth = run.shared.dev.table.texts[run.shared.dev.rows[place]]
        (framed,) = [row for row in exhibit.table.rows if row[-1]]
        assert framed[4] == truth
        frames = [patch for patch in exhibit.figure.axes[0].patches if not patch.get_fill()]
        assert len(frames) == 1
        assert f"before {truth} is seen: Table 1 (Patients at baseline.)" in exhibit.caption
        first = exhibit.shown[0].rows[0]
        assert first[0].startswith("Table 1, ")


def test_a_table_that_is_given_may_not_hold_the_numeral(run: Run) -> None:
    computed = int(np.argmax(run.traced.is_percentage))
    with pytest.raises(NothingToShowError, match=f"numeral {computed} of the dev split stands in"):
        attention_over_table(run, computed)


def test_long_tables_are_cut_around_what_is_attended() -> None:
    words = "Systolic blood pressure at the last visit of all patients (mmHg, mean ± SD)"
    table = Table(
        "t", "Table 3", "Long.",
        [["", *["All patients of both groups", "All patients of both groups"] * 4]],
        [[f"{words} {row}", *(f"{row}{column}.5 ± {row}" for column in range(8))]
         for row in range(30)],
    )  # fmt: skip
    table.body[12] = [""] * 9
    cells = {(row, column): 0.001 for row in range(30) for column in range(1, 9) if row != 12}
    cells |= {(20, 7): 0.6, (2, 3): 0.2}
    looked = _Looked(table, cells, {(11, 2)}, 0.0, 0.0)
    cut = _cut(looked)
    assert cut.rows == [None, 2, None, 8, 9, 10, 11, 13, 14, None, 20, None]
    assert cut.columns == [1, 2, 3, None, 7, None]
    assert cut.left_out == "21 rows and 4 columns"
    figure = _draw(looked, cut, Context("Blood pressure was", truth="112.5", after=" mmHg here"))
    with look():
        figure.set_dpi(300)
        figure.draw_without_rendering()
    (axes,) = figure.axes
    written = [text for text in axes.texts if text.get_text()]
    assert {"⋮", "…", "60 %", "20 %"} <= {text.get_text() for text in written}
    boxes = [text.get_window_extent() for text in [axes.title, *written]]
    for text, box in zip([axes.title, *written], boxes, strict=True):
        assert text.get_fontsize() >= 5
        assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1, text.get_text()
        assert figure.bbox.y0 <= box.y0 < box.y1 <= figure.bbox.y1, text.get_text()
    for (one, a), (other, b) in itertools.combinations(zip(written, boxes[1:], strict=True), 2):
        overlap = a.shrunk(0.95, 0.8).overlaps(b.shrunk(0.95, 0.8))
        assert not overlap, f"{one.get_text()} on {other.get_text()}"


def test_examples_of_strategies_have_their_sources(run: Run, runs: dict[str, Run]) -> None:
    examples = strategy_shares(run).shown[0]
    assert examples.columns == ["member", "share", "sentence", "source"]
    for member, _, sentence, source in examples.rows:
        truth = sentence.split("**")[1]
        if member == "copy":
            assert source.startswith("Table 1, ")
            assert source.endswith(f": {truth}")
        elif member == "compute":
            assert source == "–" or source.endswith(f" = {truth}")
        else:
            assert source == "–"
    assert "source" not in strategy_shares(runs["none"]).shown[0].columns


def test_the_report_has_a_section_on_sources(
    folders: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save = Exhibit.save

    def save_some(exhibit: Exhibit, folder: Path) -> str:
        """Other figures, most of the time it takes, are looked at elsewhere."""
        named = exhibit.name.startswith(("number-sources", "table-attention"))
        return save(exhibit, folder) if named else "<svg></svg>"

    monkeypatch.setattr(Exhibit, "save", save_some)
    heard: list[str] = []
    given = [folders[sight] for sight in ("tables", "none")]
    report = inspect_runs(given, tmp_path / "out", limit=LIMIT, say=heard.append)
    figures = {path.stem for path in (tmp_path / "out" / "figures").iterdir()}
    assert {"number-sources-grounded", "table-attention-grounded-1"} <= figures
    assert not [line for line in heard if "come from" in line or "attention" in line]
    page = report.read_text(encoding="utf-8")
    section = page[page.index('<section id="where-numbers-come-from">') :]
    section = section[: section.index("</section>")]
    assert section.count('role="img" aria-label=') == len(figures) >= 3
    assert "currentColor" in section


def test_a_run_over_a_pretrained_model_is_traced_beside_one_from_scratch(
    folders: dict[str, Path], trials: Path, tmp_path: Path
) -> None:
    """Of its tables, it may not have read all: its window is short."""
    choice = BackboneChoice(save(tmp_path / "Small", "single"), cache=tmp_path / "cache")
    train(
        trials / "data",
        tmp_path / "over",
        model="grounded",
        vocabulary=100,
        hidden=8,
        backbone=choice,
        options=TrainingOptions(epochs=1, batch_size=10),
        device="cpu",
    )
    given = [tmp_path / "over", folders["tables"]]
    settings = Settings(cache=tmp_path / "cache")
    over, scratch = open_runs(given, device="cpu", limit=4, settings=settings)
    np.testing.assert_allclose(over.traced.shares.sum(1), 1)
    np.testing.assert_array_equal(over.traced.standing, scratch.traced.standing)
    whole = over.dev_log_probs()
    weights = over.model.mixture_weights(over.reading.context)
    weight = weights[:, over.model.members.index("copy")]
    expected = weight * over.traced.from_tables / np.exp(whole)
    np.testing.assert_allclose(over.traced.shares[:, :2].sum(1), expected, atol=1e-5)
    assert attention_over_table(over, picked_places(over)[0]).table.rows
