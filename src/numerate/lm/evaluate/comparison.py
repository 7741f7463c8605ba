"""Whether two runs differ: on the same tokens and numerals, document by document."""

import numpy as np

from numerate.errors import RunError
from numerate.lm.evaluate.bootstrap import PairedResult, holm, paired_median_test, paired_test
from numerate.lm.evaluate.evaluate import Evaluation
from numerate.lm.evaluate.figures import token_classes


def compare(first: Evaluation, second: Evaluation, confidence: float) -> dict[str, PairedResult]:
    """First minus second, with a paired test: log p' by class of tokens, then errors of numbers.

    All are one family: p-values are also corrected for their number.
    """
    if (first.dataset, first.split) != (second.dataset, second.split):
        raise RunError(
            f"{first.folder} and {second.folder}: of different data or splits, expected the same: "
            "--dataset names one for both"
        )
    if first.vocabulary != second.vocabulary:
        raise RunError(f"{first.folder} and {second.folder}: different vocabularies")

    results = {
        name: paired_test(
            first.adjusted[members],
            second.adjusted[members],
            first.documents[members],
            confidence=confidence,
        )
        for name, members in token_classes(first.targets).items()
    }
    documents = first.documents[first.targets.is_numeral]
    for kind, test in (("mean", paired_test), ("median", paired_median_test)):
        others = second.by_numeral.get(kind, {})  # of a remembered run none are known
        for name, one in first.by_numeral.get(kind, {}).items():
            if name in others:
                known = ~np.isnan(one)  # a true zero has no percentage error, whoever predicts it
                pair = one[known], others[name][known]
                results[name] = test(*pair, documents[known], confidence=confidence)
    return holm(results)
