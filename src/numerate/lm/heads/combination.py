"""Several strategies at once, each with a weight that depends on the context."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from numerate.errors import NumerateError
from numerate.lm.data.numeral_table import NumeralBatch, NumeralTable
from numerate.lm.heads.base import (
    Config,
    Context,
    HeadOptions,
    NextNumeral,
    NumeralHead,
    TrainingNumerals,
    log_prob_row,
)
from numerate.lm.heads.blend import Blend
from numerate.lm.heads.registry import head_class, usual_members
from numerate.text.seen_numbers import Source


class CombinationHead(NumeralHead):
    """A softmax-gated mixture of any heads. Only the members that exist have a weight.

    While it is trained, every member learns from every numeral as if it were alone, unless `plain`.
    """

    summary = (
        "Several of these together, with mixture weights that depend on the context: any numeral "
        "can be written."
    )
    paper_row: ClassVar[int | None] = 7
    style = ("pink", "-")

    def __init__(self, size: int, members: Mapping[str, NumeralHead]) -> None:
        super().__init__()
        got = f"members: got {', '.join(members) or 'none'}"
        if not any(member.open_vocabulary for member in members.values()):
            raise NumerateError(f"{got}, expected one at least that can write any numeral")
        if sum(member.uses_digits for member in members.values()) > 1:
            raise NumerateError(f"{got}, expected one at most with a language model's digits")
        self.members = nn.ModuleDict(members)
        self.plain = False  # trained by the likelihood of the mixture and nothing else
        self.weights = nn.Parameter(torch.zeros(len(members), size))  # Aᵀ

    @classmethod
    def fit(cls, data: TrainingNumerals, size: int, options: HeadOptions) -> Self:
        """Of the members that the options name, or of the usual ones."""
        names = options.members or cls.usual(with_digits=data.state_size is not None)
        for name in names:
            kind = head_class(name)
            if kind.flat or issubclass(kind, CombinationHead) or names.count(name) > 1:
                raise NumerateError(
                    f"members: got {', '.join(names)}; {name!r} cannot be one of them"
                    + (" twice" if names.count(name) > 1 else "")
                )
        fitted = {name: head_class(name).fit_member(data, size, options) for name in names}
        return cls(size, {name: head for name, head in fitted.items() if head is not None})

    @classmethod
    def usual(cls, *, with_digits: bool) -> tuple[str, ...]:
        """The members, where none are named."""
        return usual_members(with_digits=with_digits)

    def config(self) -> Config:
        return {"members": {name: head.config() for name, head in self.members_by_name().items()}}

    @classmethod
    def from_config(cls, size: int, config: Config) -> Self:
        members = config["members"]
        return cls(size, {n: head_class(n).from_config(size, c) for n, c in members.items()})

    def log_weights(self, hidden: Tensor, evidence: Tensor | None = None) -> Tensor:  # [N, M]
        scores = hidden @ self.weights.T
        return F.log_softmax(scores if evidence is None else scores + evidence, dim=1)

    def evidence(self, context: Context) -> Tensor | None:
        """What speaks for each member beside the states: [N, M]; None: nothing for any."""
        found = [member.log_evidence(context) for member in self._heads()]
        if all(part is None for part in found):
            return None
        nothing = context.hidden.new_zeros(len(context))
        return torch.stack([nothing if part is None else part for part in found], dim=1)

    def mixture_weights(self, context: Context) -> Tensor:
        return self.log_weights(context.hidden, self.evidence(context)).exp()

    def log_prob(self, context: Context, numerals: NumeralBatch) -> Tensor:
        if self.plain or not self.training:
            members = self.log_prob_by_member(context, numerals)
            return self.mix(context.hidden, members, self.evidence(context))
        # States are shared with the words: with all of the members' gradient, numerals gain more,
        # and words lose 2 %; with half, words lose nothing to speak of (docs/experiments.md).
        halved = replace(context, hidden=context.hidden / 2 + (context.hidden / 2).detach())
        members = self.log_prob_by_member(halved, numerals)
        return self.teach(self.mix(context.hidden, members, self.evidence(halved)), members)

    def teach(self, mixed: Tensor, alone: Tensor) -> Tensor:
        """The same values [N], from which those that said `alone` [N, M] learn too.

        In a mixture a member learns from a numeral by its part of it. Who starts slowly, or
        beside one that knows much already, would never learn; so each also gets the gradient it
        would have by itself. What a closed member does not know teaches it nothing.
        """
        known = torch.where(alone.isfinite(), alone, 0.0).sum(1)
        return mixed + (known - known.detach())

    def log_prob_by_member(self, context: Context, numerals: NumeralBatch) -> Tensor:
        """Of every member by itself, −inf where a closed one does not know a numeral: [N, M]."""
        scores = [member.log_prob(context, numerals) for member in self._heads()]
        return torch.stack(scores, dim=1)

    def mix(self, hidden: Tensor, members: Tensor, evidence: Tensor | None = None) -> Tensor:
        """By their weights: [N, M] → [N]. A member's −inf has no part, and no gradient."""
        return torch.logsumexp(self.log_weights(hidden, evidence) + members, dim=1)

    def log_prob_table(self, context: Context, candidates: NumeralTable) -> Tensor:
        scores = [member.log_prob_table(context, candidates) for member in self._heads()]
        weights = self.log_weights(context.hidden, self.evidence(context))[:, None, :]  # [N, 1, M]
        return torch.logsumexp(weights + torch.stack(scores, dim=2), dim=2)

    def next_numeral(self, context: Context) -> NextNumeral:
        with torch.no_grad():
            weights = self.mixture_weights(context)[0].double().cpu().numpy()
        speaking = weights != 0  # what is no number is told of by those who then speak
        heads = [head for head, speaks in zip(self._heads(), speaking, strict=True) if speaks]
        members = [head.next_numeral(context) for head in heads]
        return Blend(weights[speaking], members, lambda texts: log_prob_row(self, context, texts))

    def sources(self, context: Context) -> list[Source]:
        with torch.no_grad():
            weights = self.mixture_weights(context)[0].tolist()
        found = [
            replace(source, probability=weight * source.probability)
            for member, weight in zip(self._heads(), weights, strict=True)
            if weight > 0
            for source in member.sources(context)
        ]
        return sorted(found, key=lambda source: -source.probability)

    def beside_digits(
        self, context: Context, candidates: NumeralTable
    ) -> tuple[Tensor, Tensor] | None:
        weights = self.log_weights(context.hidden, self.evidence(context)).double()
        rest = weights.new_zeros(len(context), len(candidates))
        of_digits: Tensor | None = None
        for index, member in enumerate(self._heads()):
            if member.uses_digits:
                of_digits = weights[:, index].exp()
            else:
                log_probs = member.log_prob_table(context, candidates).double()
                rest += (weights[:, index, None] + log_probs).exp()
        return None if of_digits is None else (of_digits, rest)

    def members_by_name(self) -> dict[str, NumeralHead]:
        return dict(self.members.items())  # type: ignore[arg-type]

    @property
    def uses_sight(self) -> bool:
        return any(member.uses_sight for member in self._heads())

    @property
    def uses_digits(self) -> bool:
        return any(member.uses_digits for member in self._heads())

    def digit_adapter(self) -> Any:
        found = (member.digit_adapter() for member in self._heads())
        return next((adapter for adapter in found if adapter is not None), None)

    def start_from_vectors(self, numerals: Mapping[str, np.ndarray]) -> None:
        for member in self._heads():
            member.start_from_vectors(numerals)

    def _heads(self) -> list[NumeralHead]:
        return list(self.members_by_name().values())
