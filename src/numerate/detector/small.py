"""The network of the detector: it reads a paragraph both ways, and points.

For each numeral it asks which number in sight belongs there, by the words around it and by where
the numbers next to it were taken from, without looking at the numeral itself (the pointer). Then
it compares what stands there with what it pointed to, and with all else in sight: equal, rounded,
one slip away. Numbers of tables are read likewise, by their rows, columns, and the texts about
them.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from numerate.detector.articles import Article
from numerate.detector.evidence import EVIDENCE, Evidence
from numerate.detector.known import KnownArticles
from numerate.detector.locations import LOCATION, SCALE
from numerate.detector.numeral_figures import CELL_FIGURES, TEXT_FIGURES
from numerate.detector.relations import RELATIONS, SAME, SLIPS_APART, NumeralColumns
from numerate.errors import NumerateError, RunError
from numerate.storage.records import misfit, typed
from numerate.text.vocabulary import Vocabulary

EXPONENTS = (-5, 8)
DECIMALS = 6
SYMBOLS = 11  # ten digits, and none
NUMERAL_FEATURES = 2 * 6 * SYMBOLS + EXPONENTS[1] - EXPONENTS[0] + 1 + DECIMALS + 2
POINTING = 32  # size of what the pointer compares
PAIR = 48  # of what is known of a pair
LEAST = 1e-5  # probability that is told from none


@dataclass(frozen=True, slots=True)
class SmallOptions:
    hidden: int = 128
    dropout: float = 0.2
    layers: int = 1
    evidence: int = EVIDENCE

    def __post_init__(self) -> None:
        for name in ("hidden", "layers"):
            if getattr(self, name) < 1:
                raise NumerateError(f"{name}: got {getattr(self, name)}, expected 1 or more")
        if self.evidence != EVIDENCE:
            raise RunError(
                f"detector: learnt from evidence {self.evidence}, expected {EVIDENCE}; "
                "train it anew"
            )


def stored_options(record: dict[str, Any]) -> SmallOptions:
    """Read the options in `config.json`."""
    if wrong := misfit(record, SmallOptions) or misfit(record, {"evidence": int}):
        raise RunError(f"options.{wrong}; train it anew")
    if (network := record.get("network", "lstm")) != "lstm":
        raise RunError(f"network: got {network!r}, expected 'lstm'; train it anew")
    return typed(SmallOptions, record)


def numeral_features(numerals: NumeralColumns) -> np.ndarray:
    """What numerals look like: float32 [U, NUMERAL_FEATURES].

    Digits from the left and from the right, the exponent, the decimals, and the logarithm.
    """
    symbols = []
    for side in (numerals.left[:, :6], numerals.right[:, :6]):
        codes = np.minimum(side.astype(np.int64) - ord("0"), SYMBOLS - 1)
        codes = np.where(codes < 0, SYMBOLS - 1, codes)
        symbols.append(np.eye(SYMBOLS, dtype=np.float32)[codes].reshape(len(side), 6 * SYMBOLS))
    low, high = EXPONENTS
    exponents = np.floor(numerals.logs + 1e-12).astype(np.int64).clip(low, high) - low
    return np.concatenate(
        [
            *symbols,
            np.eye(high - low + 1, dtype=np.float32)[exponents],
            np.eye(DECIMALS, dtype=np.float32)[numerals.precisions.clip(max=DECIMALS - 1)],
            np.stack([numerals.logs.clip(low, high) / high, numerals.values == 0], axis=1),
        ],
        axis=1,
    ).astype(np.float32)


@dataclass(frozen=True, slots=True)
class Logits:
    """Log-odds that numerals are errors, as `labels` counts them."""

    texts: Tensor  # [N] numerals of texts
    cells: Tensor  # [C] numbers of tables
    cell_places: np.ndarray  # [C] which, of all numbers of tables
    auxiliary: Tensor | None = None  # the loss of the pointer, in training
    suggestions: list[tuple[str, float] | None] | None = None
    """[N] what may belong there instead, if it was asked for, and the probability that it does."""


class PairReader(nn.Module):
    """What the numbers compared with say of places, pooled over the pairs of each."""

    def __init__(self, size: int, dropout: float) -> None:
        super().__init__()
        self.queries = nn.Linear(size, POINTING)
        self.keys = nn.Linear(size, POINTING)
        self.locate = nn.Sequential(nn.Linear(len(LOCATION), PAIR), nn.ReLU(), nn.Linear(PAIR, 1))
        self.nothing = nn.Linear(size, 1)
        self.compare = nn.Linear(len(LOCATION) + len(RELATIONS) + 2, PAIR)
        self.weigh = nn.Linear(PAIR, 2)
        self.dropout = nn.Dropout(dropout)

    @property
    def pooled(self) -> int:
        return 2 * len(RELATIONS) + 3 + 3 * PAIR

    def forward(
        self,
        context: Tensor,
        vectors: Tensor,
        places: Tensor,
        numbers: Tensor,
        pairs: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Take `context` [N, D] of places, `vectors` [E, D] of numbers, and pairs [K, …] of both.

        Return what is pooled [N, pooled], the log-probability of each pair [K] that its number
        belongs at the place, and that none does [N].
        """
        count = context.shape[0]
        location, relation = torch.split(pairs, [len(LOCATION), len(RELATIONS)], dim=1)
        products = (
            self.queries(context).index_select(0, places)
            * self.keys(vectors).index_select(0, numbers)
        ).sum(1) / POINTING**0.5
        scores = products + self.locate(location).squeeze(1)  # [K]
        nothing = self.nothing(context).squeeze(1)  # [N]
        log_pointed, log_nothing = _log_softmax(scores, places, nothing)
        pointed = log_pointed.exp()  # [K]
        met = torch.zeros(count, len(RELATIONS), dtype=pairs.dtype, device=pairs.device)
        met = met.index_add(0, places, pointed[:, None] * relation)
        known = torch.cat([pairs, products[:, None], log_pointed[:, None].clamp(min=-12) / 6], 1)
        compared = torch.relu(self.compare(known))  # [K, PAIR]
        compared = self.dropout(compared)
        best = torch.zeros(count, PAIR, dtype=compared.dtype, device=compared.device)
        best = best.scatter_reduce(0, places[:, None].expand_as(compared), compared, "amax")
        weighed = []
        for score in self.weigh(compared).T:
            log_weights, _ = _log_softmax(score, places, torch.zeros_like(nothing))
            total = torch.zeros(count, PAIR, dtype=compared.dtype, device=compared.device)
            weighed.append(total.index_add(0, places, log_weights.exp()[:, None] * compared))
        surest = torch.zeros_like(nothing).scatter_reduce(0, places, pointed, "amax")
        pooled = torch.cat(
            [
                met,
                (met + LEAST).log() / -math.log(LEAST),  # odds are products
                log_nothing.exp()[:, None],
                log_nothing[:, None].clamp(min=math.log(LEAST)) / -math.log(LEAST),
                surest[:, None],
                best,
                *weighed,
            ],
            dim=1,
        )
        return pooled, log_pointed, log_nothing


