from collections.abc import Callable
from pathlib import Path

import pytest
from tests.documents.reading import read_one

from numerate.documents import documents
from numerate.documents.document import Document
from numerate.documents.reader import Unit
from numerate.errors import DocumentError
from numerate.lm.data.keep import Keep
from numerate.text.tokenizer import tokenize

NAMESPACES = (
    'xmlns:m="http://www.w3.org/1998/Math/MathML" xmlns:xlink="http://www.w3.org/1999/xlink"'
)


def article(body: str, *, front: str = "", back: str = "") -> bytes:
    parts = f"<front>{front}</front><body>{body}</body><back>{back}</back>"
    return f"<article {NAMESPACES}>{parts}</article>".encode()


def read(body: str) -> Document:
    return read_one("jats", article(body), "a.xml")


def text(paragraph: str) -> str:
    [only] = read(f"<p>{paragraph}</p>").paragraphs
    return only.text


def tokens(paragraph: str) -> list[str]:
    return [token.text for token in tokenize(text(paragraph))]


def formula(mathml: str) -> str:
    return f"<inline-formula><m:math>{mathml}</m:math></inline-formula>"


def cite(number: int) -> str:
    return f'<xref ref-type="bibr" rid="b{number}">{number}</xref>'


# Scripts


@pytest.mark.parametrize(
    ("paragraph", "expected"),
    [
        ("10<sup>6</sup>", ["10", "^", "6"]),
        ("10<sup>−6</sup>mol", ["10", "^", "−", "6", "mol"]),
        ("10<sup>6</sup>.5", ["10", "^", "6", ".", "5"]),
        ("m<sup>2</sup>/s", ["m", "^", "2", "/", "s"]),
        ("<sup>13</sup>C", ["^", "13", "c"]),
        ("FEV<sub>1</sub>", ["fev1"]),
        ("<italic>FEV</italic><sub>1</sub>5", ["fev1", "5"]),
        ("H<sub>2</sub>O", ["h2", "o"]),
        ("p<sub>0.05</sub>", ["p", "_", "0.05"]),
        ("5<sub>2</sub>", ["5", "_", "2"]),
        ("CO<sub>2</sub><sup>3</sup>4", ["co2", "^", "3", "4"]),
    ],
)
def test_scripts_never_glue(paragraph: str, expected: list[str]) -> None:
    assert tokens(paragraph) == expected


@pytest.mark.parametrize(
    ("mathml", "expected"),
    [
        ("<m:msup><m:mn>10</m:mn><m:mn>6</m:mn></m:msup>", ["10", "^", "6"]),
        ("<m:msub><m:mi>FEV</m:mi><m:mn>1</m:mn></m:msub>", ["fev1"]),
        ("<m:msubsup><m:mi>x</m:mi><m:mn>1</m:mn><m:mn>2</m:mn></m:msubsup>", ["x1", "^", "2"]),
        ("<m:mfrac><m:mn>1</m:mn><m:mn>2</m:mn></m:mfrac>", ["1", "/", "2"]),
        ("<m:msqrt><m:mn>2</m:mn></m:msqrt>", ["√", "(", "2", ")"]),
        ("<m:mn>2</m:mn><m:mo>×</m:mo><m:mn>5</m:mn>", ["2", "×", "5"]),
        ("<m:mn>2</m:mn><m:mn>5</m:mn>", ["2", "5"]),
        ("<m:mn>1</m:mn><m:mo>.</m:mo><m:mn>5</m:mn>", ["1.5"]),
        ("<m:mover><m:mi>x</m:mi><m:mo>¯</m:mo></m:mover>", ["x", "¯"]),
        ("<m:mfenced><m:mn>1</m:mn><m:mn>2</m:mn></m:mfenced>", ["(", "1", ",", "2", ")"]),
        ("<m:msup><m:mn>10</m:mn></m:msup>", ["10"]),  # broken
        (
            "<m:semantics><m:mn>3</m:mn><m:annotation>x^4</m:annotation></m:semantics>",
            ["3"],
        ),
    ],
)
def test_mathml_is_read_and_text_before_or_after_never_glues(
    mathml: str, expected: list[str]
) -> None:
    assert tokens(formula(mathml)) == expected
    assert tokens(f"7{formula(mathml)}8") == ["7", *expected, "8"]
    assert tokens(f"<bold>7</bold>{formula(mathml)}<italic>8</italic>") == ["7", *expected, "8"]


