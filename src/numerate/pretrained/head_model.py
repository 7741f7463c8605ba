"""One of our numeral heads over the states of a pretrained language model.

Words keep the language model's own distribution, and so does the class gate: only what a numeral
is, given that one comes, is the head's. In the combination the language model's own digits are
one more member, `lm`.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from numerate.errors import NumerateError
from numerate.heads.combination import CombinationHead
from numerate.heads.digit_adapter import DigitAdapter, DigitBatch
from numerate.heads.dropout import ByteDropout
from numerate.heads.mixture_fit import Components
from numerate.model.language_model import build_head
from numerate.model.stored import ModelConfig, StoredModel
from numerate.numeral_table import NumeralBatch, NumeralTable
from numerate.pretrained.language_model import PretrainedLM
from numerate.pretrained.plan import Plan
from numerate.pretrained.scorer import Scores
from numerate.pretrained.tuning import trained_weights
from numerate.spelling.token_classes import TokenClasses
from numerate.vocabulary import Vocabulary

HEADS = ("h-softmax", "h-softmax+rnn", "d-rnn", "mog", "combination")
RATE_OF_ADAPTERS, RATE_OF_ALL = 0.1, 0.01  # parts of the learning rate of the head
ADAPTER_SIZE, ADAPTER_DROPOUT = 384, 0.3  # of each network that adapts digits
LM = "lm"  # the language model's own digits, as a member of the combination


@dataclass(frozen=True, slots=True)
class StateBatch:
    """Paragraphs as a head sees them, N numerals and W words; numerals in any order."""

    words: Tensor  # float64 [W] log p, the language model's own
    rest: Tensor  # float64 [N] log p of a numeral's token, but for which numeral it is
    own: Tensor  # float64 [N] log p(this numeral | a numeral), the language model's own
    states: Tensor  # [N, S]
    numerals: NumeralBatch | None
    digits: DigitBatch | None = None  # for the language model's digits to be adapted

    @property
    def word_count(self) -> int:
        return self.words.shape[0]

    @property
    def numeral_count(self) -> int:
        return self.rest.shape[0]

    def by_class(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        words, numerals = torch.split(tokens, [self.word_count, self.numeral_count])
        return words, numerals


@dataclass(frozen=True, slots=True)
class PlanBatch:
    """Paragraphs that the language model has yet to read, since it is being trained itself."""

    plans: list[Plan]
    is_numeral: Tensor  # bool [T]
    order: Tensor  # [N] numerals of the plans as `numerals` has them
    numerals: NumeralBatch | None

    @property
    def numeral_count(self) -> int:
        return self.order.shape[0]

    @property
    def word_count(self) -> int:
        return self.is_numeral.shape[0] - self.numeral_count

    def by_class(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        words, numerals = torch.split(tokens, [self.word_count, self.numeral_count])
        return words, numerals

    def read(self, scores: Scores) -> StateBatch:
        numerals = scores.targets[self.is_numeral]
        own = scores.numerals[self.order]
        return StateBatch(
            scores.targets[~self.is_numeral],
            numerals[self.order] - own,
            own,
            scores.states[self.order],
            self.numerals,
        )


class HeadModel(StoredModel):
    """A projection of the states, and a head. With `lm`, the backbone is trained too.

    Without, a combination adapts the language model's digits by some `networks`.
    """

    records_steps = False  # its batches have shapes of their own

    def __init__(
        self,
        config: ModelConfig,
        vocabulary: Vocabulary,
        components: Components | None,
        state_size: int,
        classes: TokenClasses,
        lm: PretrainedLM | None = None,
        networks: int = 1,
    ) -> None:
        super().__init__()
        check_head_name(config.model)
        self.config = config
        self.vocabulary = vocabulary
        self.classes = classes
        self.project = nn.Sequential(
            nn.LayerNorm(state_size),
            ByteDropout(config.dropout),
            nn.Linear(state_size, config.hidden),
            nn.Tanh(),
            ByteDropout(config.dropout),
        )
        self.head = build_head(config, vocabulary, components, given=(LM,))
        self.adapter: DigitAdapter | None = None
        if lm is None and isinstance(self.head, CombinationHead):
            self.adapter = DigitAdapter(state_size, ADAPTER_SIZE, ADAPTER_DROPOUT, networks)
        self.lm = lm
        self.backbone: nn.Module | None = lm.backbone.model if lm else None

    @property
    def open_vocabulary(self) -> bool:
        return self.head.open_vocabulary

    @property
    def combination(self) -> CombinationHead | None:
        return self.head if isinstance(self.head, CombinationHead) else None

    @property
    def needs_lm(self) -> bool:
        return self.combination is not None

    def numeral_log_prob(
        self,
        states: Tensor,
        numerals: NumeralBatch,
        own: Tensor,
        digits: DigitBatch | None,
    ) -> Tensor:
        """log p(numeral | a numeral): [N, S] → [N]; `own` is the language model's."""
        hidden = self.project(states)
        if isinstance(self.head, CombinationHead):
            return self.head.log_prob(hidden, numerals, self._adapted(own, digits))
        return self.head.log_prob(hidden, numerals)

    def _adapted(self, own: Tensor, digits: DigitBatch | None) -> Tensor:
        if self.adapter is None or digits is None:
            return own
        return self.adapter.log_prob(own, digits, self.classes)

    def by_member(self, batch: StateBatch | PlanBatch) -> tuple[Tensor, Tensor]:
        batch = self._read(batch)
        assert isinstance(self.head, CombinationHead)
        assert batch.numerals is not None
        hidden = self.project(batch.states)
        own = self._adapted(batch.own, batch.digits)
        return hidden, self.head.log_prob_of_each(hidden, batch.numerals, own)

    def numeral_table(self, states: Tensor, candidates: NumeralTable, own: Tensor) -> Tensor:
        """log p of every candidate: [N, S] → [N, C]; `own` [N, C] is the member `lm`."""
        hidden = self.project(states)
        if isinstance(self.head, CombinationHead):
            return self.head.log_prob_table(hidden, candidates, own)
        return self.head.log_prob_table(hidden, candidates)

    def log_prob(self, batch: StateBatch | PlanBatch) -> Tensor:
        """log p of the batch's targets, words first: [W + N]."""
        batch = self._read(batch)
        if batch.numerals is None:
            return batch.words
        numerals = self.numeral_log_prob(batch.states, batch.numerals, batch.own, batch.digits)
        return torch.cat([batch.words, batch.rest + numerals])

    def forward(self, batch: StateBatch | PlanBatch) -> Tensor:
        """The summed negative log-probability of the batch's tokens.

        In a combination the language model's own digits are taught like every other member; of
        several networks that adapt them, each.
        """
        batch = self._read(batch)
        if batch.numerals is None:  # then there is nothing to differentiate
            return -batch.words.sum() + 0.0 * self.head_weights()[0].sum()
        hidden = self.project(batch.states)
        if isinstance(self.head, CombinationHead):
            own, each = batch.own, batch.own[:, None]
            if self.adapter is not None and batch.digits is not None:
                own, each = self.adapter.log_probs(own, batch.digits, self.classes)
            numerals = self.head.log_prob(hidden, batch.numerals, own)
            numerals = self.head.teach(numerals, each)
        else:
            numerals = self.head.log_prob(hidden, batch.numerals)
        return -batch.words.sum() - (batch.rest + numerals).sum()

    def _read(self, batch: StateBatch | PlanBatch) -> StateBatch:
        if isinstance(batch, StateBatch):
            return batch
        assert self.lm is not None
        return batch.read(self.lm.scorer.score(batch.plans))

    def head_weights(self) -> list[nn.Parameter]:
        adapter = [] if self.adapter is None else [*self.adapter.parameters()]
        return [*self.project.parameters(), *self.head.parameters(), *adapter]

    def parameter_groups(self) -> list[dict[str, Any]]:
        groups = [{"params": self.head_weights(), "scale": 1.0}]
        if self.backbone is not None:
            tuned = [weight for weight in self.backbone.parameters() if weight.requires_grad]
            is_all = len(tuned) == len(list(self.backbone.parameters()))
            scale = RATE_OF_ALL if is_all else RATE_OF_ADAPTERS
            groups.append({"params": tuned, "scale": scale})
        return groups

    def state_dict(self, *args: Any, **kwargs: Any) -> dict[str, Any]:  # type: ignore[override]
        """Heads, and what was trained of the backbone: never a copy of the rest of it."""
        everything: dict[str, Any] = super().state_dict(*args, **kwargs)
        kept = trained_weights(self.backbone)
        return {
            name: tensor
            for name, tensor in everything.items()
            if not name.startswith("backbone.") or name.removeprefix("backbone.") in kept
        }

    def load_state_dict(self, tensors: Any, strict: bool = True, assign: bool = False) -> Any:
        missing = set(self.state_dict()) ^ set(tensors)
        if missing:
            raise RuntimeError(f"not the same tensors: {', '.join(sorted(missing)[:3])}")
        return super().load_state_dict(tensors, strict=False, assign=assign)


def check_head_name(name: str) -> None:
    if name not in HEADS:
        raise NumerateError(
            f"model {name!r}: words and class gate are the pretrained model's own, "
            f"expected one of {', '.join(HEADS)}"
        )
