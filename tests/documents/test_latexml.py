"""The samples in tests/data/latexml were written by LaTeXML 0.8.7 from the TeX beside them:

    latexml --nocomments --dest=NAME.xml NAME.tex      (then without the line of search paths)
    latexmlpost --format=html5 --pmml --nodefaultresources --nographicimages --timestamp=0 \\
        --dest=NAME.html NAME.xml
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.documents.reading import read_one
from tests.processor import processor_seconds

from numerate.documents import documents
from numerate.documents.document import Document, Table
from numerate.documents.latexml import clean_tex
from numerate.documents.reader import Unit
from numerate.errors import DocumentError
from numerate.lm.data.keep import Keep
from numerate.text.tokenizer import tokenize

SAMPLES = Path(__file__).parents[1] / "data" / "latexml"
FORMS = [".xml", ".html"]


def sample(name: str) -> Document:
    return read_one("latexml", (SAMPLES / name).read_bytes(), name)


def tokens(text: str) -> list[str]:
    return [token.text for token in tokenize(text)]


def numerals(text: str) -> list[str]:
    return [token.text for token in tokenize(text) if token.is_numeral]


def xml(body: str) -> bytes:
    return f'<document xmlns="http://dlmf.nist.gov/LaTeXML">{body}</document>'.encode()


def html(body: str, head: str = "") -> bytes:
    article = f'<article class="ltx_document">{body}</article>'
    return f"<!DOCTYPE html><html><head>{head}</head><body>{article}</body></html>".encode()


def read_xml(body: str) -> Document:
    return read_one("latexml", xml(body), "a.xml")


def read_html(body: str) -> Document:
    return read_one("latexml", html(body), "a.html")


def xml_text(inline: str) -> str:
    [paragraph] = read_xml(f"<para><p>{inline}</p></para>").paragraphs
    return paragraph.text


def html_text(inline: str) -> str:
    [paragraph] = read_html(f'<div class="ltx_para"><p class="ltx_p">{inline}</p></div>').paragraphs
    return paragraph.text


# Samples


@pytest.mark.parametrize("form", FORMS)
def test_galaxies_read_as_their_author_wrote_them(form: str) -> None:
    introduction, data, fluxes, last = sample("galaxies" + form).paragraphs
    assert introduction.text == (
        "Dwarf galaxies hold little gas _cite_, as _cite_ showed for 12 of them. "
        "A sample 10 times larger was drawn by _cite_."
    )
    assert introduction.tables == ()
    assert data.text == (
        "The 46 targets of Table _ref_ lie at distances of 3.5 to 27 Mpc and have stellar masses "
        r"of _math_ 2\times 10^{7} _math_ to _math_ 1.5\times 10^{9} M_{\odot} _math_; "
        r"their velocities are _math_ \geq 1,200 _math_ _math_ \mathrm{km s^{-1}} _math_ . "
        r"About 99.8 % were seen in H _math_ \alpha _math_ and 10^3 photons were counted in each "
        "of them (Section _ref_, Figure _ref_). CO2 plays no part."
    )
    assert data.tables == ("S2.T1",)
    assert tokens(fluxes.text) == tokens(
        "The gas mass follows from the flux _math_ S _math_ of Tables _ref_ and _ref_ by "
        r"_math_ M_{\mathrm{HI}}=2.36\times 10^{5} D^{2} \int S dv, _math_ "
        "where _math_ D _math_ is in Mpc. With equation (_ref_) and a factor of 1.33 for helium "
        r"we find _math_ f =\frac{M_{\mathrm{gas}}}{M_{\mathrm{gas}}+M_{\ast}} =0.62\pm 0.05. "
        "_math_ In all, 31 of 46 galaxies, 67%, hold more gas than stars."
    )
    assert fluxes.tables == ("S2.T1", "S3.T2")
    assert last.text.endswith("5 is a number and Table _ref_ of _cite_ is named.")


@pytest.mark.parametrize("form", FORMS)
def test_tables_of_galaxies(form: str) -> None:
    first, second = sample("galaxies" + form).tables
    assert first == Table(
        id="S2.T1",
        label="Table 1",
        caption="The first galaxies of the sample.",
        header=[
            ["Galaxy", "_math_ D _math_", "Magnitude", "Magnitude"],
            ["", "(Mpc)", "_math_ B _math_", "_math_ R _math_"],
        ],
        body=[
            ["UGC 12", "3.5", "14.21", "13.90"],
            ["UGC 45", r"_math_ 7.1\pm 0.4 _math_", "", "15.02"],
        ],
        repeated=frozenset({(-2, 3)}),
    )
    assert second.label == "Table 2"
    assert second.header == [["Galaxy", "_math_ S _math_", r"_math_ \sigma _math_"]]
    assert second.body == [["UGC 12", "1.20", "0.03"], ["UGC 45", "not seen", "not seen"]]


@pytest.mark.parametrize("form", FORMS)
def test_parser_reads_as_its_author_wrote_it(form: str) -> None:
    paragraphs = sample("parser" + form).paragraphs
    assert [(paragraph.text, paragraph.tables) for paragraph in paragraphs[1:10]] == [
        ("Three things matter:", ()),
        (r"the learning rate, _math_ \eta=0.001 _math_, in _ref_;", ("S1.T2",)),
        ("the number of layers, 6 or 12:", ()),
        ("shallow, 4.0 hours;", ()),
        ("deep, 9.5 hours.", ()),
        ("a seed.", ()),
        ("after which Table _ref_ was made on 4 machines.", ("S1.T2",)),
        (r"The loss of Table _ref_ is below _math_ \tfrac{1}{2} _math_.", ("S1.T1",)),
        (r"By _ref_ it is _math_ 0.48<\frac{1}{2} _math_, whence the claim _ref_. ∎", ()),
    ]
    first = paragraphs[0]
    assert first.tables == ("S1.T1", "S1.T2")
    assert r"the rate is _math_ 3\text{ \times }{10}^{-4} _math_. As _ref_ shows" in first.text
    assert "over the baseline _cite_, and _ref_ explains why." in first.text
    loss = paragraphs[10].text
    assert loss.startswith(
        r"The loss in Table _ref_ of 0.48 nats is, with _math_ 10,000 _math_ steps, "
        r"_math_ 3.4 h _math_ and _math_ \lambda=0.25 _math_, _math_ \mathcal{L}=-\frac{1}{N}"
    )
    assert loss.endswith("_math_ as described at _ref_ and on our page 7.")
    assert "%" not in loss
    assert " ".join(numerals(loss)) == (
        "0.48 10000 3.4 0.25 1 1 2 2 1 0.125 2 2 0.0625 2 2 3.14159 3 3 7"
    )
    assert paragraphs[11].text == "It took 3 days and batch=32 to fill _ref_."


@pytest.mark.parametrize("form", FORMS)
def test_tables_of_parser(form: str) -> None:
    first, second = sample("parser" + form).tables
    assert first.caption == "Accuracy in % on _math_ 12 _math_ languages."
    assert first.header == [
        ["Model", "Size", "Accuracy", "Accuracy"],
        ["Model", "Size", "dev", "test"],
    ]
    assert first.body == [
        ["Baseline _cite_", "12M", "88.1", "87.9"],
        ["Ours (large)", "110M", "89.6", "89.4^1"],
    ]
    assert second.label == "Table 2"
    assert second.caption == "What happens without parts of Table _ref_."
    assert second.body == [["layers", "0.51"], ["seed", "0.49"]]


@pytest.mark.parametrize("name", ["galaxies", "parser"])
def test_xml_and_html_of_a_paper_say_the_same(name: str) -> None:
    documents = [sample(name + form) for form in FORMS]
    from_xml, from_html = (
        [(tokens(paragraph.text), paragraph.tables) for paragraph in document.paragraphs]
        for document in documents
    )
    assert from_xml == from_html
    assert documents[0].tables == documents[1].tables


@pytest.mark.parametrize("form", FORMS)
def test_only_table_refs_leaves_the_other_paragraphs_out(form: str) -> None:
    name = "galaxies" + form
    data = (SAMPLES / name).read_bytes()
    document = read_one("latexml", data, name, Keep.TABLE_REFS)
    everything = read_one("latexml", data, name)
    assert document.paragraphs == [
        paragraph for paragraph in everything.paragraphs if paragraph.tables
    ]
    assert len(document.paragraphs) == 2
    assert document.tables == everything.tables


# References


def table(id: str, *, tag: str = "figure") -> str:
    return f'<{tag} id="{id}" class="ltx_table"></{tag}>'


@pytest.mark.parametrize(
    "reference",
    [
        '<a class="ltx_ref" href="#S1.T1"><span class="ltx_text ltx_ref_tag">1</span></a>',
        '<a class="ltx_ref" href="https://arxiv.org/html/2401.00001v1#S1.T1">Table 1</a>',
        '<a class="ltx_ref ltx_refmacro_autoref" href="S1.html#S1.T1">Table&nbsp;1</a>',
    ],
)
def test_references_to_tables_in_html(reference: str) -> None:
    document = read_html(
        f'<div class="ltx_para"><p class="ltx_p">In {reference}5</p></div>{table("S1.T1")}'
    )
    [paragraph] = document.paragraphs
    assert paragraph.text == "In _ref_ 5"
    assert paragraph.tables == ("S1.T1",)
    assert [table.id for table in document.tables] == ["S1.T1"]


@pytest.mark.parametrize(
    "reference",
    [
        '<ref labelref="LABEL:tab:a"/>',
        '<ref idref="S1.T1"/>',
        '<ref labelref="LABEL:tab:a" idref="S1.T1" href="#S1.T1"><text>Table 1</text></ref>',
        '<ref labelref="LABEL:other" show="autoref"/>',
    ],
)
def test_references_to_tables_in_xml(reference: str) -> None:
    document = read_xml(
        f"<para><p>In {reference}5</p></para>"
        '<table labels="LABEL:tab:a LABEL:other" xml:id="S1.T1"/>'
    )
    [paragraph] = document.paragraphs
    assert paragraph.text == "In _ref_ 5"
    assert paragraph.tables == ("S1.T1",)


@pytest.mark.parametrize(
    ("inline", "expected"),
    [
        ('(<a class="ltx_ref" href="#S1.E1">1</a>) 5', "(_ref_) 5"),
        ('<a class="ltx_ref" href="S2.html">Section 2</a> 5', "_ref_ 5"),
        ('<span class="ltx_ref ltx_missing_label ltx_ref_self">LABEL:tab:3</span>', "_ref_"),
        ('<a class="ltx_ref ltx_url" href="http://x.org/5#6">http://x.org/5#6</a>', "_ref_"),
        ('<a class="ltx_ref ltx_href" href="http://x.org/5">5 pages</a>', "5 pages"),
        ('<a class="ltx_ref ltx_href" href="http://x.org/#S5">5 pages</a>', "5 pages"),
        ('<a class="ltx_ref ltx_href" href="https://doi.org/10.1000/5">10.1000/5</a>', "_ref_"),
    ],
)
def test_other_references_in_html(inline: str, expected: str) -> None:
    assert html_text(inline) == expected


@pytest.mark.parametrize(
    ("inline", "expected"),
    [
        (
            'so <cite class="ltx_cite">[<a class="ltx_ref" href="#b">1</a>, 2]</cite> 5',
            "so _cite_ 5",
        ),
        ('<cite class="ltx_cite">A (<a class="ltx_ref" href="#b">2009</a>)</cite>5', "_cite_ 5"),
        ('so<sup class="ltx_sup"><cite class="ltx_cite">1</cite></sup>.', "so _cite_."),
        ('<cite class="ltx_cite">A</cite>; <cite class="ltx_cite">B</cite> 5', "_cite_ 5"),
    ],
)
def test_citations_in_html(inline: str, expected: str) -> None:
    assert html_text(inline) == expected


def test_a_citation_in_xml_is_one_mark_with_its_brackets() -> None:
    bibref = '<bibref bibrefs="a,b" show="Authors"><bibrefphrase>2009</bibrefphrase></bibref>'
    assert xml_text(f"so <cite>[{bibref}]</cite>5") == "so _cite_ 5"


@pytest.mark.parametrize(
    "aside",
    [
        '<span class="ltx_note ltx_role_footnote"><sup class="ltx_note_mark">1</sup>{}</span>',
        '<span class="ltx_ERROR undefined">\\foo5</span>',
        '<span class="ltx_tabular"><span class="ltx_tr"><b class="ltx_td">{}</b></span></span>',
        '<svg class="ltx_picture"><g><text>{}</text></g></svg>',
        '<span class="ltx_figure"><span class="ltx_caption">{}</span></span>',
    ],
)
def test_asides_inside_a_paragraph_are_neither_text_nor_references(aside: str) -> None:
    reference = '5 in <a class="ltx_ref" href="#S1.T1">Table 1</a>'
    document = read_html(
        f'<div class="ltx_para"><p class="ltx_p">One{aside.replace("{}", reference)}two.</p></div>'
        + table("S1.T1")
    )
    [paragraph] = document.paragraphs
    assert paragraph.text == "One two."
    assert paragraph.tables == ()


@pytest.mark.parametrize(
    "kind",
    ["abstract", "acknowledgements", "bibliography", "figure", "float", "note", "table", "TOC"],
)
def test_paragraphs_beside_the_text_are_left_out(kind: str) -> None:
    assert read_html(f'<div class="ltx_{kind}"><p class="ltx_p">5</p></div>').paragraphs == []
    assert read_xml(f"<{kind}><para><p>5</p></para></{kind}>").paragraphs == []


def test_the_abstract_is_read_where_it_is_wanted() -> None:
    one, two = (f'<p class="ltx_p">{words}</p>' for words in ("One.", "Two."))
    abstract = f'<div class="ltx_abstract"><h6 class="ltx_title">A 5</h6>{one}</div>'
    data = html(f'{abstract}<div class="ltx_para">{two}</div>')
    (document,) = documents(Unit("a.html", "latexml", data))
    assert isinstance(document, Document)
    read = [(paragraph.text, paragraph.in_abstract) for paragraph in document.paragraphs]
    assert read == [("One.", True), ("Two.", False)]


def test_what_stands_under_a_table_are_its_notes() -> None:
    cell = '<tr class="ltx_tr"><td class="ltx_td"><p class="ltx_p">7</p></td></tr>'
    [table] = read_html(
        f'<figure class="ltx_table"><table class="ltx_tabular">{cell}</table>'
        '<p class="ltx_p">n = 5 each.</p><figcaption class="ltx_caption">C</figcaption></figure>'
    ).tables
    assert table.notes == "n = 5 each."


# Formulas


def test_inline_formulas_keep_their_numbers_and_their_distance() -> None:
    math = '<math class="ltx_Math" alttext="10^{5}"><msup><mn>10</mn><mn>5</mn></msup></math>'
    expected = ["2", "_math_", "10", "^", "{", "5", "}", "_math_", "3"]
    assert tokens(html_text(f"2{math}3")) == expected
    assert (
        tokens(xml_text('2<Math tex="10^{5}"><XMath><XMTok>105</XMTok></XMath></Math>3'))
        == expected
    )


def test_other_places_of_the_source() -> None:
    annotation = '<annotation encoding="application/x-tex">x_{1}</annotation>'
    assert html_text(f"<math><semantics><mi>x</mi>{annotation}</semantics></math>") == (
        "_math_ x_{1} _math_"
    )
    assert html_text('<img class="ltx_Math" alt="x_{1}" src="x.png">') == "_math_ x_{1} _math_"
    assert html_text("<math><msup><mn>10</mn><mn>5</mn></msup></math>6") == "_math_ 10^5 _math_ 6"
    assert html_text("5<math></math>6") == "5 _math_ 6"


def test_a_paragraph_goes_on_after_a_display() -> None:
    document = read_html(
        '<div class="ltx_para"><p class="ltx_p">We find</p>'
        '<table class="ltx_equation ltx_eqn_table"><tbody><tr class="ltx_equation ltx_eqn_row">'
        '<td class="ltx_eqn_cell"><math alttext="x=3">x</math></td>'
        '<td class="ltx_eqn_cell"><span class="ltx_tag ltx_tag_equation">(1)</span></td>'
        '</tr></tbody></table><p class="ltx_p">and 4.</p></div>'
        '<div class="ltx_para"><p class="ltx_p">Next.</p></div>'
    )
    assert [paragraph.text for paragraph in document.paragraphs] == [
        "We find _math_ x=3 _math_ and 4.",
        "Next.",
    ]


def test_aligned_parts_are_one_formula_and_text_between_them_is_text() -> None:
    fork = (
        '<MathFork><Math tex="{0}"/><MathBranch><td><Math tex="{0}"/></td></MathBranch></MathFork>'
    )
    document = read_xml(
        "<para><equationgroup>"
        f"<equation><tags><tag>(1)</tag></tags>{fork.format('a=1')}</equation>"
        f"<equation>{fork.format('b=2')}</equation>"
        '<p class="ltx_intertext">and by Table <ref idref="T1"/>, 7,</p>'
        f"<equation>{fork.format('c=3')}</equation>"
        '</equationgroup></para><table xml:id="T1"/>'
    )
    [paragraph] = document.paragraphs
    assert paragraph.text == ("_math_ a=1 b=2 _math_ and by Table _ref_, 7, _math_ c=3 _math_")
    assert paragraph.tables == ("T1",)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (r"2\times 10^{5}", r"2\times 10^{5}"),
        (r"a\hskip 5.0ptb", "a b"),
        (r"a\hskip 9.24994pt plus 1.0fil minus 2ptb", "a b"),
        (r"a\hspace{1em}b\hspace*{-2pt}c\vspace{3mm}", "a b c"),
        (r"a\kern-1.5ptb\mkern 3.0muc\mskip 5mu d", "a b c d"),
        (r"\phantom{00}7\label{eq:5}\tag{3}", "7"),
        (r"a\,b\;c\!d~e\quad f\qquad", "a b c d e f"),
        (r"\displaystyle=5", "=5"),
        (r"\displaystyle x\quadratic", r"x\quadratic"),
        (r"{\color[rgb]{0,0,1}7}", "{ 7}"),
        (r"\textcolor[rgb]{1,0,0}{7}", "{7}"),
        (
            r"{\color[rgb]{1,0,0}\definecolor[named]{pgfstrokecolor}{rgb}{1,0,0}"
            r"\pgfsys@color@rgb@stroke{1}{0}{0}\pgfsys@color@rgb@fill{1}{0}{0}7}",
            "{ 7}",
        ),
        (r"\genfrac{}{}{0.0pt}{}{3}{4}", r"\genfrac{}{} {}{3}{4}"),
        (r"a\\[2.0pt]b", r"a\\ b"),
        (r"10\,000+1{,}234{,}567+10,\!000", "10,000+1,234,567+10,000"),
        (r"0.123\,456", "0.123 456"),
        (r"1\,2", "1 2"),
        (r"0{.}5", "0.5"),
        (r"99.8\%", "99.8%"),
        ("12%\n34", "1234"),
        ("\\lambda%\nx", r"\lambda x"),
        ("a\\\\%\nb", r"a\\b"),
        (r"\text{see \ref{tab:2}}", r"\text{see _ref_ }"),
        (r"\text{\cite[cite]{[\@@bibref{}{foo5}{}{}]}}", r"\text{ _cite_ }"),
        (r"3\text{$\times$}{10}^{-4}", r"3\text{ \times }{10}^{-4}"),
    ],
)
def test_tex_loses_what_only_moves_ink(source: str, expected: str) -> None:
    assert clean_tex(source) == expected


@given(st.text(r"\{}[]%$~,.!0123 abhskiptrfmuce@", max_size=60))
def test_any_tex_is_cleaned(source: str) -> None:
    cleaned = clean_tex(source)
    assert cleaned == " ".join(cleaned.split())


@pytest.mark.parametrize(
    "source",
    [
        "\\hskip" + " " * 50_000,
        "\\phantom{" * 20_000,
        "\\cite" * 20_000 + "[" * 20_000,
        "1\\,000" * 20_000,
        "%" * 50_000,
        "\\hskip 1pt" + " plus 1pt" * 20_000,
    ],
)
def test_hostile_tex_is_read_in_time(source: str) -> None:
    """A pattern that looked back again and again would need minutes of the processor."""
    with processor_seconds(10):
        assert len(clean_tex(source)) <= len(source)


# Scripts


def test_scripts_outside_formulas() -> None:
    assert html_text('10<sup class="ltx_sup">3</sup>4 and CO<sub class="ltx_sub">2</sub>5') == (
        "10^3 4 and CO2 5"
    )


# Tables


def test_a_table_made_of_spans() -> None:
    def row(*cells: str, kind: str = "") -> str:
        written = "".join(f'<span class="ltx_td{kind}">{cell}</span>' for cell in cells)
        return f'<span class="ltx_tr">{written}</span>'

    document = read_html(
        '<div class="ltx_para"><p class="ltx_p"><a class="ltx_ref" href="#T1">1</a></p></div>'
        '<figure class="ltx_table" id="T1"><div class="ltx_inline-block ltx_transformed_outer">'
        '<span class="ltx_tabular">'
        f"{row('a', 'b', kind=' ltx_th ltx_th_column')}"
        f"{row('1', row('2', '3'))}{row('x', 'y', kind=' ltx_th ltx_th_row')}"
        '</span></div><figcaption class="ltx_caption">'
        '<span class="ltx_tag ltx_tag_table"><span class="ltx_text">Table 1</span>. </span>Cap.'
        "</figcaption></figure>"
    )
    [found] = document.tables
    assert found == Table("T1", "Table 1", "Cap.", [["a", "b"]], [["1", "2 3"], ["x", "y"]])


def test_tables_inside_a_table_have_their_own_captions() -> None:
    def panel(number: int) -> str:
        return (
            f'<table xml:id="T1.st{number}"><tabular><tr><td>{number}</td></tr></tabular>'
            f"<caption><tag>({number})</tag>Panel</caption></table>"
        )

    document = read_xml(
        '<para><p><ref idref="T1"/> <ref idref="T1.st2"/></p></para>'
        f'<table xml:id="T1">{panel(1)}{panel(2)}'
        "<toccaption>short</toccaption><caption><tag>Table 1</tag>Both</caption></table>"
    )
    assert document.tables == [
        Table("T1", "Table 1", "Both", [], [["1"], ["2"]]),
        Table("T1.st1", "(1)", "Panel", [], [["1"]]),
        Table("T1.st2", "(2)", "Panel", [], [["2"]]),
    ]


def test_absurd_spans_and_tables_without_anything() -> None:
    document = read_xml(
        '<para><p><ref idref="T1"/><ref idref="T2"/></p></para><table xml:id="T1"/>'
        '<table xml:id="T2"><tabular><tr><td colspan="999999999" rowspan="x">1</td></tr></tabular>'
        "</table>"
    )
    first, second = document.tables
    assert first == Table("T1", "", "", [], [])
    assert len(second.body[0]) <= 200


# Identifiers


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (
            '<link rel="canonical" href="https://ar5iv.labs.arxiv.org/html/1910.06709">',
            "1910.06709",
        ),
        (
            '<link rel="canonical" href="https://arxiv.org/abs/astro-ph/0601001v2">',
            "astro-ph/0601001",
        ),
        ('<base href="/html/2401.00001v3/">', "2401.00001"),
        ('<base href="/html/">', "a.html"),
        ("", "a.html"),
    ],
)
def test_document_ids(head: str, expected: str) -> None:
    assert read_one("latexml", html("", head), "a.html").id == expected


# Bad input


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b"just text", "not well-formed XML"),
        (b"<article><body/></article>", "not a LaTeXML document: got root <article>, expected"),
        (b"<html><p class='x'>5</p></html>", "not a LaTeXML document: got root <html>, expected"),
        (html("<p class='ltx_p'>5</p>")[:-9], "truncated"),
        (xml("<para><p>5</p></para>")[:-9], "not well-formed XML"),
        (xml("<text>" * 1000 + "</text>" * 1000), "depth"),
        (html("<div class='ltx_para'>" * 1000 + "</div>" * 1000), "depth"),
        (b'<!DOCTYPE document [<!ENTITY a "ha">]>' + xml("<para><p>&a;</p></para>"), "entities"),
        (b'<!DOCTYPE html [<!ENTITY a "ha">]>' + html("&a;"), "entities"),
        (html("", head='<meta charset="UTF-8\n<meta name="x">'), "Unsupported encoding"),
    ],
)
def test_what_cannot_be_read_is_one_line_naming_the_file(data: bytes, reason: str) -> None:
    with pytest.raises(DocumentError, match=r"^a\.xml: ") as caught:
        read_one("latexml", data, "a.xml")
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("read", [read_xml, read_html])
def test_running_out_of_stack_is_an_error_of_the_document(
    read: Callable[[str], Document], monkeypatch: pytest.MonkeyPatch
) -> None:
    def overflow(*_: object) -> None:
        raise RecursionError

    monkeypatch.setattr("numerate.documents.latexml._runs", overflow)
    with pytest.raises(DocumentError, match="nested too deeply"):
        read("")


def test_deep_nesting_within_the_limit_is_read() -> None:
    assert xml_text("<text>" * 240 + "5" + "</text>" * 240) == "5"
    assert html_text("<sup>" * 240 + "5" + "</sup>" * 240).endswith("5")


def test_encodings() -> None:
    declaration = '<?xml version="1.0" encoding="UTF-16"?>'
    data = (declaration + xml("<para><p>é 5</p></para>").decode()).encode("utf-16")
    assert read_one("latexml", data, "a.xml").paragraphs[0].text == "é 5"
    assert html_text("é 5") == "é 5"  # without a declaration
    declared = html("<p class='ltx_p'>é 5</p>", "<meta charset='iso-8859-1'>")
    latin = declared.decode().encode("iso-8859-1")
    assert read_one("latexml", latin, "a.html").paragraphs[0].text == "é 5"


def test_xhtml_and_named_entities() -> None:
    declaration = b'<?xml version="1.0"?>'
    data = declaration + html("<p class='ltx_p'>5&nbsp;µm &alpha;</p>").replace(
        b"<html>", b'<html xmlns="http://www.w3.org/1999/xhtml">'
    )
    with pytest.raises(DocumentError, match="not well-formed"):  # no DTD, no entities
        read_one("latexml", data, "a.xhtml")
    public = b'<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "xhtml11.dtd">'
    data = data.replace(b"<!DOCTYPE html>", public)
    assert read_one("latexml", data, "a.xhtml").paragraphs[0].text == "5 µm α"