# References and citations


@pytest.mark.parametrize("kind", ["fig", "table", "sec", "disp-formula", "supplementary-material"])
def test_the_text_of_a_reference_is_no_text_of_the_paragraph(kind: str) -> None:
    assert text(f'in <xref ref-type="{kind}" rid="x">Item 2</xref>5') == "in _ref_ 5"


def test_a_reference_without_a_kind_is_a_reference() -> None:
    assert text('<xref rid="x">2</xref> and 3') == "_ref_ and 3"


@pytest.mark.parametrize(
    ("paragraph", "expected"),
    [
        (f"so [{cite(1)}, {cite(2)}–{cite(5)}].", "so [_cite_]."),
        (f"so [{cite(1)}, 2–5].", "so [_cite_]."),
        (f"so<sup>{cite(1)},{cite(2)}</sup>.", "so _cite_."),
        (f"so<sup>{cite(1)}–5</sup> 7", "so _cite_ 7"),
        ('so<xref ref-type="bibr" rid="b"><sup>1</sup></xref>, 7', "so _cite_, 7"),
        (f"rose by 10 {cite(1)} and 5 [{cite(2)}]", "rose by 10 _cite_ and 5 [_cite_]"),
        (f"5{cite(6)}7", "5 _cite_ 7"),
        (f"in [0, 1] {cite(1)}", "in [0, 1] _cite_"),
    ],
)
def test_a_group_of_citations_is_one_mark(paragraph: str, expected: str) -> None:
    assert text(paragraph) == expected


def test_an_address_is_a_reference_but_linked_words_are_words() -> None:
    assert text("at <ext-link>https://example.org/v2</ext-link> 7") == "at _ref_ 7"
    assert text("at <uri>www.example.org/3</uri>") == "at _ref_"
    assert text('<ext-link xlink:href="https://example.org">5 pages</ext-link>') == "5 pages"


def test_table_references_are_kept_in_order_without_repetition() -> None:
    document = read(
        '<p><xref ref-type="table" rid="T2">2</xref>, <xref ref-type="table" rid="T1 T2">1</xref>'
        ' <xref ref-type="fig" rid="F1">3</xref></p>'
    )
    assert document.paragraphs[0].tables == ("T2", "T1")


@pytest.mark.parametrize(
    "aside",
    [
        "<fn><p>{}</p></fn>",
        "<fig><caption><p>{}</p></caption></fig>",
        "<table-wrap><caption><p>{}</p></caption><table><tr><td>{}</td></tr></table></table-wrap>",
    ],
)
def test_asides_are_neither_text_nor_references(aside: str) -> None:
    reference = 'Note 5 of <xref ref-type="table" rid="T1">Table 1</xref>'
    document = read(f"<p>One{aside.replace('{}', reference)}two.</p>")
    [paragraph] = document.paragraphs
    assert paragraph.text == "One two."
    assert paragraph.tables == ()
    assert read_one("jats", article("<sec>" + aside + "</sec>"), "a.xml").paragraphs == []


def test_only_table_refs_leaves_the_other_paragraphs_out() -> None:
    body = '<p>No 5.</p><p>In <xref ref-type="table" rid="T1">Table 1</xref> 5.</p>'
    document = read_one("jats", article(body), "a.xml", Keep.TABLE_REFS)
    assert [paragraph.text for paragraph in document.paragraphs] == ["In _ref_ 5."]