def _log_softmax(scores: Tensor, places: Tensor, nothing: Tensor) -> tuple[Tensor, Tensor]:
    """Over the pairs of each place, and what there is without any: [K], [N]."""
    most = nothing.detach().scatter_reduce(0, places, scores.detach(), "amax")
    total = (nothing - most).exp().index_add(0, places, (scores - most[places]).exp())
    log_total = total.log() + most
    return scores - log_total[places], nothing - log_total


class SmallClassifier(nn.Module):
    """Scores every numeral of articles, with what stands before and after it in view."""

    def __init__(self, vocabulary: Vocabulary, options: SmallOptions) -> None:
        super().__init__()
        self.vocabulary, self.chosen = vocabulary, options
        self._word_ids = vocabulary.word_ids()
        size = options.hidden
        self.words = nn.Embedding(len(vocabulary.words), size)
        nn.init.normal_(self.words.weight, std=0.3)
        self.numerals = nn.Sequential(
            nn.Linear(NUMERAL_FEATURES, size), nn.ReLU(), nn.Linear(size, size)
        )
        self.dropout = nn.Dropout(options.dropout)
        self.network = LSTMBothWays(size, options.layers, options.dropout)
        self.header = nn.Linear(size, 3 * size, bias=False)
        self.of_table = nn.Linear(size, size)
        self.of_text = nn.Linear(3 * size, size)
        self.context = nn.Linear(2 * size, size)
        self.cell_context = nn.Linear(3 * size, size)
        self.reader = PairReader(size, options.dropout)
        self.cell_reader = PairReader(size, options.dropout)
        self.judge = _Judge(size, self.reader.pooled + TEXT_FIGURES, options.dropout)
        self.cell_judge = _Judge(size, self.cell_reader.pooled + CELL_FIGURES, options.dropout)

    def options(self) -> dict[str, Any]:
        """Return what it was made with, as `config.json` keeps it."""
        return asdict(self.chosen)

    @property
    def device(self) -> torch.device:
        return self.words.weight.device

    def prepare(self, articles: Sequence[Article]) -> KnownArticles:
        """Find out what does not depend on errors."""
        return KnownArticles(articles, self._word_ids)

    def forward(self, evidence: Evidence, *, suggest: bool = False) -> Logits:
        device = self.device

        def moved(array: np.ndarray) -> Tensor:
            return torch.from_numpy(array).to(device)

        def features(array: np.ndarray) -> Tensor:
            return moved(array).float() / SCALE

        count = len(self.vocabulary.words)
        numerals = self.numerals(moved(numeral_features(evidence.numerals)))  # [U, D]
        numbers = numerals.index_select(0, moved(evidence.numbers))  # [C + N, D]
        tables = len(evidence.header_bags)
        # Texts, both ways; a numeral's context is what was read before it and after it.
        table = torch.cat([self.words.weight, numerals, numerals.new_zeros(1, numerals.shape[1])])
        ids = moved(np.where(evidence.words < 0, count + len(numerals), evidence.words))
        embedded = table.index_select(0, ids.flatten()).view(
            *ids.shape, table.shape[1]
        )  # [L, B, D]
        before, after = self.network(self.dropout(embedded), moved(evidence.lengths))
        positions = moved(evidence.positions)
        around = torch.cat([_at(before, positions), _at(after, positions)], 1)  # [N, 2 D]
        context = self.dropout(torch.tanh(self.context(around)))
        # Numbers of tables, by the words of their headers.
        bags = moved(evidence.bags)
        known = bags >= 0
        words = self.words(bags.clamp(min=0)) * known[:, :, None]
        mean = words.sum(1) / known.sum(1, keepdim=True).clamp(min=1)  # [G, D]
        parts = self.header(self.dropout(mean)).chunk(3, dim=1)
        header_bags = moved(evidence.header_bags)
        headers = [part.index_select(0, header_bags[:, at]) for at, part in enumerate(parts)]
        of_table = torch.tanh(self.of_table(numbers[:tables]) + sum(headers))
        of_text = torch.tanh(self.of_text(torch.cat([around, numbers[tables:]], 1)))
        vectors = self.dropout(torch.cat([of_table, of_text]))  # [C + N, D]
        pair_places = moved(evidence.pair_places)
        pooled, pointed, nothing = self.reader(
            context,
            vectors,
            pair_places,
            moved(evidence.pair_numbers),
            features(evidence.pairs),
        )
        texts = self.judge(context, numbers[tables:], pooled, moved(evidence.figures))
        auxiliary = None
        if self.training and len(texts):
            auxiliary = -_log_right(pointed, nothing, pair_places, moved(evidence.right)).mean()
        places = moved(evidence.cell_places)
        cell_context = torch.tanh(self.cell_context(torch.cat(headers, 1).index_select(0, places)))
        cell_pooled, _, _ = self.cell_reader(
            cell_context,
            vectors,
            moved(evidence.cell_pair_places),
            moved(evidence.cell_pair_numbers),
            features(evidence.cell_pairs),
        )
        cells = self.cell_judge(
            cell_context,
            numbers.index_select(0, places),
            cell_pooled,
            moved(evidence.cell_figures),
        )
        suggestions = _suggestions(evidence, pointed, nothing) if suggest else None
        return Logits(texts, cells, evidence.cell_places, auxiliary, suggestions)


