"""Models of several seeds in one table: what is shown in every format, and what is kept."""

import csv
import io
import json
import math
import statistics
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.lm.evaluate.test_tables import ORACLE, evaluation

from numerate.lm.evaluate.evaluate import Evaluation
from numerate.lm.evaluate.figures_as_data import as_csv, as_json
from numerate.lm.evaluate.observed import (
    FigurePath,
    Observed,
    by_document,
    load_observed,
    save_observed,
)
from numerate.lm.evaluate.result_tables import result_tables
from numerate.lm.evaluate.seeds import SeedEvaluation, together
from numerate.lm.model.run_folder import OBSERVED
from numerate.lm.perplexity import perplexity
from numerate.reports.tables import ResultTable, as_latex, as_markdown

APP: FigurePath = ("perplexity", "numerals", "app")
MDAE: FigurePath = ("number_line", "mdae")
ABOVE_ORACLE: FigurePath = ("oracle", "nats_above", "numerals")
NATS = np.random.default_rng(1).normal(1.0, 0.1, 200)


def run(nats: float, seed: int) -> Evaluation:
    """Whose numerals take so many nats more, or a little less or more than that by the seed."""
    values = NATS + nats + 0.01 * seed + 0.02 * np.random.default_rng(seed).normal(0, 1, 200)
    documents = np.arange(200) // 4
    observed = {
        path: by_document(values, documents, function=perplexity)
        for path in (("perplexity", name, "app") for name in ("words", "numerals", "all"))
    }
    observed[MDAE] = by_document(values, documents, is_median=True)
    observed[ABOVE_ORACLE] = by_document(values, documents)
    return replace(evaluation("mog", oracle=ORACLE), observed=observed)


@pytest.fixture(scope="module")
def rows() -> list[SeedEvaluation]:
    return together(
        {
            "good": [run(0.0, seed) for seed in (1, 2, 3)],
            "alike": [run(0.0, seed) for seed in (3, 1, 2)],
            "bad": [run(0.5, seed) for seed in (1, 2, 3)],
        },
        confidence=0.95,
    )


def test_figures_are_means_over_seeds_with_their_spread(rows: list[SeedEvaluation]) -> None:
    nats = [run(0.5, seed).observed[APP].estimate for seed in (1, 2, 3)]
    figures, bad = [perplexity(one) for one in nats], rows[2]
    shown = bad.figures["perplexity"]["numerals"]["app"]
    assert shown == pytest.approx(perplexity(statistics.mean(nats)))
    spread = bad.spread["perplexity"]["numerals"]["app"]
    assert spread == pytest.approx(statistics.stdev(figures))
    low, high = bad.intervals["perplexity"]["numerals"]["app"]
    assert low < min(figures) < max(figures) < high  # three seeds say little
    above = [run(0.5, seed).observed[ABOVE_ORACLE].estimate for seed in (1, 2, 3)]
    assert bad.oracle is not None
    assert bad.oracle["nats_above"]["numerals"] == pytest.approx(statistics.mean(above))
    assert ORACLE["nats_above"]["numerals"] == 0.875, "what was given is left as it was"
    (note,) = [one for one in result_tables(rows)[1].notes if one.startswith("Intervals")]
    assert note.startswith("Intervals resample documents and count seeds. Where ")


def test_the_best_and_all_that_cannot_be_told_from_it_are_marked_in_every_format(
    rows: list[SeedEvaluation],
) -> None:
    assert [row.is_among_best(APP) for row in rows] == [True, True, False]
    assert not rows[0].is_among_best(("perplexity", "numerals", "pp"))
    tables = result_tables(rows)
    assert {(0, 4), (1, 4)} <= tables[0].best
    assert (2, 4) not in tables[0].best
    assert {row for row, column in tables[1].best if column == 3} == {2, 3}  # after the constants
    markdown, latex = as_markdown(tables), as_latex(tables)
    for name, bold in (("good", "**"), ("alike", "**"), ("bad", "")):
        (line,) = [
            one for one in markdown.splitlines() if one.startswith(f"| {name} | ") and "0.0" in one
        ][:1]
        cell = line.split(" | ")[4]
        assert cell.startswith(bold)
        assert " ±" in cell
        assert cell.endswith("]")
        assert bold or "**" not in cell
        (line,) = [one for one in latex.splitlines() if one.startswith(f"{name} & ")][:1]
        assert line.split(" & ")[4].startswith(r"\textbf{" if bold else "4")
        assert r"$\pm$" in line
    assert markdown.count("Mean ±standard deviation over 3 seeds.") == len(tables) == 2
    assert markdown.count("seeds. Perplexities are those of mean nats.\n") == 1
    assert markdown.count("seeds. RMSE is that of mean squares.\n") == 1
    assert "Perplexities are" in " ".join(tables[0].notes)
    assert "RMSE is" in " ".join(tables[1].notes)
    assert "documents and seeds, p > 0.05, over the rows of a column in Holm's steps" in markdown