def test_a_raised_point_between_digits_is_a_decimal_point() -> None:
    assert text("p=0·0001 (0·48–1∙06)") == "p=0.0001 (0.48–1.06)"
    assert text("3∙10<sup>4</sup> and CuSO4·5H") == "3∙10^4 and CuSO4·5H"


# Structure


def test_paragraphs_of_sections_in_order_and_of_the_body_only() -> None:
    data = article(
        "<p>One.</p><sec><title>Title 5</title><p>Two.</p><sec><p>Three.</p></sec></sec>",
        front="<article-meta><abstract><p>Abstract.</p></abstract></article-meta>",
        back="<ack><p>Thanks.</p></ack><ref-list><ref><p>A book.</p></ref></ref-list>",
    )
    paragraphs = read_one("jats", data, "a.xml").paragraphs
    assert [paragraph.text for paragraph in paragraphs] == ["One.", "Two.", "Three."]


def test_the_abstract_is_read_where_it_is_wanted() -> None:
    abstract = "<abstract><title>5</title><sec><title>Methods</title><p>One.</p></sec></abstract>"
    data = article("<p>Two.</p>", front=f"<article-meta>{abstract}</article-meta>")
    (document,) = documents(Unit("a.xml", "jats", data))
    assert isinstance(document, Document)
    read = [(paragraph.text, paragraph.in_abstract) for paragraph in document.paragraphs]
    assert read == [("One.", True), ("Two.", False)]


def test_notes_of_a_table_without_their_marks() -> None:
    notes = "<fn><label>1</label><p>Mean (SD).</p></fn><p>n = <bold>5</bold> each.</p>"
    [table] = read(
        "<table-wrap><table><tr><td>7<sup>1</sup></td></tr></table>"
        f"<table-wrap-foot>{notes}</table-wrap-foot></table-wrap>"
    ).tables
    assert table.notes == "Mean (SD). n = 5 each."
    assert table.body == [["7^1"]]


def test_nested_lists_inside_a_paragraph_run_on_without_their_labels() -> None:
    inner = "<list><list-item><label>1.</label><p>deep 6</p></list-item></list>"
    outer = (
        f"<list><list-item><p>one 5{inner}</p></list-item><list-item><p>two</p></list-item></list>"
    )
    assert text(f"Items:{outer}end") == "Items: one 5 deep 6 two end"


def test_items_of_a_list_between_paragraphs_are_paragraphs() -> None:
    document = read("<list><list-item><label>1</label><p>a</p><p>b</p></list-item></list>")
    assert [paragraph.text for paragraph in document.paragraphs] == ["a", "b"]


def test_empty_paragraphs_are_left_out() -> None:
    assert read("<p/><p> </p><p><fig/></p>").paragraphs == []


# Formulas


def test_a_displayed_formula_is_one_mark() -> None:
    display = "<disp-formula><label>(1)</label><m:math><m:mn>3</m:mn></m:math></disp-formula>"
    assert text(f"so 2{display}4") == "so 2 _math_ 4"
    assert read(f"<sec>{display}</sec>").paragraphs == []


TEX = (
    "<tex-math>\\documentclass[12pt]{minimal}\n\\usepackage{amsmath}\n"
    "\\setlength{\\oddsidemargin}{-69pt}\n"
    "\\begin{document}$$10^{6}$$\\end{document}</tex-math>"
)
MATHML = "<m:math><m:msup><m:mn>10</m:mn><m:mn>6</m:mn></m:msup></m:math>"


@pytest.mark.parametrize(
    "notations",
    [TEX, MATHML, f"<alternatives>{TEX}{MATHML}<inline-graphic/></alternatives>"],
)
def test_one_notation_of_an_inline_formula_is_read(notations: str) -> None:
    found = tokens(f"7<inline-formula>{notations}</inline-formula>8")
    assert found == ["7", "10", "^", "6", "8"]


