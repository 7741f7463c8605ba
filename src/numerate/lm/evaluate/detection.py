"""How well a score tells wrong ones from right ones, with intervals over documents.

Scores are larger the odder. Whatever is estimated from documents is estimated anew from those that
are drawn: the threshold too, which right ones decide.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from numerate.lm.evaluate.bootstrap import Interval, bootstrap_figure, of_rate

FALSE_ALARMS = 0.01
FIRST = 100  # findings whose precision is told
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Quality:
    """How well errors of one kind are told from right numerals."""

    count: int
    auc: Interval  # against the very numerals that the errors replace
    recall: Interval  # at a threshold that 1 % of all right numerals exceed


def area_under_roc(
    right: np.ndarray,
    wrong: np.ndarray,
    right_weights: np.ndarray | None = None,
    wrong_weights: np.ndarray | None = None,
) -> float:
    """P(wrong > right) + ½ P(wrong = right), over all pairs (Mann and Whitney, 1947)."""
    weigh_right = np.ones(len(right)) if right_weights is None else right_weights
    weigh_wrong = np.ones(len(wrong)) if wrong_weights is None else wrong_weights
    order = np.argsort(right, kind="stable")
    ordered = right[order]
    upto = np.concatenate([[0.0], np.cumsum(weigh_right[order])])
    below = upto[np.searchsorted(ordered, wrong, side="left")]
    through = upto[np.searchsorted(ordered, wrong, side="right")]
    pairs = upto[-1] * weigh_wrong.sum()
    return float(((below + through) / 2 * weigh_wrong).sum() / pairs) if pairs else float("nan")


def threshold_of(right: np.ndarray, alarms: float = FALSE_ALARMS) -> float:
    """The least score that at most so large a share of right ones exceeds."""
    return _threshold(np.sort(right)[::-1], np.ones(len(right)), alarms)


def _threshold(descending: np.ndarray, weights: np.ndarray, alarms: float) -> float:
    """Of scores that count so often each; nan where none does."""
    upto = np.cumsum(weights)
    if not len(upto) or not upto[-1]:
        return float("nan")
    first = np.searchsorted(upto, alarms * upto[-1] * (1 + 1e-12), side="right")
    return float(descending[min(first, len(descending) - 1)])


def quality(
    right: np.ndarray,
    wrong: np.ndarray,
    places: np.ndarray,
    documents: np.ndarray,
    *,
    alarms: float = FALSE_ALARMS,
    samples: int = 300,
) -> Quality:
    """`right` [N] of all numerals, `wrong` [E] of errors in the place of `places` [E] of them."""
    owners, instead = documents[places], right[places]
    auc = bootstrap_figure(
        lambda weights: area_under_roc(instead, wrong, weights, weights), owners, samples=samples
    )
    order = np.argsort(-right, kind="stable")
    descending, count = right[order], len(right)

    def recall(weights: np.ndarray) -> float:  # [N + E] of right ones, then of errors
        of_wrong = weights[count:]
        if not of_wrong.any():
            return float("nan")
        return float((wrong > _threshold(descending, weights[:count], alarms)) @ of_wrong) / float(
            of_wrong.sum()
        )

    found = bootstrap_figure(
        recall, np.concatenate([documents[order], owners]), samples=samples, confidence=CONFIDENCE
    )
    count = len(np.unique(owners))
    hits, misses = count * (found.estimate > 0), count * (found.estimate < 1)
    return Quality(len(places), auc, of_rate(found, hits, misses, count, CONFIDENCE))


@dataclass(frozen=True, slots=True)
class Pool:
    """Numerals, of texts or of tables, and the errors of several kinds that may be among them."""

    right: np.ndarray  # [N]
    documents: np.ndarray  # [N]
    wrong: Sequence[np.ndarray]  # of each kind, [E]
    owners: Sequence[np.ndarray]  # documents of these


def precision_of_first(
    pools: Sequence[Pool],
    *,
    rate: float,
    first: int = FIRST,
    samples: int = 200,
    seed: int = 1,
) -> Interval:
    """Among the first findings, were so many numerals of every pool wrong: all its kinds alike.

    The right numerals are all there are, the wrong ones are drawn from all errors, as many as
    there would be; ties are worth what a random order would give. The interval is over documents.
    """
    generator = np.random.default_rng(seed)
    count = max(int(pool.documents.max(initial=-1)) + 1 for pool in pools)

    def once(weights: np.ndarray | None) -> float:
        right, wrong = [np.zeros(0)], [np.zeros(0)]
        for pool in pools:
            right.append(
                pool.right if weights is None else np.repeat(pool.right, weights[pool.documents])
            )
            errors = round(rate / (1 - rate) * len(right[-1]))
            kinds = generator.multinomial(errors, np.full(len(pool.wrong), 1 / len(pool.wrong)))
            for some, owner, size in zip(pool.wrong, pool.owners, kinds, strict=True):
                odds = None if weights is None else weights[owner] / max(weights[owner].sum(), 1)
                if len(some) and (odds is None or odds.any()):
                    wrong.append(generator.choice(some, size, p=odds))
        return precision_at(np.concatenate(right), np.concatenate(wrong), first)

    value = float(np.mean([once(None) for _ in range(samples)]))
    by_documents = [
        once(np.bincount(generator.integers(count, size=count), minlength=count))
        for _ in range(samples)
    ]
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(by_documents, [tail, 1 - tail])
    return Interval(value, float(low), float(high))


def precision_at(right: np.ndarray, wrong: np.ndarray, first: int) -> float:
    """The share of wrong ones among the first, in expectation over the order of equal ones."""
    total = len(right) + len(wrong)
    first = min(first, total)
    if not first:
        return float("nan")
    everything = np.concatenate([right, wrong])
    least = np.partition(everything, total - first)[total - first]
    surely_wrong, surely_right = (wrong > least).sum(), (right > least).sum()
    equal_wrong, equal_right = (wrong == least).sum(), (right == least).sum()
    left = first - surely_wrong - surely_right
    return float((surely_wrong + left * equal_wrong / (equal_wrong + equal_right)) / first)
