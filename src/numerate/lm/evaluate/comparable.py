"""Evaluations in tables: one table for each dataset and vocabulary, and notes on what else differs.

Baselines and the oracle belong to the data. The vocabulary makes the candidates that are ranked and
the set of unknown types that adjusted perplexity charges for: figures of two are of two tasks.
Batch size and epochs decide how much a model learns, so runs that differ in them share a table with
a note. Seeds, sizes and learning rates do not: what is compared may lie in them.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from numerate.errors import listed
from numerate.lm.evaluate.evaluate import Evaluation
from numerate.places import as_named
from numerate.reports.tables import ResultTable


def comparable(evaluations: Iterable[Evaluation]) -> list[list[Evaluation]]:
    """Return groups in the order of their first; an unknown vocabulary counts as one."""
    groups: dict[object, list[Evaluation]] = {}
    for evaluation in evaluations:
        groups.setdefault((evaluation.dataset, evaluation.vocabulary), []).append(evaluation)
    return list(groups.values())


def comparable_tables(
    evaluations: Sequence[Evaluation], make: Callable[[list[Evaluation]], list[ResultTable]]
) -> list[ResultTable]:
    """Make the tables of each group, with a note under each on how runs of its data differ."""
    tables = []
    groups, known = comparable(evaluations), differences(evaluations)
    for group in groups:
        dataset, vocabulary = group[0].dataset, group[0].vocabulary
        notes = [known[dataset]] if dataset in known else []
        if vocabulary is not None and sum(other[0].dataset == dataset for other in groups) > 1:
            names = as_named(", ".join(str(evaluation.folder) for evaluation in group))
            notes.append(
                f"Vocabulary of this table: {vocabulary.size:,} types, of {names}. Others have "
                "other candidates and other unknown types, so their runs have their own tables."
            )
        tables += noted(make(group), notes)
    return tables


def noted(tables: Iterable[ResultTable], notes: Iterable[str]) -> list[ResultTable]:
    """Put a line under each table."""
    line = " ".join(notes)
    return [replace(table, notes=(*table.notes, line)) if line else table for table in tables]


def differences(evaluations: Iterable[Evaluation]) -> dict[str, str]:
    """Say of each dataset, in a sentence, how the settings of its runs differ, as far as known."""
    values: dict[str, dict[str, dict[object, str]]] = {}
    for evaluation in evaluations:
        for name, value, shown in _settings(evaluation):
            values.setdefault(evaluation.dataset, {}).setdefault(name, {})[value] = shown
    found = {}
    for dataset, settings in values.items():
        differing = [
            f"{name} ({'; '.join(known.values())})"
            for name, known in settings.items()
            if len(known) > 1
        ]
        if differing:
            found[dataset] = f"Runs differ in {listed(differing)}."
    return found


def _settings(evaluation: Evaluation) -> Iterator[tuple[str, object, str]]:
    """Yield name, value and text of each setting that is known; epochs as they were asked for."""
    if evaluation.vocabulary is not None:
        yield "vocabulary", evaluation.vocabulary, f"{evaluation.vocabulary.size:,}"
    for name in ("batch_size", "epochs"):
        value = evaluation.training.get(name)
        if value is not None:
            yield (
                name.replace("_", " "),
                value,
                f"{value:,}" if isinstance(value, int) else str(value),
            )