def test_one_model_has_no_best_by_itself() -> None:
    tables = result_tables(together({"mog": [run(0, seed) for seed in (1, 2)]}, 0.95))
    assert not any(table.best for table in tables)
    assert not any("Bold" in note for table in tables for note in table.notes)


def test_what_bold_means_stands_only_where_something_is(rows: list[SeedEvaluation]) -> None:
    beyond = dict.fromkeys(("accuracy", "order_accuracy", "log10_error", "crps"), 0.5)
    some = [replace(row, figures=row.figures | {"beyond": beyond}) for row in rows]
    *marked, plain = result_tables(some)
    assert all(table.best and "Bold: " in table.notes[-1] for table in marked)
    assert not plain.best
    assert plain.notes == ("Mean ±standard deviation over 3 seeds.",)


def test_own_and_calibrated_intervals_of_a_column_are_tested_together() -> None:
    def calibrated_run(seed: int, shares: tuple[float, float]) -> Evaluation:
        draws, documents = np.random.default_rng(seed).random(2000), np.arange(2000) // 4
        observed: dict[FigurePath, Observed] = {
            ("central", kind, "coverage_90"): by_document((draws < share).astype(float), documents)
            for kind, share in zip(("own", "calibrated"), shares, strict=True)
        }
        widths = {f"{of}_width_{level}": 1.0 for of in ("median", "mean") for level in (50, 90)}
        central = {kind: widths | {"coverage_50": 0.5} for kind in ("own", "calibrated")}
        one = evaluation("mog")
        return replace(one, figures=one.figures | {"central": central}, observed=observed)

    def table_of(*shares: tuple[float, float]) -> ResultTable:
        names = ("mog", "d-rnn")[: len(shares)]
        runs = {
            name: [calibrated_run(seed, share) for seed in (1, 2, 3)]
            for name, share in zip(names, shares, strict=True)
        }
        return result_tables(together(runs, 0.95))[-1]

    table = table_of((0.7, 0.9))
    assert [row[0] for row in table.rows] == ["mog", "mog, calibrated"]
    column = table.columns.index("in 90 %")
    assert {row for row, of in table.best if of == column} == {1}
    assert table.notes[-1].endswith("; of coverage, the nearest to what is said.")
    assert not table_of((0.9, 0.9)).best, "one model, and nothing told apart"
    both = table_of((0.7, 0.9), (0.7, 0.9))
    assert {row for row, of in both.best if of == column} == {1, 3}
    assert "multiple comparisons" in both.notes[-1]


def test_csv_and_json_have_spread_and_p(rows: list[SeedEvaluation]) -> None:
    lines = {
        (line["model"], line["figure"]): line for line in csv.DictReader(io.StringIO(as_csv(rows)))
    }
    good, bad = (lines[name, "perplexity.numerals.app"] for name in ("good", "bad"))
    assert (good["seeds"], good["among_best"], bad["among_best"]) == ("3", "True", "False")
    assert float(bad["p_holm"]) < 0.05
    assert float(good["sd"]) == pytest.approx(rows[0].spread["perplexity"]["numerals"]["app"])
    record = json.loads(as_json(rows, None))["runs"]["runs/bad"]
    assert record["seeds"] == 3
    against = record["against_best"]["perplexity"]["numerals"]["app"]
    assert against["among_best"] is False
    assert against["difference"] == pytest.approx(0.5, abs=0.02)  # nats


def test_a_row_that_lacks_a_seed_says_so() -> None:
    rows = together({"whole": [run(0, 1), run(0, 2)], "half": [run(0.5, 1)]}, None)
    (notes,) = {table.notes for table in result_tables(rows)[:1]}
    assert notes[0].startswith("Mean ±standard deviation over 2 seeds (half 1).")
    assert result_tables(rows)[0].rows[1][4].count("±") == 0
    assert not rows[0].intervals


