"""Markdown, Quarto and R Markdown as text and tables, with the way back."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.documents.places import assert_places_are_inside

import numerate
from numerate.documents import documents
from numerate.documents.document import Document
from numerate.documents.reader import Unit
from numerate.proofread.fixing import apply, fixes


def read(source: str) -> Document:
    (document,) = documents(Unit("notes.md", "markdown", source.encode()))
    assert isinstance(document, Document)
    return document


def texts(source: str) -> list[str]:
    return [paragraph.text for paragraph in read(source).paragraphs]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("*t*(28) = 2.20, _p_ = **0.36**", "t(28) = 2.20, p = 0.36"),
        ("5*3, 2 * 4 and p = 0.03\\*; q = 0.04*", "5*3, 2 * 4 and p = 0.03*; q = 0.04*"),
        ("snake_case_5 and __6__", "snake_case_5 and 6"),
        ("`x = 5` of 7 and ``a ` 8``", "_math_ of 7 and _math_"),
        ("$p < 0.05$, $\\chi^2(2) = 5.1$ and $42\\,\\%$", "p < 0.05, χ^2(2) = 5.1 and 42 %"),
        ("costs $5 or $6, $$x = 7$$", "costs $5 or $6, _math_"),
        ("[42 of 120](http://a.b/53) in [text][ref], [7] left", "42 of 120 in text, [7] left"),
        ("<https://a.b/5>, https://a.b/6 and [https://a.b](c)", "_ref_, _ref_ and _ref_"),
        ("![Picture 5](a5.png){width=50%} 6", "6"),
        ("m^2^, H~2~O, 10<sup>6</sup> 5, ~~8~~ 9", "m^2, H2O, 10^6 5, 8 9"),
        ("see [@smith2020, p. 5; @a] and @jones2019", "see _cite_"),
        ("5&nbsp;kg &lt; 6&#37; <!-- 7 --> <b>8</b><br>9", "5 kg < 6% 8 9"),
        ("`r nrow(x)` people {{< meta n5 >}} and 1--2 --- so", "_math_ people and 1–2 — so"),
        ("> quoted 5\n> and 6", "quoted 5 and 6"),
        ("[span 5]{.red} and (6)[^a]", "span 5 and (6)"),
    ],
)
def test_what_is_shown(source: str, expected: str) -> None:
    assert texts(source) == [expected]


def test_blocks() -> None:
    found = read(
        "---\ntitle: Of 5\n---\n\n# Abstract {#sec-a}\n\nShort 12.\n\nResults of 7\n---\n\n"
        "First line\nsecond 8.\n- item 9\n  goes on\n- [x] item 10\n1. numbered\n\n"
        "```{r}\n#| label: fig-x\nx <- 11\n```\n\n    code 12\n\n***\n\n"
        "Text^[A note on 13.] here.[^n]\n\n[^n]: Another\n    on 14.\n\n[a]: http://b.c/15\n\n"
        ":::: {.column}\nWithin 16\n::::\n<script>17</script>\n<div>18</div>\n"
    )
    assert [(p.kind, p.text) for p in found.paragraphs] == [
        ("#", "Abstract"),
        ("", "Short 12."),
        ("##", "Results of 7"),
        ("", "First line second 8."),
        ("item", "item 9 goes on"),
        ("item", "item 10"),
        ("numbered", "numbered"),
        ("", "Text here."),
        ("", "A note on 13."),
        ("", "Another on 14."),
        ("", "Within 16"),
        ("", "18"),
    ]
    assert [p.text for p in found.paragraphs if p.in_abstract] == ["Short 12."]


PIPES = "|a|*b*|\n|-|-:|\n|x|**1**|\n"
GRID = "+---+---+\n| a | b |\n+===+===+\n| x | 1 |\n|   | 2 |\n+---+---+\n"
SIMPLE = " a    b\n --  ----\n x     1\n y     2\n"
SEVERAL = "-----------\n a    b\n ---  ----\n x    1 and\n      2\n\n y    3\n-----------\n"
HTML = """<table id='t'><tr><th>a</th><th>b</th></tr>
<tr><td>x</td><td>1<sup>a</sup></td></tr></table>
"""


@pytest.mark.parametrize(
    ("source", "header", "body"),
    [
        (PIPES, [["a", "b"]], [["x", "1"]]),
        (GRID, [["a", "b"]], [["x", "1 2"]]),
        (SIMPLE, [["a", "b"]], [["x", "1"], ["y", "2"]]),
        (SEVERAL, [["a", "b"]], [["x", "1 and 2"], ["y", "3"]]),
        (HTML, [["a", "b"]], [["x", "1^a"]]),
    ],
)
def test_tables(source: str, header: list[list[str]], body: list[list[str]]) -> None:
    found = read(f"As Table 1 shows.\n\n{source}\n: Ages of `5` {{#tbl-a}}\n\nAfter 6 (@tbl-a).\n")
    (table,) = found.tables
    assert (table.header, table.body) == (header, body)
    assert (table.id, table.label, table.caption) == ("tbl-a", "Table 1", "Ages of _math_")
    assert [p.text for p in found.paragraphs] == ["As Table _ref_ shows.", "After 6 (_ref_)."]
    assert [p.tables for p in found.paragraphs] == [("tbl-a",), ("tbl-a",)]


def test_rows_of_a_header_may_span() -> None:
    source = "| A | B (n = 5) | | C |\n|---|---|---|---|\n| | n | % | n |\n| x | 1 | 2 | 3 |\n"
    (table,) = read(source).tables
    assert table.header == [["A", "B (n = 5)", "B (n = 5)", "C"], ["A", "n", "%", "n"]]
    assert table.repeated == {(-2, 2), (-1, 0)}


def test_captions_above_and_below() -> None:
    one, other = PIPES, PIPES.replace("x", "y")
    for source in (
        f"Table 1. One\n\n{one}\nTable 2. Other\n\n{other}",
        f"{one}\nTable 1. One\n\n{other}\nTable 2. Other\n",
        f"Table: One\n\n{one}\n\n{other}\n: Other\n",
    ):
        found = read(source)
        assert [(table.label, table.caption) for table in found.tables] == [
            ("Table 1", "One"),
            ("Table 2", "Other"),
        ]
        assert not found.paragraphs


def test_tables_that_code_makes_have_names() -> None:
    found = read(
        '```{r}\n#| label: tbl-ages\n#| tbl-cap: "Ages of 12"\nkable(x)\n```\n\nSee @tbl-ages, 5.\n'
    )
    (table,) = found.tables
    assert (table.id, table.caption, table.is_picture) == ("tbl-ages", "Ages of 12", True)
    assert found.paragraphs[0].tables == ("tbl-ages",)


def test_latex_within_markdown_is_read_as_such() -> None:
    source = (
        "Of \\SIrange{10}{90}{\\nano\\meter}, \\newpage see Table \\@ref(tab:x), \\ref{tab:y}.\n\n"
        "\\begin{tabular}{ll}\nA & B \\\\ \\hline\nx & 1 \\\\\n\\end{tabular}\n\n"
        "\\begin{table}\n\n\\caption{\\label{tab:y}Ages of 5}\n\\begin{tabular}{ll}\n"
        "A & B \\\\ \\midrule\n$x_1$ & 2.5 \\\\\n\\end{tabular}\n\\end{table}\n\n"
        "Table: (\\#tab:x) Others\n\n|a|b|\n|-|-|\n|z|3|\n\n\\begin{open}\n\n7 left\n"
    )
    found = read(source)
    assert [p.text for p in found.paragraphs] == [
        "Of 10 nm to 90 nm, see Table _ref_, _ref_.",
        "7 left",
    ]
    assert found.paragraphs[0].tables == ("tab:x", "tab:y")
    assert [(one.id, one.label, one.caption) for one in found.tables] == [
        ("#tex1", "Table in line 3", ""),
        ("tab:y", "Table 1", "Ages of 5"),
        ("tab:x", "Table 2", "Others"),
    ]
    places = found.tables[1].source
    assert places is not None
    assert source[slice(*places.span(0, 1, 0, 3))] == "2.5"


def test_numerals_have_line_and_column(tmp_path: Path) -> None:
    path = tmp_path / "notes.qmd"
    source = (
        "---\nn: 42 of 120 (53%)\n---\n\n> In all **42** of 120 ([53](http://a.b)%) did,\n"
        "> and *t*(28) = 2.20,\n> *p* = 0.36. <!-- numerate: ignore -->\n\n"
        "| a | n |\n|---|---|\n| **x** | 42 |\n| y | 60 |\n| Total | 120 |\n"
    )
    path.write_text(source, encoding="utf-8")
    found = numerate.check(path)
    (finding,) = [one for one in found if one.code == "NUM101"]
    place = found.read.place(finding.where)
    assert (place.line, place.column, source[place.start : place.end]) == (5, 26, "53")
    assert "0.36" not in [one.written for one in found]
    apply(found, [fix for fix in fixes(found) if fix.finding is finding])
    assert "([35](http://a.b)%)" in path.read_text(encoding="utf-8")


SIGNS = (
    "| a | b |;|---|---|;+---+---+;+===+===+; --  ----;-------;# ;- ;1. ;> ;```;$x$;$$;`;*;**;_;"
    "[a](b);[^1];[^1]: ;^[n];<table>;</table>;<tr>;<td colspan=3>;</td>;<sup>;<!--;-->;: c;---;"
    ":::;@tbl-a;{#tbl-a};&amp;\\;\n;\n\n;12;5.5; ;~;^;<b>;[;];(;)"
)
PIECES = st.sampled_from(SIGNS.split(";"))


@settings(max_examples=300, deadline=None)
@given(st.lists(st.one_of(PIECES, st.text(max_size=5)), max_size=40).map("".join))
def test_no_source_breaks_it(source: str) -> None:
    source = source.encode("utf-8", "replace").decode()
    assert_places_are_inside(read(source), source)


def test_a_sentence_about_a_table_is_no_caption() -> None:
    found = read("Table 1 shows 5 of 9.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n")
    assert [one.text for one in found.paragraphs] == ["Table _ref_ shows 5 of 9."]
    assert found.tables[0].caption == ""


def small_table(cell: str) -> str:
    return f"<table><tr><th>a</th><th>b</th></tr><tr><td>x</td><td>{cell}</td></tr></table>"


def test_text_before_and_behind_tables_of_html_in_their_line() -> None:
    one, other = small_table("1"), small_table("2")
    found = read(f" There were 30 of 1234 {one}{other} Of 50, 30 left.\nMore 5.\n\n{one}</div>\n")
    assert [p.text for p in found.paragraphs] == [
        "There were 30 of 1234",
        "Of 50, 30 left. More 5.",
    ]
    assert [table.body for table in found.tables] == [[["x", "1"]], [["x", "2"]], [["x", "1"]]]


def test_tables_within_cells_are_text_of_the_cell() -> None:
    found = read(f"{small_table('9' + small_table('5') + ' y')} and 7\n")
    assert [table.body for table in found.tables] == [[["x", "9 a b x 5 y"]]]
    assert [p.text for p in found.paragraphs] == ["and 7"]


def test_tags_around_a_table_do_not_part_it_from_its_caption() -> None:
    found = read(f"Table 7. Ages\n\n<div>\n{small_table('1')}</div>\n")
    assert [(table.label, table.caption) for table in found.tables] == [("Table 7", "Ages")]


def test_a_rule_at_the_beginning_is_no_front_matter() -> None:
    assert texts("---\n\nOf 50.\n\n---\n\nMore 60.\n") == ["Of 50.", "More 60."]
    assert texts("---\r\nn: 5\r\n---\r\nMore 60.\r\n") == ["More 60."]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("# A 5 {#a .b}", "A 5"),
        ("## A 5 ##  ", "A 5"),
        ("## A 5 ### {.x}", "A 5"),
        ("# C# 5#", "C# 5#"),
        ("# a {5} b", "a {5} b"),
        ("A 5 {#a}\n===", "A 5"),
    ],
)
def test_headings(source: str, expected: str) -> None:
    assert texts(source) == [expected]


TICKS = " ".join("`" * count for count in range(1, 600))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("# a" + " " * 300_000 + "b", ["a b"]),
        (TICKS, [TICKS]),
        ("```{r}\n#| tbl-cap: a" + " " * 300_000 + "b\n```\n", ["a b"]),
        (PIPES + "\n: a" + " " * 300_000 + "b\n", ["a b"]),
        (PIPES + "\n: {" + "#a" * 100_000 + "\n", ["{" + "#a" * 100_000]),
    ],
    ids=["heading", "backticks", "option", "caption", "attributes"],
)
def test_long_runs_of_signs_are_read(source: str, expected: list[str]) -> None:
    """Anything but linear time would take from minutes to days."""
    found = read(source)
    shown = [p.text for p in found.paragraphs] + [table.caption for table in found.tables]
    assert shown == expected


def test_a_list_of_references_is_not_text() -> None:
    found = read(
        "# Walks\n\n## Summary\n\nOf 40, 34.\n\n## Methods\n\nFor 12 weeks.\n\n"
        "## Summary\n\nAll 40.\n\n## 5. References\n\n1. Low A. J Odd. 2010;12:1-5.\n\n"
        "### Web\n\nSeen 2011.\n\n## Supplement\n\nThe 9."
    )
    text = [one.text for one in found.paragraphs if not one.kind.startswith("#")]
    assert text == ["Of 40, 34.", "For 12 weeks.", "All 40.", "The 9."]
    assert [one.text for one in found.paragraphs if one.in_abstract] == ["Of 40, 34."]
