"""Ways to put a distribution on numerals: the contract, and the heads that packages register.

A head is an `nn.Module` that is given the `Context` of N places, and says how probable numerals are
there. `head_names` lists all that are registered, ours and those of other packages; `head_class`
gives one by its name, whose `fit` makes a head for states of some size.

Examples:
    >>> import torch
    >>> from numerate.lm import heads
    >>> heads.head_names()
    ('bins', 'combination', ...)
    >>> numerals = heads.TrainingNumerals.of(["54", "55", "61.5", "60"])
    >>> head = heads.head_class("mog").fit(numerals, 8, heads.HeadOptions())
    >>> context = heads.Context(torch.zeros(2, 8))
    >>> head.log_prob_table(context, numerals.table).shape
    torch.Size([2, 4])
"""

from typing import TYPE_CHECKING

from numerate.lazy import lazily
from numerate.lm.heads.registry import head_class, head_names

if TYPE_CHECKING:
    from numerate.lm.heads.base import Context, HeadOptions, NumeralHead, TrainingNumerals

__all__ = [
    "Context",
    "HeadOptions",
    "NumeralHead",
    "TrainingNumerals",
    "head_class",
    "head_names",
]

__getattr__, __dir__ = lazily(
    "numerate.lm.heads",
    dict.fromkeys(
        ("Context", "HeadOptions", "NumeralHead", "TrainingNumerals"), "numerate.lm.heads.base"
    ),
)
