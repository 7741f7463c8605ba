"""Whether two runs differ: on the same tokens and numerals, document by document."""

import numpy as np

from numerate.errors import RunError
from numerate.evaluation.bootstrap import PairedResult, paired_test
from numerate.evaluation.evaluate import Evaluation, token_classes


def compare(first: Evaluation, second: Evaluation, confidence: float) -> dict[str, PairedResult]:
    """First minus second, with a paired test: log p' by class of tokens, then errors of numbers."""
    if (first.dataset, first.split) != (second.dataset, second.split):
        raise RunError(f"{first.folder} and {second.folder}: evaluated on different data")

    def test(one: np.ndarray, other: np.ndarray, documents: np.ndarray) -> PairedResult:
        return paired_test(one, other, documents, confidence=confidence)

    results = {
        name: test(first.adjusted[members], second.adjusted[members], first.documents[members])
        for name, members in token_classes(first.targets).items()
    }
    documents = first.documents[first.targets.is_numeral]
    for name, one in first.by_numeral.items():
        if name in second.by_numeral:
            known = ~np.isnan(one)  # a true zero has no percentage error, whoever predicts it
            results[name] = test(one[known], second.by_numeral[name][known], documents[known])
    return results
