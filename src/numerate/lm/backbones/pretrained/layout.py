"""A paragraph as a language model reads it: its tokens, with branches for other spellings.

The tokens of the text are a chain of nodes. Where a numeral stands, other spellings and the
tokens that could carry it on branch off. What is asked of the model is which nodes there are
and a few sums over them; one pass of the model answers for all (`scorer.py`).
"""

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from numerate.lm.backbones.pretrained.prefix import Prefix
from numerate.lm.backbones.spelling.numeral_tokens import REACH, NumeralTokens, SpellingTree
from numerate.lm.backbones.spelling.written import spelled_form, written_forms
from numerate.text.tokenizer import Token

NOTHING = np.zeros(0, dtype=np.int64)
_WHITE = np.array([code for code in range(sys.maxunicode + 1) if chr(code).isspace()])


@dataclass(slots=True)
class Plan:
    """One window of a paragraph. Nodes 0..T are the start symbol and the text's own tokens.

    After a prefix, the first node is its last token, and the prefix has the start symbol.

    A term is a node and what is asked there; its value is the log-probability of the path to
    that node from the `base` of its target, plus what is asked.
    """

    length: int  # nodes of the chain: 1 + T
    tokens: list[int]
    parents: list[int]
    positions: list[int]
    limits: list[int]  # the last node of the chain that a node sees
    ancestors: list[tuple[int, int]] = field(default_factory=list)  # branch node, branch node
    words: list[tuple[int, int]] = field(default_factory=list)  # target, node of its chain
    finish: list[tuple[int, int]] = field(default_factory=list)  # target, node: the text ends
    starts: list[tuple[int, int, int, int]] = field(default_factory=list)
    ends: list[tuple[int, int, int, int, int]] = field(default_factory=list)
    closings: list[tuple[int, int, int, int]] = field(default_factory=list)
    after: list[tuple[int, int]] = field(default_factory=list)  # target, the end it comes after
    targets: list[int] = field(default_factory=list)  # which target of the paragraph
    numerals: list[tuple[int, int]] = field(default_factory=list)  # target here, node before it
    roots: list[tuple[int, str]] = field(default_factory=list)  # where each is spelled, its space
    trees: list[tuple[SpellingTree, list[int]] | None] = field(default_factory=list)
    written: list[int] = field(default_factory=list)  # of each numeral, the node it ends with
    prefix: Prefix | None = None  # read before it, and by no node of its own

    @property
    def before(self) -> np.ndarray:
        """The tokens before its first node."""
        return NOTHING if self.prefix is None else self.prefix.tokens

    def with_roots(self, which: Sequence[int] | None) -> "Plan":
        """The same window, with candidates asked for only before some numerals."""
        if which is None:
            return self
        return replace(self, roots=[self.roots[index] for index in which])

    def branch(self, parent: int, token: int) -> int:
        node = len(self.tokens)
        self.tokens.append(token)
        self.parents.append(parent)
        self.positions.append(self.positions[parent] + 1)
        self.ancestors.append((node, node))
        above = parent
        while above >= self.length:
            self.ancestors.append((node, above))
            above = self.parents[above]
        self.limits.append(above)
        return node


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A text and where its tokens, as the dataset has them, begin and end."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]
    numerals: frozenset[int]  # which tokens are numerals
    written: Sequence[str]  # the normalised tokens

    @classmethod
    def of(cls, text: str, tokens: Sequence[Token]) -> "Paragraph":
        """A text that is in no dataset."""
        return cls(
            text,
            [token.start for token in tokens],
            [token.end for token in tokens],
            frozenset(index for index, token in enumerate(tokens) if token.is_numeral),
            [token.text for token in tokens],
        )

    @property
    def numeral_texts(self) -> list[str]:
        """The numerals in their order, normalised."""
        return [self.written[index] for index in sorted(self.numerals)]

    def tokens(self) -> list[Token]:
        spans = zip(self.written, self.starts, self.ends, strict=True)
        return [Token(*span, index in self.numerals) for index, span in enumerate(spans)]