def test_the_body_of_tex_is_found_without_searching_again_and_again() -> None:
    start = r"\begin{document}"
    source = f"<tex-math>{start * 20_000}5</tex-math>"
    assert tokens(f"<inline-formula>{source}</inline-formula>")[-1] == "5"


def test_a_pictured_formula_is_a_mark() -> None:
    assert text("3<inline-formula><inline-graphic/></inline-formula>5") == "3 _math_ 5"


def test_a_formula_in_plain_markup_is_read_as_text() -> None:
    assert text("<inline-formula>x<sup>2</sup></inline-formula>5") == "x^2 5"


# Tables

TABLE = """
<table-wrap id="T1"><label>Table 1</label>
<caption><title>Ages</title><p>in years, <italic>n</italic> = 40</p></caption>
<table><thead><tr><th rowspan="2">Group</th><th colspan="2">Age</th></tr>
<tr><th>mean</th><th>SD</th></tr></thead>
<tbody><tr><td>A</td><td>54.1</td><td>3 × 10<sup>2</sup></td></tr>
<tr><td colspan="many">B</td><td colspan="1000000000">missing</td></tr></tbody></table>
</table-wrap>
"""


def test_a_table_that_is_referred_to_is_kept() -> None:
    document = read(f'<p><xref ref-type="table" rid="T1">1</xref></p><sec>{TABLE}</sec>')
    [table] = document.tables
    assert (table.id, table.label) == ("T1", "Table 1")
    assert table.caption == "Ages in years, n = 40"
    assert table.header == [["Group", "Age", "Age"], ["Group", "mean", "SD"]]
    assert table.body[0] == ["A", "54.1", "3 × 10^2"]
    assert table.body[1][:2] == ["B", "missing"]
    assert len(table.body[1]) <= 201


def test_spans_that_claim_a_gigantic_table_are_ignored() -> None:
    cell = '<td rowspan="200" colspan="200">x</td>'
    table = f'<table-wrap id="T1"><table><tr>{cell * 1000}</tr>{"<tr/>" * 500}</table></table-wrap>'
    [kept] = read(f'<p><xref ref-type="table" rid="T1">1</xref></p>{table}').tables
    assert [len(row) for row in kept.body] == [1000] + [0] * 500


def test_a_table_nobody_refers_to_is_read_too() -> None:
    [table] = read(f"<p>Nothing.</p>{TABLE.replace(' id=', ' name=')}").tables
    assert (table.id, table.label) == ("#1", "Table 1")


def test_cells_that_repeat_one_that_spans_them_are_known() -> None:
    [table] = read(f"<p>Nothing.</p>{TABLE}").tables
    header = {place for place in table.repeated if place[0] < 0}
    assert header == {(-2, 2), (-1, 0)}
    assert {(1, 2), (1, 200)} <= table.repeated
    assert not {(1, 0), (1, 1), (0, 0)} & table.repeated


def test_a_table_within_a_cell_is_text_of_the_cell() -> None:
    inner = "<table><tr><td>1</td><td>2</td></tr><tr><td>3</td></tr></table>"
    rows = f"<tr><td>a {inner}</td><td>4</td></tr>"
    [table] = read(f"<p>No.</p><table-wrap><table>{rows}</table></table-wrap>").tables
    assert table.body == [["a 1 2 3", "4"]]
    assert table.nested == 1


def test_several_tables_under_one_heading_have_headers_of_their_own() -> None:
    costs = "<table><thead><tr><th>Item</th><th>Cost</th></tr></thead><tr><td>a</td><td>5</td></tr>"
    more = "<table><tbody><tr><td>b</td><td>7</td></tr></tbody></table>"  # of the first
    groups = "<table><thead><tr><th>Group</th></tr></thead><tr><td rowspan='9'>8</td></tr></table>"
    above = "<label>Table 3</label><caption><p>Costs of 9</p></caption>"
    below = "<table-wrap-foot><p>In euros of 2010.</p></table-wrap-foot>"
    document = read(
        f'<p><xref ref-type="table" rid="T3">3</xref></p><table-wrap id="T3">{above}'
        f"{costs}</table>{more}{groups}{below}</table-wrap>"
    )
    first, second = document.tables
    assert first.header == [["Item", "Cost"]]
    assert first.body == [["a", "5"], ["b", "7"]]
    assert (second.header, second.body) == ([["Group"]], [["8"]])
    assert [table.label for table in document.tables] == ["Table 3"] * 2
    assert [table.caption for table in document.tables] == ["Costs of 9", ""]
    assert [table.notes for table in document.tables] == ["", "In euros of 2010."]
    assert document.tables_of(document.paragraphs[0]) == [first, second]


