"""LaTeX as text and tables, and the way back to what was written."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.documents.places import assert_places_are_inside
from tests.documents.reading import read_one

import numerate
from numerate.documents import documents, read_file
from numerate.documents.document import Document
from numerate.documents.reader import Unit
from numerate.errors import DocumentError
from numerate.proofread.fixing import apply, fixes


def read(source: str) -> Document:
    (document,) = documents(Unit("paper.tex", "latex", source.encode()))
    assert isinstance(document, Document)
    return document


def text(source: str) -> str:
    return read(source).text


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (r"53\% of 124", "53% of 124"),
        (r"Of~12 people % not 13" "\n" r"were ill, 5\,kg", "Of 12 people were ill, 5 kg"),
        (r"$p < 0.05$ and $p{<}.001$", "p < 0.05 and p<.001"),
        (r"$-1.2 \times 10^{-3}$", "-1.2 × 10^-3"),
        (r"$\chi^2(2) = 5.1$", "χ^2(2) = 5.1"),
        (r"$42\,\%$, 12\,345 and 12{,}345", "42 %, 12,345 and 12,345"),
        (r"$\frac{42}{120}$ and 2$\frac12$", "42/120 and 2 1/2"),
        (r"$\bar{x} = 5.1 \pm 0.3$", "x = 5.1 ± 0.3"),
        (r"37\,$^\circ$C, 5\,$\mu$g, CO$_2$, 10$^6$ 5", "37 °C, 5 μg, CO2, 10^6 5"),
        (r"\(t(28) = 2.20\), 1--2 --- ``so''", "t(28) = 2.20, 1–2 — “so”"),
        (r"M\"uller, \'{e}t\'e, \c{c}a, \ss{}x", "Müller, été, ça, ßx"),
        (r"cost \$5 and a lone $6", "cost $5 and a lone $6"),
        (r"\textbf{7} \emph{of \textit{9}} {\small 8}", "7 of 9 8"),
        (r"\textcolor{red}{5} \href{http://a.b/c%20d}{site 6}", "5 site 6"),
        (r"see \url{http://a.b/7%8} and \cite[p.~5]{x,y}, \citep{z}", "see _ref_ and _cite_"),
        (r"\verb|x=5| is \lstinline{y=6}", "_math_ is _math_"),
        (r"as $$x = 5$$ and \[y=6\] show", "as _math_ and _math_ show"),
        (r"\begin{equation}\label{e} x=5\end{equation} by \eqref{e}", "_math_ by _ref_"),
        (r"a \iffalse 5 \else 6 \fi b\newif\ifx@\ifx@ 7\fi", "a 6 b"),
        (r"\ifdraft 7 \ifother 1 \else 2 \fi \else 8 \fi 9", "8 9"),
        (r"\drafttrue\ifdraft 7 \else 8 \fi $a \iff b$", "7 a ⇔ b"),
        (r"\newcommand{\n}{\ifdraft 7\else 8\fi} \n, \ifcustom{5}{6} 9", "8, 56 9"),
        (r"\iffalse \ifdraft 5 \fi 6 \fi 7 \ifodd", "7"),
        (r"\ifcustom 5", "5"),
        (r"\begin{verbatim} 5 % \end{x} $ \end{verbatim}\begin{comment}6\end{comment}7", "7"),
        (r"\begin{center}5\end{center}" "\n\n6", "5\n\n6"),
        (r"\section*{Of 5}\label{s} Text \vspace{3cm}", "Of 5\n\nText"),
        (r"\begin{tikzpicture}[x=3cm] 5 \end{tikzpicture} 6", "6"),
    ],
)
def test_what_is_printed(source: str, expected: str) -> None:
    assert text(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (r"\num{12345.5}, \num{1.2e-3}, \num{1,5}", "12345.5, 1.2 × 10^-3, 1.5"),
        (r"\num{12 345}, \num{1.2 +- 0.1}, \num{e5}", "12345, 1.2 ± 0.1, 10^5"),
        (r"\SI{5.2}{\kilo\gram\per\metre\squared}", "5.2 kg/m^2"),
        (r"\qty{42}{\percent}, \qty{3}{m.s^{-1}}", "42 %, 3 m s^-1"),
        (r"\SIrange{10}{20}{\celsius}, \numrange{1}{2}", "10 °C to 20 °C, 1 to 2"),
        (r"\qtyrange{1}{2}{\milli\litre}", "1 mL to 2 mL"),
        (r"\numlist{1;2;3}, \qtylist{4;5}{\hour}", "1, 2 and 3, 4 h and 5 h"),
        (r"\ang{12;30;}, \si{\micro\metre}", "12°30′, µm"),
        (r"\DeclareSIUnit\mmHg{mmHg}\qty[mode=text]{120}{\mmHg}", "120 mmHg"),
        (r"\sisetup{input-ignore={,},input-decimal-markers={.}}\num{1,234}", "1,234"),
    ],
)
def test_quantities(source: str, expected: str) -> None:
    assert text(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (r"\newcommand{\n}{78}\n{} of \n", "78 of 78"),
        (r"\newcommand{\pct}[1]{#1\,\%}\pct{53}", "53 %"),
        (r"\newcommand*\ci[2][95]{#1\% CI #2}\ci{1 to 2}, \ci[90]{3}", "95% CI 1 to 2, 90% CI 3"),
        (r"\def\x#1#2{#2 of #1}\x{5}6", "6 of 5"),
        (r"\let\old\textbf\renewcommand{\textbf}[1]{\old{#1}!}\textbf{5}", "5!"),
        (r"\NewDocumentCommand{\x}{m}{(#1)}\x{5}", "(5)"),
        (r"\newcommand{\x}{\ensuremath{5^2}}\x", "5^2"),
        (r"\def\sym#1{\ifmmode^{#1}\else\(^{#1}\)\fi}5\sym{*}", "5^*"),
    ],
)
def test_macros(source: str, expected: str) -> None:
    assert text(source) == expected


def test_macros_without_end_are_told_and_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert text("\\def\\a{\\a\\a}\n5 \\a 6") == "5 6"
    assert "paper.tex:2: \\a calls macros without end" in capsys.readouterr().err
    doubled = "".join(f"\\def\\{b}{{\\{a}\\{a}}}" for a, b in pairwise("abcdefghijklm"))
    assert "7" in text(f"\\def\\a{{{'x ' * 1000}}}{doubled * 2}7 \\m\\m\\m\\m")


def test_only_the_body_is_text() -> None:
    found = read(
        "\\documentclass{article}\n%\\begin{document}\n\\title{Of 5}\\newcommand{\\n}{12}\n"
        "\\begin{document}\\maketitle\n\\begin{abstract}\nWe saw \\n.\n\\end{abstract}\n"
        "Text\\footnote{A note on 7.} goes on.\n\\begin{thebibliography}{9} 1999\n"
        "\\end{thebibliography}\n\\end{document}\n99"
    )
    assert [p.text for p in found.paragraphs] == ["We saw 12.", "Text goes on.", "A note on 7."]
    assert [p.in_abstract for p in found.paragraphs] == [True, False, False]


TABLE = r"""
As Table~\ref{tab:b} and \cref{tab:a,sec:x} show, 5.

