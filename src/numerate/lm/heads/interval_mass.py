"""Gaussian mass of an interval, in log space, without underflow or cancellation.

A numeral of precision r stands for the interval `v ± ε`, `ε = 0.5·10^-r`. Its probability
under a component is a difference of two values of Φ. Taken literally that difference is 0 in
either tail and wherever the interval is much narrower than the component, its logarithm -inf.
Here each case is written so that nothing cancels and nothing underflows.

With `z = |v-μ|/σ` (the density is even), `w = ε/σ`, `a = z-w`, `b = z+w`, φ and Q the standard
normal density and upper tail, the mass is `Q(a) - Q(b)`, computed as

    narrow    w < 1/4 and zw < 1/16    φ(z) · 2w · ∫₀¹ cosh(zwt) exp(-w²t²/2) dt
    central   a ≤ 0                    1 - [Q(|a|) + Q(b)]
    tail      a > 0                    Q(a) · [1 - Q(b)/Q(a)],   Q(b)/Q(a) ≤ exp(-2zw)

where the bracket of the tail is at least 0.1, that of the centre at most 0.81, and the integrand
of the narrow case is so nearly constant that six-point Gauss–Legendre quadrature is exact.
"""

import math

import numpy as np
import torch
from torch import Tensor

FARTHEST = 1e154
"""Distances in standard deviations are cut here: the least log mass is about -5e307, not -inf."""

NARROW_W, NARROW_ZW = 1 / 4, 1 / 16
"""Below both, the density hardly changes over the interval; see the table above."""

BLOCK = 2**20
"""Masses computed at a time: some twenty temporaries of this size are alive at once."""

_SQRT_HALF = math.sqrt(0.5)
_LOG_SQRT_TWO_PI = 0.5 * math.log(2.0 * math.pi)
_NODES, _NODE_WEIGHTS = (half[3:].tolist() for half in np.polynomial.legendre.leggauss(6))


def log_interval_mass(centre: Tensor, half_width: Tensor, mean: Tensor, sd: Tensor) -> Tensor:
    """Log mass of `centre ± half_width` under Normal(mean, sd), in float64, inputs broadcast.

    Typically a column of T intervals against a row of K components, in blocks of rows.

    Finite for all finite inputs with positive `half_width` and `sd`, and accurate to
    1e-12 relative to the logarithm itself as long as `centre - mean` does not overflow and
    z stays below `FARTHEST`.
    """
    arguments = [x.double() for x in (centre, half_width, mean, sd)]
    shape = np.broadcast_shapes(*(x.shape for x in arguments))  # [T, K]
    if math.prod(shape) <= BLOCK:
        return _log_block_mass(*arguments)
    whole = [x.expand(shape) for x in arguments]
    rows = max(1, BLOCK // math.prod(shape[1:]))
    blocks = ([x[start : start + rows] for x in whole] for start in range(0, shape[0], rows))
    return torch.cat([_log_block_mass(*block) for block in blocks])


def log_upper_mass(lower: Tensor, mean: Tensor, sd: Tensor) -> Tensor:
    """Log mass above `lower` under Normal(mean, sd), in float64, inputs broadcast.

    Numerals of precision r tile the line from `-ε` upwards, so `lower = -ε` gives the total mass
    of the non-negative ones, which a truncated mixture divides by.
    """
    x = ((lower.double() - mean.double()) / sd.double()).clamp_(-FARTHEST, FARTHEST)
    scaled = _scaled_upper_tail(x.abs())
    log_tail = -0.5 * x.square()
    return torch.where(x > 0, log_tail + scaled.log(), torch.log1p(-log_tail.exp() * scaled))


def _log_block_mass(centre: Tensor, half_width: Tensor, mean: Tensor, sd: Tensor) -> Tensor:
    distance, lost = _exact_distance(centre, mean)  # [T, K]
    # Not z - w: where both are huge, their rounding errors would exceed the difference.
    a = (((distance - half_width) + lost) / sd).clamp_(-FARTHEST, FARTHEST)
    z = (distance / sd).clamp_(max=FARTHEST)
    w = (half_width / sd).clamp_(max=FARTHEST)
    zw = z * w
    log_width = math.log(2.0) + half_width.log() - sd.log()  # as w itself may underflow
    is_narrow = (w < NARROW_W) & (zw < NARROW_ZW)
    # What is not used is cut to what has a finite gradient: of 1 ± 1.
    wide = _log_wide_mass(
        torch.where(is_narrow, 0.0, a),
        torch.where(is_narrow, 2.0, z + w),
        torch.where(is_narrow, 1.0, zw),
    )
    return torch.where(is_narrow, _log_narrow_mass(z, w, zw, log_width), wide)


def _log_narrow_mass(z: Tensor, w: Tensor, zw: Tensor, log_width: Tensor) -> Tensor:
    """The narrow case; arguments are cut to it, as other values are not used."""
    zw, half_square = zw.clamp(max=NARROW_ZW), 0.5 * w.clamp(max=NARROW_W).square()
    integral = torch.zeros_like(zw)
    for node, weight in zip(_NODES, _NODE_WEIGHTS, strict=True):
        integral += torch.cosh(node * zw) * torch.exp(-(node**2) * half_square) * weight
    return integral.log() + log_width - 0.5 * z.square() - _LOG_SQRT_TWO_PI


def _log_wide_mass(a: Tensor, b: Tensor, zw: Tensor) -> Tensor:
    """The central and tail cases; `zw = (b² - a²)/4` is given as it would cancel here."""
    scaled_a, scaled_b = _scaled_upper_tail(a.abs()), _scaled_upper_tail(b)
    log_tail = -0.5 * a.square()
    beyond = log_tail.exp() * scaled_a + torch.exp(-0.5 * b.square()) * scaled_b
    ratio = torch.exp(-2.0 * zw) * (scaled_b / scaled_a)
    # One logarithm for both cases: log1p of minus what is missing.
    log_rest = torch.log1p(-torch.where(a > 0, ratio, beyond))
    return torch.where(a > 0, log_tail + scaled_a.log() + log_rest, log_rest)


def _scaled_upper_tail(x: Tensor) -> Tensor:
    """`Q(x)·exp(x²/2)` for x ≥ 0: the upper tail without the factor that underflows."""
    scaled: Tensor = torch.special.erfcx(x * _SQRT_HALF)
    return 0.5 * scaled


def _exact_distance(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """`|x - y|` as a rounded part, cut to the finite range, and what it lacks (Knuth's TwoSum)."""
    rounded = x - y
    minus_y = rounded - x
    lost = (x - (rounded - minus_y)) - (y + minus_y)
    lost = torch.where(rounded < 0, -lost, lost).nan_to_num_(0.0, 0.0, 0.0)
    return rounded.abs().clamp_(max=torch.finfo(torch.float64).max), lost
