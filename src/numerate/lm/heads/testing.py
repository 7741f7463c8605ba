"""The contract of numeral heads as a test that anyone can run on a head of their own.

Examples:
    >>> from numerate.lm.heads import HeadOptions, TrainingNumerals, head_class
    >>> from numerate.lm.heads.testing import check_head
    >>> numerals = TrainingNumerals.of(["1", "2.5", "40", "40"])
    >>> check_head(head_class("mog").fit(numerals, 8, HeadOptions()), 8)
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice, pairwise

import numpy as np
import torch
from torch import Tensor

from numerate.errors import one_line
from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.heads.base import Context, NumeralHead
from numerate.lm.heads.coarse_search import coarse_search

VARIED = (
    *("0", "1", "2", "2.0", "2.00", "7", "12", "0.5", "0.05", "3.14", "99.9", "100", "2000"),
    *("13.37", "0.000001", "1234567890", "999999999999", "9" * 30, "0." + "0" * 30 + "7"),
)
"""Small and large, whole and with decimals: what texts contain."""
ENUMERATED = [f"{n}" for n in range(1000)] + [f"{n // 10}.{n % 10}" for n in range(1000)]
STREAMED, DRAWN = 50, 200
_NUMBERS = np.array([0.0, 0.3, 1.0, 2.0, 2.5, 10.0, 99.0, 1e3, 1e6, 1e12, 1e30])


def check_head(
    head: NumeralHead,
    size: int,
    *,
    context: Context | None = None,
    numerals: Sequence[str] = VARIED,
    everything: Sequence[str] | None = None,
    tolerance: float = 1e-5,
) -> None:
    """Raise AssertionError with one line if a head breaks the contract.

    `size` is that of its states; `context` is where it is asked, by default some places with
    random states. Where a head has all its probability on numerals that can be listed, list them
    as `everything`: they must sum to one. The head itself is left as it was.
    """
    was_training = head.training
    head.eval()
    try:
        places = _places(size) if context is None else context
        _check_tables(head, places, numerals, tolerance)
        _check_sums(head, places, everything, tolerance)
        _check_gradients(head, places, numerals)
        _check_storage(head, size, places, numerals)
        for index in range(min(2, len(places))):
            _check_distribution(head, places[index : index + 1], numerals, tolerance)
    except AssertionError:
        raise
    except Exception as error:  # a head may break in any way
        raise AssertionError(f"{type(error).__name__}: {one_line(error)}") from error
    finally:
        head.train(was_training)


def _places(size: int, count: int = 5) -> Context:
    generator = torch.Generator().manual_seed(1)
    return Context(torch.tanh(torch.randn(count, size, generator=generator)))


def _pairs(head: NumeralHead, places: Context, texts: Sequence[str]) -> Tensor:
    """log p of every numeral in every place, a pair at a time through `log_prob`: [N, C]."""
    table = NumeralTable(texts).to(places.hidden.device)
    rows = torch.arange(len(places)).repeat_interleave(len(texts)).to(places.hidden.device)
    batch = table.batch(np.tile(np.arange(len(texts)), len(places)))
    return head.log_prob(places[rows], batch).view(len(places), len(texts))


def _check_tables(
    head: NumeralHead, places: Context, texts: Sequence[str], tolerance: float
) -> None:
    table = NumeralTable(texts).to(places.hidden.device)
    with torch.no_grad():
        found = head.log_prob_table(places, table).double()
        alone = head.log_prob_table(places[:1], NumeralTable(texts[:1]).to(table.device)).double()
        pairs = _pairs(head, places, texts).double()
    shape = (len(places), len(texts))
    assert found.shape == shape, f"log_prob_table: got shape {tuple(found.shape)}, expected {shape}"
    assert not found.isnan().any(), "log_prob_table: got nan, expected log-probabilities"
    assert (found <= tolerance).all(), f"log_prob_table: got {found.max()}, expected 0 or less"
    _check_pairs(pairs, texts)
    known = torch.from_numpy(head.knows(table)).to(found.device)
    finite = found.isfinite() | ~known
    assert finite.all(), "log_prob_table: not finite of a numeral that the head knows"
    if head.open_vocabulary:
        assert known.all(), "knows: an open head knows every numeral"
    assert torch.allclose(alone[0, 0], found[0, 0], rtol=1e-4, atol=tolerance), (
        "log_prob_table: a candidate alone differs from the same one beside others"
    )
    assert torch.allclose(pairs, found, rtol=1e-4, atol=1e-4), (
        f"log_prob and log_prob_table differ by {_worst(pairs, found):.3g}"
    )


def _check_pairs(pairs: Tensor, texts: Sequence[str]) -> None:
    spoilt = pairs.isnan().any(0).nonzero()
    assert not len(spoilt), f"log_prob: got nan of {texts[int(spoilt[0])]!r}"


def _worst(one: Tensor, other: Tensor) -> float:
    difference = (one - other).abs()
    return float(difference[difference.isfinite()].max())


def _check_sums(
    head: NumeralHead, places: Context, everything: Sequence[str] | None, tolerance: float
) -> None:
    table = NumeralTable(list(everything or ENUMERATED)).to(places.hidden.device)
    with torch.no_grad():
        found = head.log_prob_table(places, table).double()
    known = torch.from_numpy(head.knows(table)).to(found.device)
    if not known.all():  # all unknown numerals stand for one event
        found = torch.cat([found[:, known], found[:, ~known][:, :1]], dim=1)
    totals = found.exp().sum(1)
    assert (totals <= 1 + len(table) * tolerance).all(), (
        f"distinct numerals have the probability {float(totals.max()):.6f}, expected at most 1"
    )
    searched = coarse_search(head, places[:1]).singles
    assert searched <= 1 + 1e-3, (
        f"the likeliest numerals have the probability {searched:.6f}, expected at most 1"
    )
    if everything is not None:
        assert torch.allclose(totals, torch.ones_like(totals), atol=1e-3), (
            f"all numerals have the probability {totals.tolist()}, expected 1"
        )


def _check_gradients(head: NumeralHead, places: Context, texts: Sequence[str]) -> None:
    """Through `log_prob`, of every numeral: what does not depend on the weights needs none."""
    hidden = places.hidden.detach().clone().requires_grad_()
    table = NumeralTable(texts).to(hidden.device)
    rows = torch.arange(len(texts), device=hidden.device) % len(places)
    log_probs = head.log_prob(replace(places, hidden=hidden)[rows], table.all())
    if not log_probs.requires_grad:
        assert not head.sees_states, "gradients: log_prob does not depend on the states"
        return
    known = torch.from_numpy(head.knows(table)).to(hidden.device) & log_probs.isfinite()
    inputs = [hidden, *(weight for weight in head.parameters() if weight.requires_grad)]
    found = torch.autograd.grad(log_probs[known].sum(), inputs, allow_unused=True)
    wrong = [g for g in found if g is not None and not g.isfinite().all()]
    assert not wrong, "gradients: got some that are not finite"
    if head.sees_states:
        assert found[0] is not None, "gradients: got none of the states"


def _check_storage(head: NumeralHead, size: int, places: Context, texts: Sequence[str]) -> None:
    config = json.loads(json.dumps(head.config()))
    with torch.device("meta"):  # as a stored head is first made, to see whether weights fit
        type(head).from_config(size, config)
    again = type(head).from_config(size, config).to(places.hidden.device).eval()
    again.load_state_dict(head.state_dict())
    assert again.config() == head.config(), "config: another one of the head that was made of it"
    table = NumeralTable(texts).to(places.hidden.device)
    with torch.no_grad():
        same = torch.equal(head.log_prob_table(places, table), again.log_prob_table(places, table))
    assert same, "from_config and load_state_dict: the head that was stored is another one"


def _check_distribution(
    head: NumeralHead, place: Context, texts: Sequence[str], tolerance: float
) -> None:
    found = head.next_numeral(place)
    assert 0 <= found.total <= 1 + 1e-6, f"next_numeral: total {found.total}, expected 0 to 1"
    streamed = list(islice(found.stream(), STREAMED))
    log_probs = [log_prob for _, log_prob in streamed]
    assert all(a >= b - tolerance for a, b in pairwise(log_probs)), (
        "stream: not sorted, expected the most probable numeral first"
    )
    assert len({text for text, _ in streamed}) == len(streamed), "stream: a numeral comes twice"
    if streamed:
        table = NumeralTable([text for text, _ in streamed]).to(place.hidden.device)
        with torch.no_grad():
            scored = head.log_prob_table(place, table)[0].double().cpu().numpy()
        assert np.allclose(scored, log_probs, rtol=1e-3, atol=1e-3), (
            "stream: other probabilities than those of log_prob_table"
        )
    masses = found.mass_up_to(_NUMBERS)
    assert (np.diff(masses) >= -1e-9).all(), "cdf: falls, expected it to rise with the number"
    assert masses[-1] <= found.total + 1e-6, "cdf: above the probability of all numerals"
    drawn = found.draw(DRAWN, np.random.default_rng(0))
    assert len(drawn) <= DRAWN, f"draw: got {len(drawn)} numerals, expected {DRAWN} at most"
    NumeralTable(drawn)  # all of them are numerals