\begin{table}[t]
\centering
\caption[Short]{Women and men (n = 246)\label{tab:a}}
\begin{tabular}{@{}l*{2}{S[table-format=2.1]}>{\bfseries}r@{}} \toprule
 & \multicolumn{2}{c}{Walking} & Care \\ \cmidrule(lr){2-3}
 & {n} & {\%} & \makecell{n\\all} \\ \midrule
\multirow{2}{*}{Women} & 78 & 62.9 & 71\tnote{a} \\
 & 1.2e3 & {1,500} & $-3^{*}$ \\[2pt]
\multicolumn{4}{l}{\emph{Others}} \\
Men & 46 & \textbf{37.1} & 51 \\ \bottomrule
\end{tabular}
\begin{tablenotes}\item[a] Without 5.\end{tablenotes}
\end{table}
\begin{longtable}{ll}
\caption{Long}\label{tab:b}\\ \hline A & B \\ \hline \endfirsthead
\hline A & B (continued) \\ \endhead
\multicolumn{2}{r}{Goes on} \\ \endfoot
1 & 2 \\ 3 & 4 \\ \multicolumn{2}{l}{Note: of 9.} \\
\end{longtable}
"""


def test_tables() -> None:
    found = read(TABLE)
    first, second = found.tables
    assert found.paragraphs[0].text == "As Table _ref_ and _ref_ show, 5."
    assert found.paragraphs[0].tables == ("tab:b", "tab:a")
    assert (first.id, first.label, first.caption) == ("tab:a", "Table 1", "Women and men (n = 246)")
    assert first.header == [["", "Walking", "Walking", "Care"], ["", "n", "%", "n all"]]
    assert first.body == [
        ["Women", "78", "62.9", "71^a"],
        ["Women", "1.2 × 10^3", "1,500", "-3^*"],
        ["Others"] * 4,
        ["Men", "46", "37.1", "51"],
    ]
    assert first.repeated == {(-2, 2), (1, 0), (2, 1), (2, 2), (2, 3)}
    assert first.notes == "Without 5."
    assert (second.label, second.caption) == ("Table 2", "Long")
    assert (second.header, second.body) == ([["A", "B"]], [["1", "2"], ["3", "4"]])
    assert "Note: of 9." in second.notes
    assert len(found.paragraphs) == 1


def test_tables_of_astronomers() -> None:
    (table,) = read(
        r"\begin{deluxetable}{lc}\tablecaption{Stars\label{t}}"
        r"\tablehead{\colhead{Name} & \colhead{$P$}}\startdata "
        r"A & 1.5 \\ B & 2.5 \enddata\tablecomments{Of 5.}\end{deluxetable}"
    ).tables
    assert (table.label, table.caption, table.notes) == ("Table 1", "Stars", "Of 5.")
    assert (table.header, table.body) == ([["Name", "P"]], [["A", "1.5"], ["B", "2.5"]])


def test_tables_that_nobody_ends_end_with_what_they_stand_in() -> None:
    cells = r"\begin{tabular}{ll} a & b \\ \hline x & 1 \\"
    for source in (rf"\begin{{table}}{cells}\end{{table}} 5", cells, rf"\begin{{table}}{cells}"):
        (table,) = read(source).tables
        assert (table.header, table.body) == ([["a", "b"]], [["x", "1"]])


def test_cells_know_where_they_stand() -> None:
    found = read(TABLE)
    source = found.tables[0].source
    assert source is not None
    assert TABLE[slice(*source.span(3, 2, 0, 4))] == "37.1"
    assert TABLE[slice(*source.span(-2, 1, 0, 7))] == "Walking"
    assert TABLE[slice(*source.span(None, None, 19, 22))] == "246"
    start, end = source.span_of_notes(8, 9) or (0, 0)
    assert TABLE[start:end] == "5"


@pytest.mark.parametrize(
    ("rows", "height"),
    [
        (r"a & b \\ 1 & 2 \\ 3 & 4", 1),
        (r"1 & 2 \\ 3 & 4", 0),
        (r"\hline Year & 2019 \\ \hline a & 2 \\ \hline b & 4 \\ \hline", 1),
        (r"\toprule a & b \\ \midrule c & d \\ \midrule 1 & 2 \\ 3 & 4 \\ \bottomrule", 2),
    ],
)
def test_headers(rows: str, height: int) -> None:
    (table,) = read(f"\\begin{{tabular}}{{ll}}{rows}\\end{{tabular}}").tables
    assert len(table.header) == height
    assert table.label == "Table in line 1"


def test_tables_within_cells_are_their_text() -> None:
    source = (
        r"\begin{tabular}{ll} a & \begin{tabular}{c}x\\y\end{tabular} \\ b & 3 \\ \end{tabular}"
    )
    (table,) = read(source).tables
    assert (table.header, table.body, table.nested) == ([["a", "x y"]], [["b", "3"]], 1)


def test_numerals_have_line_and_column(tmp_path: Path) -> None:
    source = (
        "\\newcommand{\\total}{120}\n\\begin{document}\nIn all\\footnote{Not 31 of\n  "
        "120 (26.8\\%).}, 42 of \\total{} (\\textbf{53}\\%) did.\n"
        "And \\num{31} of 120 (52\\%) did.\n\\end{document}\n"
    )
    path = tmp_path / "paper.tex"
    path.write_text(source, encoding="utf-8")
    found = numerate.check(path)
    places = {one.written: found.read.place(one.where) for one in found}
    assert {written: (one.line, one.column) for written, one in places.items()} == {
        "26.8": (4, 8),
        "53": (4, 43),
        "52": (5, 22),
    }
    for written, place in places.items():
        assert source[place.start : place.end] == written


def test_findings_are_ignored_and_fixed(tmp_path: Path) -> None:
    path = tmp_path / "paper.tex"
    path.write_bytes(
        b"\\usepackage[latin1]{inputenc}\\newcommand{\\n}{53}\nM\xfcller saw 42 of 120 (53\\%).\n\n"
        b"So 42 of 120 (54\\%). % numerate: ignore\n\nThen 42 of 120 (\\n\\%) did.\n"
    )
    left = numerate.check(path)
    assert [one.written for one in left] == ["53", "53"]
    (fix,) = fixes(left)  # what a macro says is not changed
    apply(left, [fix])
    assert b"M\xfcller saw 42 of 120 (35\\%)" in path.read_bytes()


def test_files_beside_it_are_taken_in(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "secret.tex").write_text("99")
    folder = tmp_path / "paper"
    (folder / "parts").mkdir(parents=True)
    (folder / "parts" / "one.tex").write_text(
        "Line\n\nThat 42 of 120 (53\\%) did. \\input{parts/one}"
    )
    (folder / "n.tex").write_text("42")
    (folder / "link.tex").symlink_to(tmp_path / "secret.tex")
    (folder / "main.tex").write_text(
        "\\begin{document}We saw \\input{n} of 120 (35\\%).\n\n\\include{parts/one}\n"
        "\\input{../secret} \\input{/etc/passwd} \\input{link} \\input missing and 5."
        "\\end{document}"
    )
    found = numerate.check(folder / "main.tex")
    (finding,) = found
    assert finding.written == "53"
    assert found.read.file(finding.where) == str(folder / "parts" / "one.tex")
    place = found.read.place(finding.where)
    assert (place.line, place.column, place.start) == (3, 17, 22)
    assert [p.text for p in found.document.paragraphs] == [
        "We saw 42 of 120 (35%).", "Line", "That 42 of 120 (53%) did.", "and 5.",
    ]  # fmt: skip
    assert fixes(found) == []  # in another file
    told = capsys.readouterr().err.splitlines()
    assert [line.partition(" is left out: ")[2] for line in told] == [
        "takes itself in",
        "expected a file in the folder of the document",
        "expected a file in the folder of the document",
        "leads out of the folder of the document",
        "no such file",
    ]


@pytest.mark.parametrize(
    ("declared", "codec"),
    [
        ("\\usepackage[koi8-r]{inputenc}", "koi8-r"),
        ("\\usepackage[ utf8, cp1251 ]{inputenc}", "cp1251"),
        ("% \\usepackage[latin1]{inputenc}\n100\\% \\inputencoding{koi8-r}", "koi8-r"),
    ],
)
def test_encodings_that_are_declared(declared: str, codec: str) -> None:
    source = f"{declared}\n\\begin{{document}}Из 50 человек.\\end{{document}}".encode(codec)
    assert [p.text for p in read_one("latex", source, "paper.tex").paragraphs] == ["Из 50 человек."]


def test_a_condition_without_an_end_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert text("\\iffalse 5 \\fi 6\n\n\\ifdraft 7") == "6"
    told = "paper.tex:3: \\ifdraft has no \\fi: what follows is left out"
    assert capsys.readouterr().err.strip() == f"numerate: {told}"


def test_hidden_files_are_not_taken_in(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / ".keys").mkdir()
    for name in (".keys/one", ".two", ".three.tex"):
        (tmp_path / name).write_text("Secret 99.")
    (tmp_path / "link.tex").symlink_to(tmp_path / ".two")
    path = tmp_path / "main.tex"
    path.write_text("Of 5. \\input{.keys/one} \\input{./.two} \\input{.three} \\input{link}")
    (document,) = read_file(str(path))
    assert [p.text for p in document.paragraphs] == ["Of 5."]
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 4
    assert all(line.endswith("is left out: hidden files are not read") for line in told)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"37 \x81\x8e", "not UTF-8: got byte 0x81 at offset 3"),
        (b"\xff\xfea", "not UTF-16"),
    ],
)
def test_what_cannot_be_read(data: bytes, reason: str) -> None:
    with pytest.raises(DocumentError, match=reason):
        read_one("latex", data, "paper.tex")


SIGNS = (
    r"\\ \begin{tabular}{lS} \end{tabular} \begin{table} \end{table} & { } $ % # ^ _ ~ [ ] \frac "
    r"\num \SI \newcommand{\x}[1] \def\y \x \y \footnote{ \caption{ \multicolumn{2}{l} \item "
    r"\multirow{2} \input{a} \section \iffalse \else \fi \verb| \url{ \begin{document} \( \) \[ "
    r"\end{document} \ref{t} \label{t} \hline \midrule \endhead \let\z\x \begin{abstract} \] \' "
    r"12 5.5 #1 e5"
)
PIECES = st.sampled_from([*SIGNS.split(), "\n\n", "\n", " ", "\\"])


@settings(max_examples=300, deadline=None)
@given(st.lists(st.one_of(PIECES, st.text(max_size=5)), max_size=40).map("".join))
def test_no_source_breaks_it(source: str) -> None:
    source = source.encode("utf-8", "replace").decode()
    assert_places_are_inside(read(source), source)


def test_a_table_in_the_text_may_have_its_caption_before_it() -> None:
    """As programs write it that know no captions; a sentence about it is none."""
    rows = r"\begin{tabular}{ll} A & B \\ \hline 1 & 2 \\ \end{tabular}"
    found = read(f"See Table 2.\n\nTable 2. Ages of 12\n\n{rows}\n\nTable 3 has 5.\n\n{rows}")
    first, second = found.tables
    assert (first.label, first.caption) == ("Table 2", "Ages of 12")
    assert found.paragraphs[0].tables == (first.id,)
    assert second.label == "Table in line 9"
    assert [one.text for one in found.paragraphs] == ["See Table _ref_.", "Table _ref_ has 5."]
    assert first.source is not None
    assert found.given is not None
    assert found.given[slice(*first.source.span(None, None, 8, 10))] == "12"
