"""As `nn.Dropout`: the same share dropped, the same mean, independent of one another."""

import pytest
import torch
from scipy.stats import chisquare

from numerate.lm.heads.dropout import ByteDropout


@pytest.mark.parametrize("rate", [0.1, 0.3, 0.5])
def test_the_share_that_is_dropped(rate: float) -> None:
    torch.manual_seed(1)
    dropped = ByteDropout(rate).train()(torch.ones(1001, 999)) == 0
    expected = round(256 * rate) / 256
    assert abs(expected - rate) < 1 / 512
    assert float(dropped.float().mean()) == pytest.approx(expected, abs=0.002)
    # Eight neighbours come from one draw: whichever the place, and together with the next one.
    rows = dropped.flatten()[: 8 * 10**5].view(-1, 8).float()
    torch.testing.assert_close(rows.mean(0), torch.full((8,), expected), atol=0.006, rtol=0)
    pairs = 2 * rows[:, :-1] + rows[:, 1:]
    counts = torch.bincount(pairs[:, ::2].flatten().long(), minlength=4).numpy()
    shares = [(1 - expected) ** 2, expected * (1 - expected)] * 2
    shares[2:] = [expected * (1 - expected), expected**2]
    assert chisquare(counts, [share * counts.sum() for share in shares]).pvalue > 1e-4


def test_what_is_kept_is_scaled_and_has_the_gradient() -> None:
    torch.manual_seed(1)
    values = torch.full((64, 33), 2.0, requires_grad=True)
    found = ByteDropout(0.5).train()(values)
    assert found.dtype == values.dtype
    assert set(found.detach().unique().tolist()) == {0.0, 4.0}
    found.sum().backward()
    assert values.grad is not None
    torch.testing.assert_close(values.grad, found.detach() / 2)


def test_nothing_is_dropped_in_evaluation_or_at_rate_zero() -> None:
    values = torch.randn(5, 7)
    assert ByteDropout(0.5).eval()(values) is values
    assert ByteDropout(0.0).train()(values) is values


def test_something_is_kept_at_any_rate_below_one() -> None:
    torch.manual_seed(1)
    found = ByteDropout(0.999).train()(torch.ones(100, 100))
    assert set(found.unique().tolist()) == {0.0, 256.0}


def test_seeds_decide() -> None:
    layer, values = ByteDropout(0.5).train(), torch.ones(9, 9)
    torch.manual_seed(3)
    first = layer(values)
    torch.manual_seed(3)
    assert torch.equal(layer(values), first)
    assert not torch.equal(layer(values), first)
