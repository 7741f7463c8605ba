"""Tables before a paragraph: what is written of them, and what the model then says, exactly."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from tests.lm.backbones.pretrained import brute_force
from tests.lm.backbones.pretrained.conftest import paragraph, shaken

from numerate.documents.document import Table
from numerate.errors import BackboneError
from numerate.lm.backbones.pretrained.backbone import open_backbone
from numerate.lm.backbones.pretrained.language_model import LaidOut, PretrainedLM
from numerate.lm.backbones.pretrained.layout import Paragraph
from numerate.lm.backbones.pretrained.prefix import Prefix
from numerate.lm.backbones.pretrained.written_tables import Prefixes, Source, TableWriter, words_of
from numerate.lm.backbones.spelling.written import written_forms
from numerate.lm.data.numeral_table import NumeralTable
from numerate.text.table_numbers import MAX_PLACE, columns_of_texts, numbers_of
from numerate.text.tokenizer import DEFAULT_RULES

KINDS = ("single", "glued", "metaspace", "mixed", "gpt2")
Models = dict[str, PretrainedLM]
AGES = Table(
    "t1",
    "Table 1",
    "Baseline",
    [["", "Drug (n = 12)", "Placebo"]],
    [["Age", "49 (19–87)", "51.5"], ["Weight", "70", "1·5"], ["", "", ""]],
)
DOSES = Table("t2", "Table 2", "", [], [["Dose", "5 mg"], ["Mean", "12"]])
EMPTY = Table("t3", "", "", [], [])
PLENTY = 10_000
WORDS = [
    "alpha",
    "bravo",
    "charlie",
    "delta",
    "echo",
    "foxtrot",
    "golf",
    "hotel",
    "india",
    "juliett",
]
TEXTS = ["the mean was 12.5 (from 100 to 2,000) in 7", "from 5 to 10", "in 49"]


def written(
    lm: PretrainedLM,
    tables: Sequence[Source],
    text: str = "",
    room: int | None = None,
) -> Prefix | None:
    writer = lm.table_writer(DEFAULT_RULES)
    if room is not None:
        writer = TableWriter(lm.backbone.tokenizer, lm.start or 0, room, DEFAULT_RULES)
    return Prefixes(writer, tables, [range(len(tables))], [text])[0]


def text_of(lm: PretrainedLM, prefix: Prefix | None) -> str:
    assert prefix is not None
    tokens = [*prefix.tokens[1:], prefix.last]
    return lm.backbone.tokenizer.decode(tokens, clean_up_tokenization_spaces=False)


def lay_out(lm: PretrainedLM, tables: Sequence[Table] = (AGES, DOSES)) -> list[LaidOut]:
    prefix = written(lm, tables)
    return lm.lay_out([paragraph(text) for text in TEXTS], [prefix] * len(TEXTS))


def test_cells_stand_between_bars_and_numbers_as_in_paragraphs(language_models: Models) -> None:
    lm = language_models["single"]
    assert text_of(lm, written(lm, [AGES, DOSES], room=PLENTY)) == (
        "Table 1. Baseline\n"
        "| | Drug (n = 12) | Placebo |\n"
        "| Age | 49 (19–87) | 51.5 |\n"
        "| Weight | 70 | 1.5 |\n"
        "\n"
        "Table 2\n"
        "| Dose | 5 mg |\n"
        "| Mean | 12 |\n"
        "\n"
    )


def test_a_cell_that_spans_others_is_written_once(language_models: Models) -> None:
    table = Table("t", "", "", [["a", "n = 7", "n = 7"]], [["b", "1", "2"]], frozenset({(-1, 2)}))
    lm = language_models["single"]
    assert text_of(lm, written(lm, [table])) == "| a | n = 7 | |\n| b | 1 | 2 |\n\n"


@pytest.mark.parametrize("kind", KINDS)
def test_every_number_ends_where_it_is_said_to(kind: str, language_models: Models) -> None:
    """Tokens up to there write it, and the token there is its last."""
    lm = language_models[kind]
    prefix = written(lm, [AGES, DOSES], room=PLENTY)
    assert prefix is not None
    assert prefix.seen.all()
    numbers = [number.text for table in (AGES, DOSES) for number in numbers_of(table)]
    assert len(prefix.ends) == len(numbers)
    decode = lm.backbone.tokenizer.decode
    for numeral, end in zip(numbers, prefix.ends, strict=True):
        last = decode(prefix.tokens[end : end + 1]).strip(" ▁")
        assert last[0] in numeral  # a token may go on with a unit
        assert decode(prefix.tokens[: end + 1]).rstrip(" mg).%–").endswith(numeral)


def test_what_fits_least_well_is_left_out(language_models: Models) -> None:
    """The rows nearest to the words stay, in their order, with their headers."""
    lm = language_models["single"]
    body = [[name, str(value)] for name, value in zip(WORDS, range(10, 20), strict=True)]
    table = Table("t", "T", "all", [["name", "mean"]], body)
    whole = written(lm, [table], room=PLENTY)
    assert whole is not None
    assert not whole.rows_left_out
    some = written(lm, [table], "hotel came after charlie, of 18 golf", len(whole) // 2)
    lines = text_of(lm, some).splitlines()
    assert lines[:2] == ["T. all", "| name | mean |"]
    kept = [line.split()[1] for line in lines[2:] if line]
    assert {"charlie", "golf", "hotel"} <= set(kept)
    assert kept == sorted(kept)
    assert some is not None
    assert some.rows_left_out == 10 - len(kept)
    assert some.seen.tolist() == [row[0] in kept for row in body]
    assert len(some) < len(whole) // 2


def test_the_numerals_of_a_paragraph_choose_no_row(language_models: Models) -> None:
    """They are yet to be predicted."""
    assert words_of("in 18.5 of mg") == {"in", "of", "mg"}
    lm = language_models["single"]
    table = Table("t", "T", "", [], [[str(value)] for value in range(100, 140)])
    first, second = (written(lm, [table], text, 80) for text in ("in 101", "in 139"))
    assert text_of(lm, first) == text_of(lm, second)


def test_rare_words_count_more(language_models: Models) -> None:
    lm = language_models["single"]
    rows = [["common", "1"], ["common", "2"], ["common", "3"], ["rare", "4"]]
    table = Table("t", "", "", [], rows)
    prefix = written(lm, [table], "common rare", 30)
    assert prefix is not None
    assert prefix.seen.tolist()[3]
    assert not prefix.seen.all()


def test_a_header_larger_than_the_room_leaves_half_of_it(language_models: Models) -> None:
    lm = language_models["single"]
    table = Table("t", "T", "7 " * 500, [["n = 3"]], [["1"], ["2"]])
    prefix = written(lm, [table], room=60)
    assert prefix is not None
    assert len(prefix) < 60
    assert prefix.seen.tolist() == [False, True, True]


@pytest.mark.parametrize("tables", [[], [EMPTY], [EMPTY, EMPTY]])
def test_tables_without_a_cell_are_no_hindrance(tables: list[Table], language_models) -> None:
    lm = language_models["single"]
    prefix = written(lm, tables)
    assert prefix is None or not len(prefix.ends)
    (found,) = lm.score(lm.lay_out([paragraph(TEXTS[0])], [prefix]))
    assert np.isfinite(found.targets).all()
    if not tables:
        (plain,) = lm.score(lm.lay_out([paragraph(TEXTS[0])]))
        np.testing.assert_allclose(found.targets, plain.targets, atol=1e-4)


def test_an_earlier_paragraph_is_written_a_sentence_a_line(language_models: Models) -> None:
    lm = language_models["single"]
    earlier = paragraph("The mean was .5 in 12. Then 1 000 came. No more")
    prefix = written(lm, [AGES, earlier], room=PLENTY)
    assert text_of(lm, prefix).endswith(
        "\n\nThe mean was 0.5 in 12.\nThen 1,000 came.\nNo more\n\n"
    )
    assert prefix is not None
    assert prefix.seen.all()
    assert len(prefix.ends) == len(numbers_of(AGES)) + len(earlier.numerals)


def test_numbers_are_written_as_columns_count_them(language_models: Models) -> None:
    far = Table("t", "", "", [], [["1", *[""] * MAX_PLACE, "2"], ["3"]])
    prefix = written(language_models["single"], [far], room=10 * MAX_PLACE)
    assert prefix is not None
    assert len(prefix.ends) == len(columns_of_texts([[far]]).number_numerals) == 2


def test_equal_prefixes_are_one_and_what_is_left_out_is_counted(language_models: Models) -> None:
    lm = language_models["single"]
    writer = TableWriter(lm.backbone.tokenizer, 0, 40, DEFAULT_RULES)
    views = [[0, 1], [1], [0, 1], [], [1]]
    prefixes = Prefixes(writer, [AGES, DOSES], views, ["mean dose"] * 5)
    assert prefixes.which.tolist() == [0, 1, 0, 2, 1]
    assert prefixes[3] is None
    assert prefixes[1] is prefixes[4]
    assert prefixes[0] is not None
    lost = prefixes[0].rows_left_out, int((~prefixes[0].seen).sum())
    assert lost[0]
    assert lost[1]
    assert prefixes.left_out == (2 * lost[0], 2 * lost[1])


@pytest.mark.parametrize("numeral", ["12.5", "2000", "10"])
@pytest.mark.parametrize("kind", KINDS[:4])
def test_with_tables_before_it_all_segmentations_are_summed(
    kind: str, numeral: str, language_models: Models
) -> None:
    lm = language_models[kind]
    prefix = written(lm, [AGES])
    assert prefix is not None
    (laid_out,) = lm.lay_out([paragraph(f"in {numeral}")], [prefix])
    (plan,) = laid_out.windows
    root, space = plan.roots[-1]
    context = [*prefix.tokens.tolist(), *plan.tokens[: root + 1]]
    model = brute_force.Model(lm.backbone.model, lm.backbone.tokenizer)
    p = sum(model.numeral(context, space, form) for form in written_forms(numeral))
    gate = model.begins(context, space)
    (found,) = lm.score([laid_out])
    expected = math.log(p / gate), math.log(gate)
    assert (found.numerals[-1], found.gates[-1]) == pytest.approx(expected, abs=2e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_words_after_tables_have_what_a_plain_pass_gives(kind: str, language_models) -> None:
    lm = language_models[kind]
    prefix = written(lm, [AGES, DOSES])
    assert prefix is not None
    (laid_out,) = lm.lay_out([paragraph("the mean was in the")], [prefix])
    (plan,) = laid_out.windows
    ids = [*prefix.tokens.tolist(), *plan.tokens[: plan.length]]
    model = brute_force.Model(lm.backbone.model, lm.backbone.tokenizer)
    table = model.next([ids[:length] for length in range(len(prefix) + 1, len(ids))])
    steps = np.log(table[np.arange(len(table)), ids[len(prefix) + 1 :]])
    (found,) = lm.score([laid_out])
    assert found.targets[:-1].sum() == pytest.approx(steps.sum(), abs=1e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_sharing_what_was_read_is_reading_it_anew(
    kind: str, language_models: Models, monkeypatch
) -> None:
    lm = language_models[kind]
    together = lm.score(lay_out(lm), detailed=True)
    alone = [lm.score(lay_out(lm)[index : index + 1], detailed=True)[0] for index in range(3)]
    monkeypatch.setattr(lm.scorer, "takes_masks", False)
    by_path = lm.score(lay_out(lm), detailed=True)
    for found, *others in zip(together, alone, by_path, strict=True):
        for other in others:
            for name in ("targets", "gates", "numerals", "states", "number_states", "node_states"):
                one, two = getattr(found, name), getattr(other, name)
                np.testing.assert_allclose(one, two, atol=2e-4, err_msg=name)


def test_prefixes_are_read_once_and_paragraphs_without_one_go_along(
    language_models: Models, monkeypatch
) -> None:
    lm = language_models["single"]
    prefix = written(lm, [AGES])
    paragraphs = [paragraph(text) for text in TEXTS]
    laid_out = lm.lay_out(paragraphs, [prefix, None, prefix])
    read = []
    hidden = type(lm.scorer).hidden

    def counted(self, tokens, **inputs):
        read.append(tuple(tokens.shape))
        return hidden(self, tokens, **inputs)

    monkeypatch.setattr(type(lm.scorer), "hidden", counted)
    found = lm.score(laid_out)
    assert prefix is not None
    assert read.count((1, len(prefix))) == 1
    assert len(read) == 2
    (plain,) = lm.score(lm.lay_out(paragraphs[1:2]))
    np.testing.assert_allclose(found[1].targets, plain.targets, atol=1e-4)
    assert np.abs(found[0].targets - lm.score(lm.lay_out(paragraphs[:1]))[0].targets).max() > 0.01


def test_groups_of_prefixes_and_small_batches_change_nothing(
    language_models: Models, monkeypatch
) -> None:
    lm = language_models["single"]
    prefixes = [written(lm, tables) for tables in ([AGES], [DOSES], [AGES, DOSES])]
    laid_out = lm.lay_out([paragraph(text) for text in TEXTS], prefixes)
    whole = lm.score(laid_out)
    for name in ("scorer", "language_model"):
        monkeypatch.setattr(f"numerate.lm.backbones.pretrained.{name}.PREFIX_TOKENS", {"cpu": 50})
    monkeypatch.setattr("numerate.lm.backbones.pretrained.language_model.SEEN", {"cpu": 1})
    for found, expected in zip(lm.score(laid_out), whole, strict=True):
        np.testing.assert_allclose(found.targets, expected.targets, atol=1e-4)
        np.testing.assert_allclose(found.number_states, expected.number_states, atol=1e-4)


def test_numbers_are_those_of_the_tables_then_the_paragraphs_own(language_models: Models) -> None:
    """Their states are what inner layers have after the last token of each."""
    import torch

    lm = language_models["single"]
    table = Table("t", "T", "", [["", "n = 3"]], [[name, "7"] for name in WORDS])
    prefix = written(lm, [table], "bravo", 60)
    assert prefix is not None
    assert not prefix.seen.all()
    some = paragraph("bravo 12.5 in 7")
    (laid_out,) = lm.lay_out([some], [prefix])
    (found,) = lm.score([laid_out])
    assert found.seen.tolist() == [*prefix.seen.tolist(), True, True]
    assert found.number_states.shape == (13, lm.scorer.number_size)
    (plan,) = laid_out.windows
    ids = [*prefix.tokens.tolist(), *plan.tokens[: plan.length]]
    with torch.no_grad():
        states = lm.scorer.hidden(torch.tensor([ids]))[0][0, :, : lm.scorer.number_size].numpy()
    seen = prefix.ends[prefix.seen]
    np.testing.assert_allclose(found.number_states[found.seen][:-2], states[seen], atol=1e-4)
    last = lm.backbone.tokenizer.decode(ids[-1:])
    assert last == "7"
    np.testing.assert_allclose(found.number_states[-1], states[-1], atol=1e-4)


def test_windows_of_a_long_paragraph_all_see_the_tables(language_models: Models) -> None:
    lm = language_models["single"]
    prefix = written(lm, [DOSES])
    long = paragraph("the mean was in 12 " * 30)
    (laid_out,) = lm.lay_out([long], [prefix])
    assert len(laid_out.windows) > 1
    assert all(plan.prefix is prefix for plan in laid_out.windows)
    assert all(plan.length <= lm.window_beside_tables for plan in laid_out.windows)
    (found,) = lm.score([laid_out])
    assert prefix is not None
    assert len(found.number_states) == len(prefix.ends) + 30


@pytest.mark.parametrize("adapts", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_candidates_after_tables_are_what_numerals_are(
    kind: str, adapts: bool, language_models: Models, monkeypatch
) -> None:
    """A table, the search and the writer say what the pass over the text says."""
    lm = language_models[kind]
    adapter = shaken(lm) if adapts else None
    laid_out = lay_out(lm)[0]
    (plan,) = laid_out.windows
    table = NumeralTable(["12.5", "100", "2000", "7", "8"])
    found = lm.table(plan, table, adapter=adapter)
    if not adapts:
        (scores,) = lm.score([laid_out])
        np.testing.assert_allclose(found[np.arange(4), np.arange(4)], scores.numerals, atol=2e-4)
    np.testing.assert_array_equal(lm.best(plan, table, adapter=adapter), found.argmax(1))
    writer = lm.writer(plan, 3, adapter)
    assert writer is not None
    monkeypatch.setattr(lm.scorer, "takes_masks", False)
    np.testing.assert_allclose(lm.table(plan, table, adapter=adapter), found, atol=2e-4)
    np.testing.assert_array_equal(lm.best(plan, table, adapter=adapter), found.argmax(1))


def test_a_model_without_room_for_tables_is_refused(make_tiny: Callable[..., Path]) -> None:
    lm = PretrainedLM(open_backbone(make_tiny(max_position_embeddings=150)), start=0)
    assert lm.window == 150
    with pytest.raises(
        BackboneError, match="window is 150 tokens, expected 192 or more for tables"
    ):
        lm.lay_out([Paragraph.of("", [])], [None])
