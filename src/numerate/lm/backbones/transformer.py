"""A small causal transformer: what stands far back is as near as what stands close by."""

from collections.abc import Callable
from functools import partial

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from numerate.errors import RunError
from numerate.lm.backbones.contract import Reading
from numerate.lm.backbones.scratch import ScratchBackbone

LONGEST_WAVE = 10_000.0  # of rotary positions, as everywhere
Attend = Callable[[int, Tensor, Tensor, Tensor], Tensor]
"""In a layer, from queries, keys and values to what is attended to: [B, L, H, D / H] each."""


class TransformerBackbone(ScratchBackbone):
    """Norms before each part, rotary positions. It goes on with the keys and values of a text."""

    second_looks = 0.3

    @staticmethod
    def check_heads(heads: int, size: int) -> None:
        if size % (2 * heads):
            raise RunError(
                f"heads: got {heads} for hidden size {size}, expected a number that divides it "
                "into even parts"
            )

    def _add_network(self, size: int, layers: int, heads: int) -> None:
        self.heads = heads
        self.blocks = nn.ModuleList(Block(size, heads, layers, self.dropout) for _ in range(layers))
        self.norm = nn.LayerNorm(size)

    def _states(self, embedded: Tensor) -> Tensor:
        return self._run(embedded, _Causal(embedded, self.heads))

    def _trace(self, embedded: Tensor) -> tuple[Tensor, Tensor]:
        seen: list[Tensor] = []
        causal = _Causal(embedded, self.heads)

        def attend(layer: int, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
            seen.extend([causal.rotate(keys), values])
            return causal(layer, queries, keys, values)

        states = self._run(embedded, attend)
        memory = torch.stack(seen, dim=2).transpose(0, 1)  # [L, B, 2 · layers, H, D / H]
        return states, memory.flatten(2)

    def _go_on(self, reading: Reading, rows: np.ndarray, embedded: Tensor) -> Tensor:
        """Text by text: whatever is written into one, its keys and values are there once."""
        corpus, states = reading.corpus, torch.empty_like(embedded)
        texts = np.searchsorted(corpus.numeral_offsets, rows, side="right") - 1
        for text in np.unique(texts).tolist():
            here = np.flatnonzero(texts == text)
            before = 1 + corpus.steps[rows[here]]  # tokens read before each, the start too: [E]
            first = corpus.offsets[text] + text
            memory = reading.memory[first : first + before.max()]
            columns = torch.from_numpy(here).to(self.device)
            written = embedded.index_select(1, columns)
            seen = torch.from_numpy(before).to(self.device)
            attend = _Branches(memory, seen, written, self.heads)
            states[:, columns] = self._run(written, attend)
        return states

    def _run(self, embedded: Tensor, attend: Attend) -> Tensor:  # [L, B, D] → [L, B, D]
        states = embedded.transpose(0, 1)
        for layer, block in enumerate(self.blocks):
            states = block(states, partial(attend, layer))
        found: Tensor = self.norm(states).transpose(0, 1)
        return found


class Block(nn.Module):
    """Attention and a small network in every place, each added to what was there."""

    def __init__(self, size: int, heads: int, layers: int, dropout: nn.Dropout) -> None:
        super().__init__()
        self.heads = heads
        self.dropout = dropout
        self.before_attention = nn.LayerNorm(size)
        self.attention = nn.Linear(size, 3 * size, bias=False)
        self.attended = nn.Linear(size, size, bias=False)
        self.before_widening = nn.LayerNorm(size)
        self.widen = nn.Linear(size, 4 * size)
        self.narrow = nn.Linear(4 * size, size)
        with torch.no_grad():  # what all layers add is about as large as what they are given
            for linear in (self.attended, self.narrow):
                linear.weight *= (2 * layers) ** -0.5

    def forward(self, states: Tensor, attend: Callable[..., Tensor]) -> Tensor:  # [B, L, D]
        parts = self.attention(self.before_attention(states)).unflatten(2, (3, self.heads, -1))
        attended = attend(*parts.unbind(2)).flatten(2)
        states = states + self.dropout(self.attended(attended))
        widened = F.gelu(self.widen(self.before_widening(states)))
        added: Tensor = self.dropout(self.narrow(widened))
        return states + added


class _Causal:
    """Attention of every token to itself and those before it; padding comes after all."""

    def __init__(self, embedded: Tensor, heads: int) -> None:  # [L, B, D]
        length, _, size = embedded.shape
        self.rotate = _Rotation(torch.arange(length, device=embedded.device), size // heads)

    def __call__(self, _: int, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        queries, keys = self.rotate(queries), self.rotate(keys)
        queries, keys, values = (part.transpose(1, 2) for part in (queries, keys, values))
        attended = F.scaled_dot_product_attention(queries, keys, values, is_causal=True)
        return attended.transpose(1, 2)


class _Branches:
    """Attention of tokens that were written into one text to what stands before them.

    `memory` [P, M] is that of the text, `before` [E] how much of it each branch sees.
    """

    def __init__(self, memory: Tensor, before: Tensor, written: Tensor, heads: int) -> None:
        length, branches, size = written.shape  # S, E, D
        steps = torch.arange(length, device=written.device)
        self.rotate = _Rotation(before[:, None] + steps, size // heads)
        self.memory = memory.view(len(memory), -1, 2, heads, size // heads)  # [P, layers, 2, H, …]
        in_text = torch.arange(len(memory), device=written.device) < before[:, None]  # [E, P]
        in_branch = steps <= steps[:, None]  # [S, S]
        parts = in_text[:, None, None], in_branch
        seen = torch.cat([part.expand(branches, 1, length, -1) for part in parts], dim=3)
        self.unseen = ~seen  # [E, 1, S, P + S]

    def __call__(self, layer: int, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        queries, keys = self.rotate(queries), self.rotate(keys)  # [E, S, H, D / H]
        text_keys, text_values = self.memory[:, layer].unbind(1)  # [P, H, D / H]
        scores = torch.cat(
            [
                torch.einsum("eshd,phd->ehsp", queries, text_keys),
                torch.einsum("eshd,ethd->ehst", queries, keys),
            ],
            dim=3,
        )
        scores = scores * queries.shape[3] ** -0.5
        weights = scores.masked_fill(self.unseen, -torch.inf).softmax(3)
        of_text, of_branch = weights.tensor_split([len(text_keys)], dim=3)
        from_text = torch.einsum("ehsp,phd->eshd", of_text, text_values)
        return from_text + torch.einsum("ehst,ethd->eshd", of_branch, values)


class _Rotation:
    """Rotary positions: pairs of numbers are turned, so that products know distances alone."""

    def __init__(self, positions: Tensor, size: int) -> None:  # [L] or [B, L]
        steps = torch.arange(size // 2, device=positions.device) / (size // 2)
        angles = (positions[..., None] * LONGEST_WAVE**-steps)[..., None, :]
        self.cos, self.sin = angles.cos(), angles.sin()  # [(B,) L, 1, D / H / 2]

    def __call__(self, vectors: Tensor) -> Tensor:  # [B, L, H, D / H]
        left, right = vectors.chunk(2, dim=3)
        turned = left * self.cos - right * self.sin, left * self.sin + right * self.cos
        return torch.cat(turned, dim=3)