def _at(states: Tensor, positions: Tensor) -> Tensor:  # [L, B, D] → [N, D]
    return states.flatten(0, 1).index_select(0, positions)


def _log_right(pointed: Tensor, nothing: Tensor, places: Tensor, right: Tensor) -> Tensor:
    """Log-probability of pointing to what should stand there; to nothing, if it is not in sight."""
    total = torch.zeros_like(nothing).index_add(0, places, pointed.exp() * right)
    there = torch.zeros_like(nothing).index_add(0, places, right.to(nothing.dtype)) > 0
    return torch.where(there, total.clamp(min=1e-12).log(), nothing)


def _suggestions(
    evidence: Evidence, pointed: Tensor, nothing: Tensor
) -> list[tuple[str, float] | None]:
    """Of each numeral of a text, the number in sight one slip away that most likely belongs there,
    and the probability that it does if what stands there does not."""
    weights = pointed.exp().double().cpu().numpy()  # [K]
    related = evidence.pairs[:, len(LOCATION) :]
    others = np.where(related[:, SAME] > 0, 0.0, weights)
    count, distinct = len(evidence.figures), len(evidence.numerals.texts)
    total = np.bincount(evidence.pair_places, others, minlength=count)
    total = total + nothing.exp().double().cpu().numpy()
    apart = related[:, SLIPS_APART].any(1)
    numerals = evidence.numbers[evidence.pair_numbers]
    keys, inverse = np.unique(
        evidence.pair_places[apart] * distinct + numerals[apart], return_inverse=True
    )
    chances = np.bincount(inverse, others[apart], minlength=len(keys))
    found: list[tuple[str, float] | None] = [None] * count
    for key in np.argsort(chances, kind="stable").tolist():  # the most likely last
        place, numeral = divmod(int(keys[key]), distinct)
        found[place] = evidence.numerals.texts[numeral], float(chances[key] / total[place])
    return found