class Planner:
    """Lays out paragraphs for one tokenizer."""

    def __init__(self, tokenizer: Any, tokens: NumeralTokens, start: int, window: int) -> None:
        self.tokenizer = tokenizer
        self.tokens = tokens
        self.start = start
        self.window = window

    def plans(
        self, paragraphs: Sequence[Paragraph], prefixes: Sequence[Prefix | None] | None = None
    ) -> list[list[Plan]]:
        """The windows of each paragraph, all after its prefix, if it has one."""
        if not paragraphs:  # of which tokenizers make an error
            return []
        paragraphs = [as_spelled(paragraph) for paragraph in paragraphs]
        encoded = self._encode([paragraph.text for paragraph in paragraphs])
        before = prefixes or [None] * len(paragraphs)
        rows = zip(paragraphs, encoded["input_ids"], encoded["offset_mapping"], before, strict=True)
        return [self._windows(*row) for row in rows]

    def before(self, paragraph: Paragraph, target: int, prefix: Prefix | None = None) -> Plan:
        """A window with only one of a paragraph's tokens to predict, and what leads to it."""
        plain = as_spelled(paragraph)
        encoded = self._encode([plain.text])
        ids, first = self._targets(plain, encoded["input_ids"][0], encoded["offset_mapping"][0])
        stop = first[target + 1]
        context = max(0, stop - (self.window - REACH))
        return self._plan(plain, ids[context:stop], first, context, target, target + 1, prefix)

    def _encode(self, texts: list[str]) -> Any:
        return self.tokenizer(
            texts,
            add_special_tokens=False,
            return_offsets_mapping=True,
            return_attention_mask=False,
            verbose=False,
        )

    def _windows(
        self,
        paragraph: Paragraph,
        ids: list[int],
        offsets: list[tuple[int, int]],
        prefix: Prefix | None,
    ) -> list[Plan]:
        ids, first = self._targets(paragraph, ids, offsets)
        count = len(paragraph.starts)
        room = self.window - REACH
        plans, done, context = [], 0, 0
        while done <= count:
            last = done
            while last < count and first[last + 1] - context <= room:
                last += 1
            if last < count:
                last = self._break(paragraph, done, last)
            last = count + 1 if last == count else last
            stop = min(first[last], context + room)
            window = ids[context:stop]
            plans.append(self._plan(paragraph, window, first, context, done, last, prefix))
            done = last
            # The next window sees half of this one again.
            context = max(0, first[min(done, count)] - room // 2)
        return plans

    def _targets(
        self, paragraph: Paragraph, ids: list[int], offsets: list[tuple[int, int]]
    ) -> tuple[list[int], list[int]]:
        """The tokens, and where those of each target begin; the end of the text is the last."""
        ids, owners = self._assign(paragraph, ids, np.array(offsets, np.int64).reshape(-1, 2))
        first: list[int] = np.searchsorted(owners, np.arange(len(paragraph.starts) + 2)).tolist()
        return ids, first

    def _break(self, paragraph: Paragraph, done: int, last: int) -> int:
        """Where a window may end: not after a numeral, so that what follows knows it has ended.

        A word longer than the window loses its end; a window of numerals alone breaks anywhere.
        """
        places = range(last, done, -1)
        return next((p for p in places if p - 1 not in paragraph.numerals), max(last, done + 1))

    def _assign(
        self, paragraph: Paragraph, ids: list[int], spans: np.ndarray
    ) -> tuple[list[int], np.ndarray]:
        """The tokens, and which of the dataset's tokens each belongs to: int64 [T].

        It is the one with its first character that is no white space; white space alone belongs
        to what follows. A token may so pay for several (`).`): the others come for free. But
        tokens that reach across the border of a numeral (`5mg`) are spelled in parts.
        """
        text = paragraph.text
        numerals = sorted(paragraph.numerals)
        starts = np.zeros(len(text) + 1, dtype=bool)
        starts[[paragraph.starts[n] for n in numerals]] = True
        borders = starts.copy()
        borders[[paragraph.ends[n] for n in numerals]] = True
        visible, lone_space = _visible(text)
        left, right = spans.T
        begins = np.minimum(visible[left], right)
        count = np.cumsum(borders)
        across = count[np.maximum(right - 1, 0)] > count[begins]
        # Before a numeral, only one space may be in the same token.
        across |= starts[begins] & (begins > left) & (begins < right) & ~lone_space[left]
        if across.any():
            new_ids: list[int] = []
            new_begins: list[int] = []
            for token, span, begin, cut in zip(ids, spans, begins, across, strict=True):
                places = np.flatnonzero(borders[begin + 1 : span[1]]) + begin + 1
                if cut and begin > span[0] and not lone_space[span[0]]:
                    places = np.concatenate([[begin], places])
                pieces = np.split(np.arange(*span), places - span[0]) if cut else []
                for piece in pieces:
                    part = self.tokens.spell(text[piece[0] : piece[-1] + 1])
                    new_ids += part
                    new_begins += [min(visible[piece[0]], piece[-1] + 1)] * len(part)
                if not cut:
                    new_ids.append(token)
                    new_begins.append(begin)
            ids, begins = new_ids, np.array(new_begins)
        owners = np.searchsorted(np.asarray(paragraph.ends), begins, "right")
        return ids, np.maximum.accumulate(owners)

    def _plan(
        self,
        paragraph: Paragraph,
        ids: list[int],
        first: list[int],
        context: int,
        begin: int,
        end: int,
        prefix: Prefix | None,
    ) -> Plan:
        """Targets `begin` to `end` of a paragraph, given the tokens from `context` on."""
        length = len(ids) + 1
        chain = list(range(length))
        start = self.start if prefix is None else prefix.last
        plan = Plan(length, [start, *ids], [-1, *chain[:-1]], chain, list(chain), prefix=prefix)
        count = len(paragraph.starts)
        previous: int | None = None  # the end term of the numeral before
        for target in range(begin, end):
            here = len(plan.targets)
            plan.targets.append(target)
            if previous is not None:
                plan.after.append((here, previous))
                previous = None
            low = min(first[target] - context, len(ids))
            high = min(first[target + 1] - context, len(ids)) if target < count else len(ids)
            if target in paragraph.numerals:
                previous = self._numeral(plan, paragraph, target, here, low, high)
            else:
                plan.words.extend((here, node) for node in range(low + 1, high + 1))
        if end > count:
            plan.finish.append((len(plan.targets) - 1, len(ids)))
        return plan

    def _numeral(
        self, plan: Plan, paragraph: Paragraph, target: int, here: int, low: int, high: int
    ) -> int:
        """Adds all spellings of a numeral; returns the term of the one the text has."""
        texts = [self.tokens.texts.get(token, "") for token in plan.tokens[low + 1 : high + 1]]
        stop = paragraph.ends[target]
        written = paragraph.text[paragraph.starts[target] : stop]
        # Other white space than one space is part of the text before.
        places = {"".join(texts[root - low :]): root for root in range(low, high)}
        space = next((space for space in (" ", "") if space + written in places), None)
        forms: tuple[str, ...] = ()
        root = low
        if space is not None:  # else the tokens do not show the numeral: it has one spelling
            root = places[space + written]
            forms = tuple(dict.fromkeys((written, *written_forms(paragraph.written[target]))))
        number = len(plan.numerals)
        # The state that predicts the first digit: a space of its own is already read.
        is_read = space == " " and plan.tokens[root + 1] == self.tokens.space
        plan.numerals.append((here, root + is_read))
        plan.roots.append((root, space or ""))
        plan.written.append(high)
        tree = self.tokens.tree_of(space or "", forms)
        nodes = self._graft(plan, tree, root)
        plan.starts.extend((number, low, nodes[node], kind) for node, kind in tree.starts)
        # A list without spaces, `1,23`: here the mark does not belong to the numeral.
        listed = re.match("[.,](?=[0-9])", paragraph.text[stop : stop + 2])
        mark = listed.group() if listed else ""
        is_plain = bool(forms) and not mark  # as a tree alone has it
        plan.trees.append((tree, nodes) if is_plain else None)
        own: int | None = None
        for end in tree.ends:
            if nodes[end.node] == high:
                own = len(plan.ends)
            point = nodes[end.point] if end.point >= 0 and mark != "." else -1
            comma = nodes[end.comma] if end.comma >= 0 and mark != "," else -1
            plan.ends.append((number, low, nodes[end.node], point, comma))
        plan.closings.extend((number, low, nodes[node], token) for _, node, token in tree.closings)
        if own is None:
            own = len(plan.ends)
            plan.ends.append((number, low, high, -1, -1))
        return own

    def _graft(self, plan: Plan, tree: SpellingTree, root: int) -> list[int]:
        """Nodes of the tree as nodes of the plan: those of the chain where they are the same."""
        nodes = [root]
        pairs = zip(tree.parents[1:].tolist(), tree.tokens[1:].tolist(), strict=True)
        for parent, token in pairs:
            above = nodes[parent]
            on_chain = above + 1 < plan.length and plan.tokens[above + 1] == token
            if above < plan.length and on_chain:
                nodes.append(above + 1)
            else:
                nodes.append(plan.branch(above, token))
        return nodes


def _visible(text: str) -> tuple[np.ndarray, np.ndarray]:
    """For each place, the next character that is no white space, and whether one space leads
    to it: int64 and bool [characters + 1]."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    is_white = np.isin(codes, _WHITE)
    places = np.arange(len(codes) + 1)
    nearest = np.where(np.append(is_white, False), len(codes), places)
    visible = np.minimum.accumulate(nearest[::-1])[::-1]
    return visible, np.append(codes == ord(" "), False) & (visible == places + 1)


def as_spelled(paragraph: Paragraph) -> Paragraph:
    """The paragraph with each numeral in a form that is spelled (`spelling/written.py`).

    Full-width digits, `.05`, `1’000` and a decimal comma are read as `0.05` and `1,000`, so that
    every numeral has the same spellings wherever it stands, and they sum up.
    """
    text, starts, ends = paragraph.text, list(paragraph.starts), list(paragraph.ends)
    spelled = {
        n: spelled_form(text[starts[n] : ends[n]], paragraph.written[n]) for n in paragraph.numerals
    }
    if all(text[starts[n] : ends[n]] == form for n, form in spelled.items()):
        return paragraph
    pieces, done, moved = [], 0, 0
    for index, (start, end) in enumerate(zip(paragraph.starts, paragraph.ends, strict=True)):
        form = spelled.get(index, text[start:end])
        pieces += [text[done:start], form]
        starts[index] += moved
        moved += len(form) - (end - start)
        ends[index] += moved
        done = end
    return replace(paragraph, text="".join([*pieces, text[done:]]), starts=starts, ends=ends)