def test_a_table_that_is_a_picture_is_told_from_an_empty_one() -> None:
    wraps = "<table-wrap><graphic/></table-wrap><table-wrap><table/></table-wrap>"
    assert [table.is_picture for table in read(f"<p>No.</p>{wraps}").tables] == [True, False]


# Identifiers


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ({"pmc": "123", "doi": "10.1/x"}, "PMC123"),
        ({"pmcid": "PMC123"}, "PMC123"),
        ({"doi": "10.1/x", "publisher-id": "7"}, "10.1/x"),
        ({"publisher-id": "7"}, "7"),
        ({"pmc": ""}, "a.xml"),
        ({}, "a.xml"),
    ],
)
def test_document_ids(ids: dict[str, str], expected: str) -> None:
    written = "".join(
        f'<article-id pub-id-type="{kind}">{value}</article-id>' for kind, value in ids.items()
    )
    data = article("<p>x</p>", front=f"<article-meta>{written}</article-meta>")
    assert read_one("jats", data, "a.xml").id == expected


def test_an_article_inside_an_envelope_is_found() -> None:
    data = b"<pmc-articleset>" + article("<p>x</p>") + b"</pmc-articleset>"
    assert [paragraph.text for paragraph in read_one("jats", data, "a.xml").paragraphs] == ["x"]


def test_a_set_of_articles_is_not_cut_to_its_first() -> None:
    data = b"<pmc-articleset>" + 2 * article("<p>x</p>") + b"</pmc-articleset>"
    with pytest.raises(DocumentError, match="a set of 2 articles, expected one a file"):
        read_one("jats", data, "a.xml")


ELSEVIER = """<article xmlns="http://www.elsevier.com/xml/ja/dtd" version="5.5"
xmlns:ce="http://www.elsevier.com/xml/common/dtd"><item-info><jid>X</jid></item-info><body>
<ce:sections><ce:section><ce:para>Of 40 patients, 7 left.</ce:para></ce:section></ce:sections>
</body></article>"""


@pytest.mark.parametrize(
    ("data", "got"),
    [
        (ELSEVIER, "<article> of http://www.elsevier.com/xml/ja/dtd"),
        (f"<full-text-retrieval-response>{ELSEVIER}</full-text-retrieval-response>", "<full-text-"),
        ("<TEI><text><article><body><p>5</p></body></article></text></TEI>", "<TEI>"),
        (f"<record>{ELSEVIER}</record>", "<article> of http://www.elsevier.com/xml/ja/dtd"),
        ("<pmc-articleset/>", "<pmc-articleset>"),
        (
            '<article xmlns="http://evil.example/nlm.nih.gov/"><body/></article>',
            "<article> of http",
        ),
    ],
)
def test_articles_of_others_are_refused(data: str, got: str) -> None:
    with pytest.raises(DocumentError, match=r"^a\.xml: not a JATS article: got root ") as caught:
        read_one("jats", data.encode(), "a.xml")
    assert f"got root {got}" in str(caught.value)


@pytest.mark.parametrize(
    "namespace",
    ["https://jats.nlm.nih.gov/ns/archiving/1.4/", "http://dtd.nlm.nih.gov/2.0/xsd/archivearticle"],
)
def test_jats_may_have_its_namespace(namespace: str) -> None:
    inner = article("<p>x 5</p>").decode().replace("<article", f'<article xmlns="{namespace}"')
    data = f'<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><r>{inner}</r></OAI-PMH>'
    assert [p.text for p in read_one("jats", data.encode(), "a.xml").paragraphs] == ["x 5"]