class _Judge(nn.Module):
    """From context, numeral and evidence to log-odds."""

    def __init__(self, size: int, figures: int, dropout: float) -> None:
        super().__init__()
        self.context = nn.Linear(size, size)
        self.numeral = nn.Linear(size, size)
        self.layers = nn.Sequential(
            nn.Linear(3 * size + figures, size),
            nn.ReLU(),
            nn.Dropout(dropout),
            nn.Linear(size, size),
            nn.ReLU(),
            nn.Dropout(dropout),
            nn.Linear(size, 1),
        )

    def forward(self, context: Tensor, numeral: Tensor, pooled: Tensor, figures: Tensor) -> Tensor:
        expected, there = self.context(context), self.numeral(numeral)
        everything = [torch.relu(expected), torch.relu(there), expected * there, pooled, figures]
        judged: Tensor = self.layers(torch.cat(everything, dim=1)).squeeze(1)
        return judged


class LSTMBothWays(nn.Module):
    """States before every token that know all earlier ones, and after it that know all later."""

    def __init__(self, size: int, layers: int, dropout: float) -> None:
        super().__init__()
        between = dropout if layers > 1 else 0.0
        self.ways = nn.ModuleList(nn.LSTM(size, size, layers, dropout=between) for _ in range(2))

    def forward(self, embedded: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        if not embedded.numel():
            return embedded, embedded
        steps = torch.arange(embedded.shape[0], device=embedded.device)[:, None]
        inside = steps < lengths  # [L, B]
        turned = torch.where(inside, lengths - 1 - steps, steps)[:, :, None].expand_as(embedded)
        forwards = self.ways[0](embedded)[0]
        backwards = self.ways[1](embedded.gather(0, turned))[0].gather(0, turned)
        return _beside(forwards, backwards * inside[:, :, None])


def _beside(forwards: Tensor, backwards: Tensor) -> tuple[Tensor, Tensor]:
    """The states before and after every token, which do not know itself: [L, B, D] each."""
    before = F.pad(forwards[:-1], (0, 0, 0, 0, 1, 0))
    after = F.pad(backwards[1:], (0, 0, 0, 0, 0, 1))
    return before, after
