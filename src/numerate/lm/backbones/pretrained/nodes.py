"""Planned paragraphs as the rows of a batch, each node with a number of its own."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from numerate.lm.backbones.pretrained.layout import Plan
from numerate.lm.backbones.spelling.forest import Forest, plant, renumber
from numerate.lm.data.packing import move


class Nodes:
    """Plans in a batch: node n of plan b has the number b · L + n."""

    def __init__(self, plans: Sequence[Plan]) -> None:
        self.plans = plans
        size = max(len(plan.tokens) for plan in plans)
        self.shape = (len(plans), size)
        self.tokens = self._pad([plan.tokens for plan in plans], 0)
        self.parents = self._pad([plan.parents for plan in plans], -1)
        self.positions = self._pad([plan.positions for plan in plans], 0)
        self.limits = self._pad([plan.limits for plan in plans], 0)
        self.target_starts = np.cumsum([0, *(len(plan.targets) for plan in plans)])
        self.numeral_starts = np.cumsum([0, *(len(plan.numerals) for plan in plans)])
        self.end_starts = np.cumsum([0, *(len(plan.ends) for plan in plans)])
        self.node_starts = np.arange(len(plans)) * size
        self.prefixes = [plan.prefix for plan in plans]
        self.before = np.array([len(plan.before) for plan in plans])

    def _pad(self, rows: list[list[int]], fill: int) -> np.ndarray:
        padded = np.full(self.shape, fill, dtype=np.int64)
        for row, values in zip(padded, rows, strict=True):
            row[: len(values)] = values
        return padded

    def terms(self, name: str, *starts: np.ndarray | None) -> np.ndarray:
        """A list of the plans as one array, each column renumbered for the batch: [terms, C]."""
        lists = [getattr(plan, name) for plan in self.plans]
        table = np.array([row for rows in lists for row in rows], dtype=np.int64)
        table = table.reshape(-1, len(starts))
        owners = np.repeat(np.arange(len(lists)), [len(rows) for rows in lists])
        return renumber(table, owners, *starts)

    def forest(self) -> Forest[np.ndarray]:
        node, numeral = self.node_starts, self.numeral_starts
        return plant(
            np.where(self.parents >= 0, self.parents + node[:, None], -1).reshape(-1),
            self.tokens.reshape(-1),
            (self.positions - self.limits).reshape(-1),  # 0 in a chain, and where it is padded
            self.terms("starts", numeral, node, node, None),
            self.terms("ends", numeral, node, node, node, node),
            self.terms("closings", numeral, node, node, None),
            numerals=int(numeral[-1]),
            places=int(numeral[-1]),
        )

    def written(self) -> np.ndarray:
        """Of each numeral, the node it ends with: [N]."""
        pairs = zip(self.plans, self.node_starts.tolist(), strict=True)
        found = [node + start for plan, start in pairs for node in plan.written]
        return np.array(found, dtype=np.int64)

    def mask(self, device: torch.device) -> Tensor:
        """Whom of its plan each node sees: bool [B, 1, L, L]."""
        places = torch.arange(self.shape[1], device=device)
        seen = places <= move(self.limits, device)[:, :, None]
        pairs = [(index, *pair) for index, plan in enumerate(self.plans) for pair in plan.ancestors]
        if pairs:
            seen[tuple(move(np.array(pairs), device).T)] = True
        return seen[:, None]
