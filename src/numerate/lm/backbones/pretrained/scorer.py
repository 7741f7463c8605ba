"""One pass of a language model over planned paragraphs: every token's log-probability, exactly.

Branches are part of the same sequence as the text, and an attention mask keeps each node to its
own ancestors; so the words, the numerals in every spelling, and what could carry a numeral on
cost one pass. What stands before several paragraphs is read once, and its keys and values are
shared. Models that cannot be masked so are given every path as a sequence of its own.
"""

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from numerate.errors import BackboneError
from numerate.lm.backbones.pretrained.layout import Plan
from numerate.lm.backbones.pretrained.memory_room import PADDING, PREFIX_TOKENS, in_batches, room
from numerate.lm.backbones.pretrained.merged_adapters import AdaptedLayers
from numerate.lm.backbones.pretrained.nodes import Nodes
from numerate.lm.backbones.pretrained.prefix import Prefix
from numerate.lm.backbones.spelling.forest import Forest, Request, Trees, on_device
from numerate.lm.backbones.spelling.numeral_tokens import TEXT_END, NumeralTokens
from numerate.lm.backbones.spelling.sums import spell_out
from numerate.lm.backbones.spelling.token_classes import MASSES, TokenClasses
from numerate.lm.data.packing import move
from numerate.lm.heads.digit_adapter import NodeDetails

ROWS = {"cpu": 128, "cuda": 8192}  # states whose logits are held at a time
ALL_CLASSES = -1  # a request for every class of tokens at once
NEVER = -1e4  # the log-probability of what floating point cannot tell from impossible
# Of attention on a GPU: the one that is left out, cuDNN's, plans anew for every shape of a batch,
# and here hardly two have the same. What that saves in training has not been measured yet.
OF_ANY_SHAPE = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
# Inner layers know what the last one, bound to say the next token, has let go of.
DEPTHS = (0.53, 0.8)  # parts of the layers after which states are read, beside the last


@dataclass(frozen=True, slots=True)
class Scores:
    """What a model says of planned windows, one after another."""

    targets: Tensor  # float64 [T] log p of every target
    gates: Tensor  # float64 [N] log p(a numeral comes)
    numerals: Tensor  # float64 [N] log p(this one | a numeral comes)
    states: Tensor  # [N, S] the states before each numeral
    after: Tensor  # [N, R] what is kept of the states after each
    details: NodeDetails | None = None  # at the nodes of the numerals' trees, if asked for


@dataclass(frozen=True, slots=True)
class ReadPrefixes:
    """What a model makes of prefixes, one after another: F tokens in all."""

    places: dict[Prefix, int]  # which of them
    starts: np.ndarray  # [prefixes + 1] where each begins among the tokens
    layers: list[tuple[Tensor, Tensor]]  # keys and values: [F, heads, size] each
    numbers: list[Tensor]  # of each prefix, what is kept of the states after its numbers: [E, R]

    def numbers_of(self, prefix: Prefix) -> Tensor:
        return self.numbers[self.places[prefix]]

    def cache(self, prefixes: Sequence[Prefix | None]) -> tuple[Any, np.ndarray]:
        """Keys and values for a batch, as transformers takes them, and who has which: [B, P]."""
        from transformers import DynamicCache

        which = [-1 if prefix is None else self.places[prefix] for prefix in prefixes]
        lengths = np.diff(self.starts)[which] * (np.array(which) >= 0)
        steps = np.arange(lengths.max())
        exists = steps < lengths[:, None]
        # What is padded goes to rows of others, each to another: gradients of thousands that
        # share a row would be added up one after another.
        rows = (self.starts[which][:, None] + steps) % self.starts[-1]
        cache = DynamicCache()
        index = move(rows.reshape(-1), self.layers[0][0].device)
        for number, layer in enumerate(self.layers):
            keys, values = (
                tensor.index_select(0, index).view(*rows.shape, *tensor.shape[1:]).transpose(1, 2)
                for tensor in layer
            )
            cache.update(keys, values, number)
        return cache, exists


