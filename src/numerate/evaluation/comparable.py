"""Which evaluations may stand in one table: of the same data and of one vocabulary.

Baselines and the oracle belong to the data. The vocabulary makes the candidates that are ranked and
the set of unknown types that adjusted perplexity charges for: figures of two are of two tasks.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from numerate.evaluation.evaluate import Evaluation
from numerate.places import as_named
from numerate.tables import ResultTable


def comparable(evaluations: Iterable[Evaluation]) -> list[list[Evaluation]]:
    """Groups, in the order of their first; where a vocabulary is not known, it is one like any."""
    groups: dict[object, list[Evaluation]] = {}
    for evaluation in evaluations:
        groups.setdefault((evaluation.dataset, evaluation.vocabulary), []).append(evaluation)
    return list(groups.values())


def of_their_vocabulary(
    tables: Sequence[ResultTable], group: Sequence[Evaluation], groups: Sequence[list[Evaluation]]
) -> list[ResultTable]:
    """Say under each table of a group which runs it has, where others of its data stand apart."""
    vocabulary, dataset = group[0].vocabulary, group[0].dataset
    apart = [other for other in groups if other[0].dataset == dataset]
    if len(apart) == 1 or vocabulary is None:
        return list(tables)
    names = as_named(", ".join(str(evaluation.folder) for evaluation in group))
    note = (
        f"Of the vocabulary of {names}, {vocabulary.size:,} types: other vocabularies have other "
        "candidates and other unknown types, so their runs are not compared with it."
    )
    return [replace(table, notes=(*table.notes, note)) for table in tables]
