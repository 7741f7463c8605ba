"""Perplexity and adjusted perplexity; the only home of the unknown-class adjustment.

A closed vocabulary gives all unknown tokens of a class one symbol, and a model is right about
every one of them by predicting that symbol: perplexity rewards a small vocabulary. The adjusted
perplexity (Ueberla, 1994) is the perplexity of a model that spreads the probability of the
symbol evenly over the types it stands for,

    p'(s) = p(s) / |OOV_c|   if s is an unknown token of class c,
    p'(s) = p(s)             otherwise,

so that an unknown token costs ln |OOV_c| more, once, in its own class. The costs depend on the
data and the vocabulary alone: models that share both share the ratio APP/PP on each class.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from numerate.errors import NumerateError

Floats = NDArray[np.float64]

IMPROBABLE = 1e-20  # of a numeral: as if twenty digits had been drawn blindly
TELLING = 1.1  # times the perplexity without such numerals: then a reader has to know of them


def proper(log_probs: Floats) -> Floats:
    """The same, if they may be log-probabilities: what is no number would pass every threshold."""
    if np.isnan(log_probs).any() or np.isposinf(log_probs).any():
        raise NumerateError("the model's probabilities are not numbers: its weights are spoilt")
    return log_probs


def perplexity(nats: float) -> float:
    """PP = exp(H), H the mean cost of a token in nats; inf where float64 ends."""
    with np.errstate(over="ignore"):
        return float(np.exp(nats))


def adjusted_log_probs(
    log_probs: ArrayLike,
    is_numeral: ArrayLike,
    is_unknown: ArrayLike,
    oov_words: int,
    oov_numerals: int,
    *,
    open_vocabulary: bool,
) -> Floats:
    """ln p'(s_t) of every token, from ln p(s_t) and the sizes of the two OOV sets; all are [T].

    `open_vocabulary` says that the numeral head has no unknown symbol: then p(s_t) is already
    the probability of the numeral itself, and numerals are left as they are.
    """
    adjusted = proper(np.array(log_probs, dtype=np.float64))
    numeral = np.asarray(is_numeral, dtype=bool)
    unknown = np.asarray(is_unknown, dtype=bool)
    if not adjusted.shape == numeral.shape == unknown.shape or adjusted.ndim != 1:
        raise ValueError(
            "log_probs, is_numeral, is_unknown: "
            f"got shapes {adjusted.shape}, {numeral.shape}, {unknown.shape}, expected one [T]"
        )
    _charge(adjusted, unknown & ~numeral, oov_words, "oov_words")
    if not open_vocabulary:
        _charge(adjusted, unknown & numeral, oov_numerals, "oov_numerals")
    return adjusted


def numeral_shares(known: ArrayLike, oov_numerals: int, *, open_vocabulary: bool) -> Floats:
    """What to add to ln p of each numeral for ln p': a closed head knows no single unknown one.

    `known` [C] are ids in the vocabulary, 0 for the unknown, each of which has an even part.
    """
    ids = np.asarray(known)
    numerals = np.ones(len(ids), dtype=bool)
    return adjusted_log_probs(
        np.zeros(len(ids)),
        numerals,
        ids == 0,
        oov_words=1,
        oov_numerals=max(1, oov_numerals),
        open_vocabulary=open_vocabulary,
    )


def without_improbable(log_probs: Floats, is_numeral: NDArray[np.bool_]) -> dict[str, float] | None:
    """Where next to impossible numerals make a perplexity: how many, and what it is without them.

    The perplexities are of the remaining numerals and of all remaining tokens; both arguments [T].
    None where they make no difference that tells.
    """
    improbable = is_numeral & (log_probs < np.log(IMPROBABLE))
    others = is_numeral & ~improbable
    if not improbable.any() or not others.any():
        return None
    if log_probs[others].mean() - log_probs[is_numeral].mean() < np.log(TELLING):
        return None
    return {
        "count": int(improbable.sum()),
        "numerals": _mean_perplexity(log_probs[others]),
        "all": _mean_perplexity(log_probs[~improbable]),
    }


def _charge(log_probs: Floats, unknown: NDArray[np.bool_], oov: int, name: str) -> None:
    """Take ln |OOV| from the unknown tokens, in place."""
    if not unknown.any():
        return
    if oov < 1:
        raise ValueError(
            f"{name}: got {oov} types for {unknown.sum()} unknown tokens, expected 1 or more"
        )
    log_probs[unknown] -= np.log(oov)


def _mean_perplexity(log_probs: Floats) -> float:
    return perplexity(-float(np.mean(log_probs))) if log_probs.size else float("nan")