@contextmanager
def outputs_of(modules: Iterable[nn.Module]) -> Iterator[list[Tensor]]:
    """What some layers put out in a pass within, in the order they run.

    A model can return the states of all its layers, but then it holds all of them. Passes of
    other threads over the same model are not listened to.
    """
    thread, caught = threading.get_ident(), list[Tensor]()

    def catch(module: nn.Module, inputs: Any, output: Any) -> None:
        if threading.get_ident() == thread:
            caught.append(output[0] if isinstance(output, tuple) else output)

    handles = [module.register_forward_hook(catch) for module in modules]
    try:
        yield caught
    finally:
        for handle in handles:
            handle.remove()


class Scorer:
    """A causal language model that is asked for targets instead of tokens."""

    def __init__(self, model: Any, tokens: NumeralTokens) -> None:
        self.model = model
        self.kinds = [torch.from_numpy(ids).to(self.device) for ids in tokens.kinds]
        self.classes = TokenClasses(tokens, model.get_output_embeddings().weight.shape[0])
        probe = torch.arange(1, 5, device=self.device)[None]
        self.adapted = AdaptedLayers(model)
        self._inner = self._find_layers(probe)
        self.layers = list(self._inner)  # their numbers
        self.state_size = self._check_logits(probe)
        # Of numbers that were read, what inner layers know is kept: the last one, which says the
        # next token, has let go of them.
        inner = self.state_size - model.get_output_embeddings().weight.shape[1]
        self.number_size = inner or self.state_size
        self._read: tuple[int, ReadPrefixes] | None = None  # of the prefix that was asked for last
        self.takes_masks = self._find_whether_masks_work()

    @property
    def device(self) -> torch.device:
        return self.model.device  # type: ignore[no-any-return]

    def score(
        self,
        plans: Sequence[Plan],
        prefixes: ReadPrefixes | None = None,
        *,
        detailed: bool = False,
    ) -> Scores:
        """Log-probabilities of all targets of the plans, in their order.

        Their prefixes are read first, unless they have been.
        """
        nodes = Nodes(plans)
        states = self.states(nodes, prefixes)
        forest = nodes.forest()
        finish = nodes.terms("finish", nodes.target_starts, nodes.node_starts)
        requests = [*forest.requests(), (TEXT_END, finish[:, 1])]
        values, sums = self.log_probs(states, forest.edges, requests)
        spelled = spell_out(on_device(forest, self.device), values, sums[:-1], nodes.shape)
        words = nodes.terms("words", nodes.target_starts, nodes.node_starts)
        after = nodes.terms("after", nodes.target_starts, nodes.end_starts)
        wheres = nodes.terms("numerals", nodes.target_starts, nodes.node_starts)
        # What follows a numeral is known not to carry it on.
        targets = values.new_zeros(int(nodes.target_starts[-1])).index_add(
            0, self.index(after[:, 0]), -spelled.log_stop[self.index(after[:, 1])]
        )
        gates = spelled.gates + targets[self.index(wheres[:, 0])]
        for index, parts in (
            (words[:, 0], spelled.costs[self.index(words[:, 1])]),
            (finish[:, 0], sums[-1]),
            (wheres[:, 0], spelled.numerals),
        ):
            targets = targets.index_add(0, self.index(index), parts)
        return Scores(
            targets.clamp(NEVER, 0),
            gates.clamp(NEVER, 0),
            (spelled.numerals - spelled.gates).clamp(NEVER, 0),
            states[self.index(wheres[:, 1])],
            states[self.index(nodes.written())][:, : self.number_size],
            self._details_of(nodes, states) if detailed else None,
        )

    def details(self, states: Tensor, forest: Forest[np.ndarray]) -> NodeDetails:
        """What is asked of the states of a forest's nodes by those who adapt digits."""
        everywhere = np.arange(len(states))
        values, (masses,) = self.log_probs(states, forest.edges, [(ALL_CLASSES, everywhere)])
        steps = len(forest.below)
        costs = values.new_zeros(len(states))
        costs = costs.index_copy(0, self.index(forest.below), values[:steps])
        return NodeDetails(states, masses, costs, values[steps:])

    def _details_of(self, nodes: Nodes, states: Tensor) -> NodeDetails:
        """The same for the trees of planned numerals, one after another."""
        found = [
            (tree, np.array(places) + start)
            for plan, start in zip(nodes.plans, nodes.node_starts.tolist(), strict=True)
            for tree, places in filter(None, plan.trees)
        ]
        if not found:
            none = states.new_zeros(0, dtype=torch.float64)
            return NodeDetails(states[:0], none.view(0, MASSES), none, none)
        rows = np.concatenate([places for _, places in found])
        return self.details(states[self.index(rows)], Trees.of(tree for tree, _ in found).forest())

    def hidden(self, tokens: Tensor, **inputs: Any) -> tuple[Tensor, Any]:
        """The states after tokens, [B, L] → [B, L, S], and what the model keeps of them.

        Those of inner layers, each brought to the same scale, stand before the last ones, which
        are what the output layer reads. Masks are boolean: who sees whom.
        """
        mask = inputs.get("attention_mask")
        if mask is not None:
            inputs["attention_mask"] = torch.zeros(
                mask.shape, dtype=self.model.dtype, device=mask.device
            ).masked_fill_(~mask, torch.finfo(self.model.dtype).min)
        with (
            outputs_of(self._inner.values()) as caught,
            sdpa_kernel(OF_ANY_SHAPE),
            self.adapted.using(self.adapted.merged()),
        ):
            found = self.model.base_model(input_ids=tokens, **inputs)
        scaled = [F.layer_norm(states, states.shape[-1:]) for states in caught]
        states = torch.cat([*scaled, found.last_hidden_state], dim=-1)
        return states, getattr(found, "past_key_values", None)

    def log_probs(
        self, states: Tensor, edges: np.ndarray, requests: Sequence[Request[np.ndarray]]
    ) -> tuple[Tensor, list[Tensor]]:
        """log p of tokens after states (`edges` [2, ·]: state, token), and of kinds of tokens.

        Logits are made for some states at a time and dropped: all at once they would be the
        largest thing in memory by far.
        """
        asked = [edges[0], *(nodes for _, nodes in requests)]
        needed, places = np.unique(np.concatenate(asked), return_inverse=True)
        rows = np.split(places, np.cumsum([len(some) for some in asked])[:-1])
        orders = [np.argsort(some, kind="stable") for some in rows]
        chunk = ROWS.get(self.device.type, 128)
        steps = np.arange(0, len(needed) + chunk, chunk)
        borders = [np.searchsorted(r[o], steps) for r, o in zip(rows, orders, strict=True)]
        sorted_rows = [self.index(r[o]) for r, o in zip(rows, orders, strict=True)]
        tokens = self.index(edges[1, orders[0]])
        found: list[list[Tensor]] = [[] for _ in rows]
        for step, begin in enumerate(steps[:-1].tolist()):
            here = states[self.index(needed[begin : begin + chunk])]
            log_p = self.logits(here).log_softmax(1)
            for index, border in enumerate(borders):
                cut = slice(border[step], border[step + 1])
                mine = sorted_rows[index][cut] - begin
                if index == 0:
                    value = log_p[mine, tokens[cut]]
                elif requests[index - 1][0] == ALL_CLASSES:
                    value = self.classes.masses(log_p, mine)
                else:
                    chosen = self.kinds[requests[index - 1][0]]
                    value = log_p[mine[:, None], chosen].logsumexp(1)
                found[index].append(value.double())
        results = []
        for order, parts in zip(orders, found, strict=True):
            back = np.empty_like(order)
            back[order] = np.arange(len(order))
            results.append(torch.cat(parts)[self.index(back)])
        return results[0], results[1:]

    def logits(self, states: Tensor) -> Tensor:
        """What the model's own forward pass makes of its last states: [..., S] → [..., V]."""
        output = self.model.get_output_embeddings()
        # Also where the model runs in mixed precision: a probability is off by what a logit is.
        with torch.autocast(self.device.type, enabled=False):
            last = states[..., -output.weight.shape[1] :].to(output.weight.dtype)
            logits: Tensor = output(last).float()
        config = self.model.config
        scale = getattr(config, "logit_scale", None) or 1.0
        scale /= getattr(config, "logits_scaling", None) or 1.0
        logits = logits if scale == 1.0 else logits * scale
        cap = getattr(config, "final_logit_softcapping", None)
        return torch.tanh(logits / cap) * cap if cap else logits

    def index(self, values: np.ndarray) -> Tensor:
        return move(np.ascontiguousarray(values, dtype=np.int64), self.device)

    def states(self, nodes: Nodes, prefixes: ReadPrefixes | None = None) -> Tensor:
        """The states of every node: [B * L, S]."""
        return self._states(nodes, prefixes) if self.takes_masks else self._states_by_path(nodes)

    def _states(self, nodes: Nodes, prefixes: ReadPrefixes | None = None) -> Tensor:
        mask = nodes.mask(self.device)
        past = None
        if nodes.before.any():
            prefixes = prefixes or self.read_prefixes(nodes.prefixes)
            past, exists = prefixes.cache(nodes.prefixes)
            before = move(exists, self.device)[:, None, None]  # [B, 1, 1, P]
            mask = torch.cat([before.expand(-1, -1, mask.shape[2], -1), mask], dim=3)
        states, _ = self.hidden(
            self.index(nodes.tokens),
            attention_mask=mask,
            position_ids=self.index(nodes.positions + nodes.before[:, None]),
            past_key_values=past,
            use_cache=past is not None,
        )
        return states.flatten(0, 1)

    def read_prefixes(self, prefixes: Iterable[Prefix | None]) -> ReadPrefixes:
        """Each once, those of similar length together; nothing is masked, so it is fast."""
        from transformers import DynamicCache

        distinct = sorted(dict.fromkeys(p for p in prefixes if p is not None), key=len)
        numbers: list[Tensor] = []
        layers: list[tuple[list[Tensor], list[Tensor]]] = []
        waste = PADDING.get(self.device.type, PADDING["cpu"])
        most = room(PREFIX_TOKENS, self.device)
        for batch in in_batches([len(prefix) for prefix in distinct], most, waste):
            some = [distinct[index] for index in batch]
            size = max(map(len, some))
            tokens = np.zeros((len(some), size), dtype=np.int64)
            for row, prefix in zip(tokens, some, strict=True):
                row[: len(prefix)] = prefix.tokens
            cache = DynamicCache() if self.takes_masks else None
            states, _ = self.hidden(
                self.index(tokens), past_key_values=cache, use_cache=cache is not None
            )
            for row, prefix in zip(states, some, strict=True):
                ends = self.index(prefix.ends.clip(min=0))
                numbers.append(row[ends, : self.number_size])
            if cache is not None:
                rows = [step * size + np.arange(len(p)) for step, p in enumerate(some)]
                index = self.index(np.concatenate(rows))
                for number, layer in enumerate(cache.layers):
                    if number == len(layers):
                        layers.append(([], []))
                    for found, tensor in zip(
                        layers[number], (layer.keys, layer.values), strict=True
                    ):
                        found.append(tensor.transpose(1, 2).flatten(0, 1)[index])
        return ReadPrefixes(
            {prefix: place for place, prefix in enumerate(distinct)},
            np.cumsum([0, *map(len, distinct)]),
            [(torch.cat(keys), torch.cat(values)) for keys, values in layers],
            numbers,
        )

    @torch.no_grad()
    def read_chain(self, plan: Plan, length: int) -> tuple[Tensor, Any]:
        """The states of the first nodes of a chain, [T, S], and what is kept of them and before.

        Of models that take no masks nothing is kept.
        """
        tokens = self.index(np.array([plan.tokens[:length]]))
        if not self.takes_masks:
            before = self.index(plan.before)[None]
            states, _ = self.hidden(torch.cat([before, tokens], dim=1), use_cache=False)
            return states[0, before.shape[1] :], None
        if plan.prefix is None:
            states, past = self.hidden(tokens, use_cache=True)
            return states[0], past
        past, _ = self._remembered(plan.prefix).cache([plan.prefix])
        positions = len(plan.prefix) + torch.arange(length, device=self.device)[None]
        states, past = self.hidden(
            tokens, position_ids=positions, past_key_values=past, use_cache=True
        )
        return states[0], past

    def _remembered(self, prefix: Prefix) -> ReadPrefixes:
        """Read just before, as a rule: a paragraph is asked about again and again."""
        weights = sum(weight._version for weight in self.model.parameters())
        before = self._read
        if before is None or before[0] != weights or prefix not in before[1].places:
            before = weights, self.read_prefixes([prefix])
            self._read = before
        return before[1]

    def _states_by_path(self, nodes: Nodes) -> Tensor:
        """The same, from one plain sequence for each leaf."""
        parts: list[Tensor] = []
        places: list[int] = []
        for plan, start in zip(nodes.plans, nodes.node_starts.tolist(), strict=True):
            done: set[int] = set()
            for leaf in sorted(set(range(len(plan.tokens))) - set(plan.parents)):
                path = [leaf]
                while plan.parents[path[-1]] >= 0:
                    path.append(plan.parents[path[-1]])
                path.reverse()
                tokens = [*plan.before, *(plan.tokens[node] for node in path)]
                states, _ = self.hidden(self.index(np.array([tokens])), use_cache=False)
                states = states[0, len(plan.before) :]
                new = [step for step, node in enumerate(path) if node not in done]
                parts.append(states[new])
                places += [start + path[step] for step in new]
                done.update(path)
        states = torch.cat(parts)
        everything = states.new_zeros(nodes.shape[0] * nodes.shape[1], states.shape[1])
        return everything.index_copy(0, self.index(np.array(places)), states)

    def _find_layers(self, tokens: Tensor) -> dict[int, nn.Module]:
        """Inner layers by number, where what they put out is what the model calls its states."""
        base = self.model.base_model
        with torch.no_grad():
            found = base(input_ids=tokens, use_cache=False, output_hidden_states=True)
        states = found.hidden_states or ()
        count = len(states) - 1
        stacks = [part for part in base.modules() if isinstance(part, nn.ModuleList)]
        stack = next((part for part in stacks if len(part) == count), None)
        if stack is None:
            return {}
        depths = sorted({round(depth * count) for depth in DEPTHS})
        layers = {depth: stack[depth - 1] for depth in depths if 0 < depth < count}
        with torch.no_grad(), outputs_of(layers.values()) as caught:
            base(input_ids=tokens, use_cache=False)
        shape = found.last_hidden_state.shape[:-1]  # of a few models inner states have another
        pairs = zip(layers.items(), caught, strict=True)
        return {
            depth: layer
            for (depth, layer), output in pairs
            if output.shape[:-1] == shape and torch.allclose(output, states[depth])
        }

    def _check_logits(self, tokens: Tensor) -> int:
        """Whether the output layer is one this class knows how to apply; the size of states."""
        with torch.no_grad():
            own = self.model(input_ids=tokens).logits.float()
            states, _ = self.hidden(tokens, use_cache=False)
            ours = self.logits(states)
        if not torch.allclose(own, ours, atol=1e-3, rtol=1e-3):
            name = type(self.model).__name__
            raise BackboneError(f"{name}: its output layer is of a kind numerate does not know")
        return states.shape[-1]

    def _find_whether_masks_work(self) -> bool:
        """A sequence with a branch must give the same states as two without, and so must one
        after a prefix, whose keys and values are kept."""
        self.takes_masks = True
        chain = list(range(5))
        prefix = Prefix(np.arange(1, 4), 4, np.zeros(0, dtype=np.int64), 0)
        probes = [
            Plan(5, [1, 2, 3, 4, 5], [-1, *chain[:-1]], list(chain), list(chain), prefix=before)
            for before in (None, prefix)
        ]
        for probe in probes:
            probe.branch(probe.branch(2, 6), 7)
        nodes = Nodes(probes)
        with torch.no_grad():
            expected = self._states_by_path(nodes)
            try:
                found = self._states(nodes)
            except (AttributeError, TypeError, ValueError, RuntimeError):
                return False
        worst = (found - expected).abs().max()
        return bool(worst <= 1e-3 * expected.abs().max())
