"""Ways to go on from any place of a text, in any number of goes over cached keys and values."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from numerate.lm.backbones.pretrained.layout import Plan
from numerate.lm.backbones.pretrained.scorer import ROWS, Scorer
from numerate.lm.heads.digit_adapter import DigitAdapter


class Branches:
    """Nodes after the tokens of a text, numbered as they are read."""

    def __init__(self, scorer: Scorer, plan: Plan, length: int) -> None:
        """After the first nodes of a plan's chain."""
        self.scorer = scorer
        self._before = plan.before
        self._chain = plan.tokens[:length]
        self._tokens: list[int] = []
        self._paths: list[list[int]] = []  # of each node: the nodes from the text to it
        self._roots: list[int] = []  # of each node: the token of the text it comes after
        self.states, self._past = scorer.read_chain(plan, length)  # [T, S] of the text

    @property
    def count(self) -> int:
        return len(self._tokens)

    def read(
        self, parents: Sequence[int], tokens: Sequence[int], roots: Sequence[int] | None = None
    ) -> Tensor:
        """The states of new nodes: [n, S].

        A parent has been read, or stands before the node in the list; −1 is the text, after the
        token that `roots` says, by default the last one.
        """
        first, length = len(self._tokens), len(self._chain)
        self._tokens += tokens
        for node, parent in enumerate(parents, first):
            last = length - 1 if roots is None else roots[node - first]
            self._paths.append([*(self._paths[parent] if parent >= 0 else []), node])
            self._roots.append(self._roots[parent] if parent >= 0 else last)
        paths, after = self._paths[first:], np.array(self._roots[first:])
        with torch.no_grad():
            if self._past is None:
                pairs = zip(paths, after.tolist(), strict=True)
                return torch.cat([self._read_alone(path, root) for path, root in pairs])
            after = after + len(self._before)
            length += len(self._before)
            seen = np.zeros((len(paths), length + len(self._tokens)), dtype=bool)
            seen[:, :length] = np.arange(length) <= after[:, None]
            for row, path in zip(seen, paths, strict=True):
                row[length + np.array(path)] = True
            depths = np.array([len(path) for path in paths])
            states, self._past = self.scorer.hidden(
                self.scorer.index(np.array([tokens])),
                attention_mask=torch.from_numpy(seen)[None, None].to(self.scorer.device),
                position_ids=self.scorer.index((after + depths)[None]),
                past_key_values=self._past,
                use_cache=True,
            )
        return states[0]

    def _read_alone(self, path: list[int], root: int) -> Tensor:
        tokens = [*self._before, *self._chain[: root + 1], *(self._tokens[node] for node in path)]
        states, _ = self.scorer.hidden(self.scorer.index(np.array([tokens])), use_cache=False)
        return states[0, -1:]


class Following:
    """A `Reader` (`spelling/token_reader.py`): what the model says after the nodes of branches."""

    def __init__(
        self, branches: Branches, asked: np.ndarray, adapter: DigitAdapter | None = None
    ) -> None:
        self._branches = branches
        self._scorer = branches.scorer
        self._asked = self._scorer.index(asked)
        self._adapter = adapter

    @property
    def count(self) -> int:
        return self._branches.count

    def at(self, roots: np.ndarray) -> Tensor:
        return self._log_p(self._branches.states[self._scorer.index(roots)])

    def read(self, parents: Sequence[int], tokens: Sequence[int], roots: Sequence[int]) -> Tensor:
        return self._log_p(self._branches.read(parents, tokens, roots))

    @torch.no_grad()
    def _log_p(self, states: Tensor) -> Tensor:
        """Of the tokens asked about: [n, S] → float64 [n, A]."""
        scorer, found = self._scorer, []
        for some in torch.split(states, ROWS.get(scorer.device.type, ROWS["cpu"])):
            scores = scorer.logits(some)
            if self._adapter is not None:
                scores = self._adapter.adapt(some, scores, scorer.classes)
            everything = scores.double().logsumexp(1, keepdim=True)
            found.append(scores[:, self._asked].double() - everything)
        return torch.cat(found)