# Bad input

BILLION_LAUGHS = (
    '<!DOCTYPE article [<!ENTITY a "ha">'
    + "".join(
        f'<!ENTITY {new} "{f"&{old};" * 10}">'
        for old, new in zip("abcdefghi", "bcdefghij", strict=True)
    )
    + "]><article><body><p>&j;</p></body></article>"
)
QUADRATIC = (
    f'<!DOCTYPE article [<!ENTITY a "{"ha" * 50_000}">]>'
    f"<article><body><p>{'&a;' * 50_000}</p></body></article>"
)
EXTERNAL = (
    '<!DOCTYPE article [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
    "<article><body><p>&a;</p></body></article>"
)
IN_ATTRIBUTE = BILLION_LAUGHS.replace("<p>&j;</p>", '<p id="&j;">5</p>')


@pytest.mark.parametrize("bomb", [BILLION_LAUGHS, QUADRATIC, EXTERNAL, IN_ATTRIBUTE])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_entities_are_never_expanded(bomb: str, encoding: str) -> None:
    declaration = f'<?xml version="1.0" encoding="{encoding}"?>'
    with pytest.raises(DocumentError, match=r"^bomb\.xml: ") as caught:
        read_one("jats", (declaration + bomb).encode(encoding), "bomb.xml")
    assert "root:" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_document_type_is_never_fetched(tmp_path: Path) -> None:
    dtd = tmp_path / "article.dtd"
    dtd.write_text('<!ENTITY alpha "fetched">')
    doctype = f'<!DOCTYPE article SYSTEM "{dtd.as_uri()}">'.encode()
    [paragraph] = read_one("jats", doctype + article("<p>&alpha;</p>"), "a.xml").paragraphs
    assert paragraph.text == "α"


def test_named_entities_without_their_declaration_keep_their_text() -> None:
    doctype = b'<!DOCTYPE article PUBLIC "-//NLM//DTD JATS//EN" "JATS.dtd">'
    data = doctype + article("<p>&alpha; = 5&nbsp;mg &unknown; 10<sup>&minus;3</sup></p>")
    [paragraph] = read_one("jats", data, "a.xml").paragraphs
    assert paragraph.text == "α = 5 mg &unknown; 10^−3"


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda data: data[:-20], "not well-formed"),
        (lambda data: data.replace(b"</p>", b"</q>"), "not well-formed"),
        (lambda data: b"", "empty"),
        (lambda data: b"\x00\xff" * 10, "not well-formed"),
        (lambda data: b"<html><body/></html>", "got root <html>, expected <article>"),
        (lambda data: data.replace(b">x<", b">\xe9<"), "not well-formed"),
        (
            lambda data: data.replace(b">x<", b"><b>" + b"<b>" * 999 + b"</b>" * 1000 + b"<"),
            "depth",
        ),
    ],
)
def test_what_cannot_be_read_is_one_line_naming_the_file(
    damage: Callable[[bytes], bytes], reason: str
) -> None:
    with pytest.raises(DocumentError, match=r"^a\.xml: ") as caught:
        read_one("jats", damage(article("<p>x</p>")), "a.xml")
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_other_encodings_are_read_as_declared() -> None:
    for encoding in ("utf-16", "iso-8859-1"):
        declaration = f'<?xml version="1.0" encoding="{encoding}"?>'
        data = (declaration + "<article><body><p>é 5</p></body></article>").encode(encoding)
        assert read_one("jats", data, "a.xml").paragraphs[0].text == "é 5"


def test_deep_nesting_within_the_limit_is_read() -> None:
    for name in ("italic", "sup", "list"):
        body = f"<{name}>" * 240 + "5" + f"</{name}>" * 240
        assert text(body).endswith("5")
