"""Did the digit RNN learn how digits are distributed? Its significant digits beside the data's."""

from collections.abc import Sequence

import numpy as np

from numerate.lm.heads.digit_rnn import DigitRNNHead
from numerate.lm.inspect.digit_laws import DigitShares
from numerate.lm.inspect.digit_mass import DigitMass, digit_mass
from numerate.lm.inspect.exhibit import Exhibit
from numerate.lm.inspect.inspected_run import Run
from numerate.lm.inspect.significant_digits import significant_digit_shares

MOST_CONTEXTS = 500  # more of the dev split are thinned out evenly


def learnt_digits(runs: Sequence[Run]) -> Exhibit:
    """First, second and third significant digits of the dev numerals and under each d-rnn.

    The model's are averages of its own probabilities over contexts of the dev numerals, not of
    samples, and of numerals alone: strings that are none are counted apart.
    """
    run = runs[0]
    numerals, counts = np.unique(run.shared.dev.rows, return_counts=True)
    texts = [run.shared.dev.table.texts[row] for row in numerals]
    counted = [DigitShares.of("dev numerals", dict(zip(texts, counts.tolist(), strict=True)))]
    notes = [f"Of {run.shared.extent}."]
    for run in runs:
        for head in run.heads_of(DigitRNNHead).values():
            if head is not run.model.head:
                continue
            places = np.arange(len(run.shared.dev.rows))
            if len(places) > MOST_CONTEXTS:
                places = np.linspace(0, len(places) - 1, MOST_CONTEXTS).round().astype(np.int64)
            mass = digit_mass(head, run.dev_states[places])
            counted.append(DigitShares(run.label, mass.digits, 1.0, of_model=True))
            notes.append(_note(run.label, mass))
    return significant_digit_shares(counted, notes=" ".join(notes))


def _note(label: str, mass: DigitMass) -> str:
    zero, one, two = (f"{100 * share:.1f} %" for share in mass.ended)
    return (
        f"Under {label}, over {mass.contexts:,} dev contexts, {zero} of the probability is on "
        f"zero, {one} and {two} on numerals of one and two significant digits, and "
        f"{100 * mass.malformed:.2g} % on strings that are no numerals. Beginnings that share the "
        f"last {100 * mass.undecided:.2g} % were not followed: no share is further off."
    )
