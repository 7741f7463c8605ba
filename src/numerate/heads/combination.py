"""Several strategies at once, each with a share that depends on the context."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from numerate.heads.base import NumeralHead
from numerate.numeral_table import NumeralBatch, NumeralTable


class CombinationHead(NumeralHead):
    """A softmax-gated mixture of heads. Only the members that exist have a share.

    A `given` member is not a head: the caller brings its log-probabilities. While it is trained,
    every member learns from every numeral as if it were alone, unless `plain`.
    """

    def __init__(
        self, size: int, members: dict[str, NumeralHead], given: tuple[str, ...] = ()
    ) -> None:
        super().__init__()
        if not given and not any(member.open_vocabulary for member in members.values()):
            raise ValueError("a combination needs a member with an open vocabulary: got none")
        self.open_vocabulary = True
        self.members = nn.ModuleDict(members)
        self.given = given
        self.plain = False  # trained by the likelihood of the mixture and nothing else
        self.weights = nn.Parameter(torch.zeros(len(members) + len(given), size))  # Aᵀ

    @property
    def names(self) -> tuple[str, ...]:
        """The members in the order of their shares."""
        return (*self.members, *self.given)

    def log_weights(self, hidden: Tensor) -> Tensor:  # [N, M]
        return F.log_softmax(hidden @ self.weights.T, dim=1)

    def log_prob(self, hidden: Tensor, numerals: NumeralBatch, *given: Tensor) -> Tensor:
        members = self.log_prob_of_each(self.halve_gradient(hidden), numerals, *given)
        mixed = self.mix(hidden, members)
        return self.teach(mixed, members[:, : len(self.members)])

    def halve_gradient(self, hidden: Tensor) -> Tensor:
        """The same states, to which members that also learn alone give half of what they would.

        States are shared with the words: with all of it, numerals gain more, and words lose 2 %;
        with half, words lose nothing to speak of. docs/results.md has the figures.
        """
        if self.plain or not self.training:
            return hidden
        return hidden / 2 + (hidden / 2).detach()

    def teach(self, mixed: Tensor, alone: Tensor) -> Tensor:
        """The same values [N], from which those that said `alone` [N, K] learn too in training.

        In a mixture a member learns from a numeral by its share of it. Who starts slowly, or
        beside one that knows much already, would never learn; so each also gets the gradient it
        would have by itself. What a closed member does not know teaches it nothing.
        """
        if self.plain or not self.training:
            return mixed
        known = torch.where(alone.isfinite(), alone, 0.0).sum(1)
        return mixed + (known - known.detach())

    def log_prob_of_each(self, hidden: Tensor, numerals: NumeralBatch, *given: Tensor) -> Tensor:
        """Of every member by itself, −inf where a closed one does not know a numeral: [N, M]."""
        scores = [member.log_prob(hidden, numerals) for member in self.heads()]
        return torch.stack([*scores, *given], dim=1)

    def mix(self, hidden: Tensor, members: Tensor) -> Tensor:
        """By their shares: [N, M] → [N]. A member's −inf has no share, and no gradient."""
        return torch.logsumexp(self.log_weights(hidden) + members, dim=1)

    def log_prob_table(self, hidden: Tensor, candidates: NumeralTable, *given: Tensor) -> Tensor:
        scores = [member.log_prob_table(hidden, candidates) for member in self.heads()]
        weights = self.log_weights(hidden)[:, None, :]  # [N, 1, M]
        return torch.logsumexp(weights + torch.stack([*scores, *given], dim=2), dim=2)

    def beside_given(self, hidden: Tensor, candidates: NumeralTable) -> tuple[Tensor, Tensor]:
        """Of a combination with one `given` member: its share, and the rest of every candidate.

        [N] and [N, C], probabilities; a candidate has share · p(given) + rest.
        """
        shares = self.log_weights(hidden).double()
        rest = shares.new_zeros(len(hidden), len(candidates))
        for index, member in enumerate(self.heads()):
            log_probs = member.log_prob_table(hidden, candidates).double()
            rest += (shares[:, index, None] + log_probs).exp()
        return shares[:, -1].exp(), rest

    def alone(self, name: str) -> NumeralHead:
        """One member by itself; a `given` one still has to be brought."""
        if name in self.given:
            only = CombinationHead(self.weights.shape[1], {}, given=(name,))
            return only.to(self.weights.device)
        return dict(zip(self.members, self.heads(), strict=True))[name]

    def heads(self) -> list[NumeralHead]:
        return list(self.members.values())  # type: ignore[arg-type]