def test_what_is_not_compared_is_a_mean_over_seeds_too() -> None:
    runs = [run(0, seed) for seed in (1, 2, 3)]
    for seed, one in enumerate(runs):
        one.figures["number_line"]["zeros"] = 2.0
        one.figures["beyond"] = {"log10_zeros": float(seed)}
        one.oracle = {**ORACLE, "nats_above": {"words": seed, "numerals": 0.0, "all": 2 * seed}}
    runs[1].figures["perplexity"]["without_improbable"] = {"count": 1, "numerals": 2.0, "all": 4.0}
    runs[2].figures["perplexity"]["without_improbable"] = {"count": 3, "numerals": 8.0, "all": 4.0}
    (row,) = together({"mog": runs}, None)
    assert (row.figures["number_line"]["zeros"], row.figures["beyond"]["log10_zeros"]) == (2, 1)
    assert row.oracle is not None
    assert row.oracle["nats_above"]["words"] == 1
    assert row.oracle["nats_above"]["all"] == 2
    row.counts["numerals"] = 100
    del row.figures["beyond"]  # all else that its table has
    (note,) = [one for one in result_tables([replace(row, oracle=None)])[0].notes if "make" in one]
    assert note.startswith("mog, mean of 2 of 3 seeds: 2 of 100 numerals")
    assert "without them it is 4.000 on numerals, 4.000 on all" in note


def test_a_figure_that_one_seed_lacks_or_has_nothing_for_is_not_told() -> None:
    first, second = run(0, 1), run(0, 2)
    del second.observed[MDAE], second.figures["number_line"]["mdae"]
    (row,) = together({"mog": [first, second]}, 0.95)
    assert "mdae" not in row.figures["number_line"]
    assert MDAE not in row.against_best
    nothing = by_document(np.empty(0), np.empty(0, dtype=int))
    empty = [
        replace(one, observed={**one.observed, MDAE: nothing}) for one in (run(0, 1), run(0, 2))
    ]
    rows = together({"mog": empty, "other": [run(0.5, 1), run(0.5, 2)]}, 0.95)
    assert [row.is_among_best(MDAE) for row in rows] == [False, True]
    assert "| –" in as_markdown(result_tables(rows)[1:2])


def test_one_seed_is_compared_by_documents() -> None:
    rows = together({"good": [run(0, 1)], "bad": [run(0.5, 1)]}, 0.9)
    assert [row.is_among_best(APP) for row in rows] == [True, False]
    notes = result_tables(rows)[0].notes
    assert not any("±" in note for note in notes)
    assert any("with the best that count documents, p > 0.1," in note for note in notes)


def test_what_figures_are_made_of_is_kept_as_it_was(tmp_path: Path) -> None:
    observed = run(0, 1).observed
    observed["number_line", "mdape"] = observed[MDAE]  # figures of the same numerals
    save_observed(tmp_path, observed, {"weights": "a"})
    found = load_observed(tmp_path, {"weights": "a"})
    assert list(found) == list(observed)
    for path, one in observed.items():
        assert same(found[path], one)
    assert load_observed(tmp_path, {"weights": "b"}) == {}, "of other weights"
    data = bytearray((tmp_path / OBSERVED).read_bytes())
    data[-1] ^= 1
    (tmp_path / OBSERVED).write_bytes(data)
    assert load_observed(tmp_path, {"weights": "a"}) == {}, "spoilt"
    assert load_observed(tmp_path / "gone", {"weights": "a"}) == {}


def same(one: Observed, other: Observed) -> bool:
    arrays = ("values", "sizes", "documents")
    about = ("function", "bounds", "is_median")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in arrays) and all(
        getattr(one, name) == getattr(other, name) for name in about
    )


def test_sums_by_document_are_those_of_the_single_values() -> None:
    found = by_document(np.array([1.0, 2.0, 4.0]), np.array([7, 3, 7]))
    assert found.values.tolist() == [2.0, 5.0]
    assert found.sizes.tolist() == [1.0, 2.0]
    assert found.documents.tolist() == [3, 7]
    assert found.estimate == pytest.approx(7 / 3)
    assert math.isclose(by_document(np.array([1.0, 9.0]), np.zeros(2), is_median=True).estimate, 5)
