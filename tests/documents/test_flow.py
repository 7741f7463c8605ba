from hypothesis import example, given
from hypothesis import strategies as st

from numerate.documents.flow import CITE, MATH, REF, Flow
from numerate.text.tokenizer import tokenize

Piece = tuple[str, str]

# Digits of several kinds, letters, and everything that may stand inside a numeral.
pieces = st.lists(
    st.one_of(
        st.tuples(
            st.sampled_from(["text", "superscript", "subscript"]),
            st.text("019axé ²５.,．，-(%", max_size=5),
        ),
        st.tuples(st.just("mark"), st.sampled_from([REF, MATH])),
    ),
    max_size=8,
)


def tokens(text: str) -> list[str]:
    return [token.text for token in tokenize(text)]


def write(pieces: list[Piece]) -> str:
    flow = Flow()
    for method, argument in pieces:
        getattr(flow, method)(argument)
    return flow.finish()


def tokens_after(last: str, run: str) -> list[str]:
    """Of text after a script or mark: its first point is no decimal point, its first letters
    stand after a digit where the script ended with one."""
    before = (
        "x" if run[:1] in {*".,．，"} else "0" if last.isdecimal() and run[:1].isalpha() else ""
    )
    return tokens(before + run)[len(before) :]


def tokens_of_pieces(pieces: list[Piece]) -> list[str]:
    """Each piece by itself; only text runs on, and a subscript belongs to the name before it."""
    found: list[str] = []
    run = ""
    last = before = " "  # the last character, and that before the run of text
    for method, argument in [*pieces, ("mark", REF)]:
        if method == "text":
            run += argument
            last = argument[-1:] or last
            continue
        script = argument.strip()
        if not script:
            continue
        found += tokens_after(before, run) if found else tokens(run)
        run = ""
        if method == "mark":
            found.append(argument)
            last = "_"
        elif method == "superscript":
            found += ["^", *tokens(script)]
            last = script[-1]
        elif script.isalnum() and script.isascii() and last.isalpha():
            found[-1:] = tokens(found[-1] + script)
            last = script[-1]
        else:
            found += ["_", *tokens(script.replace(",", ", "))]  # indices are a list
            last = script[-1]
        before = last
    return found[:-1]


@given(pieces)
@example([("text", "10"), ("superscript", "6"), ("text", ".5")])
@example([("text", "10"), ("superscript", "6"), ("text", "."), ("text", "5")])
@example([("text", "10"), ("superscript", "6,"), ("text", "000")])
@example([("text", "axa"), ("subscript", "1"), ("text", "5")])
@example([("text", "5"), ("mark", REF), ("text", "5")])
def test_tokens_of_the_pieces_are_tokens_of_the_whole(pieces: list[Piece]) -> None:
    assert tokens(write(pieces)) == tokens_of_pieces(pieces)


def test_empty_scripts_leave_no_mark() -> None:
    assert write([("text", "a"), ("superscript", " "), ("subscript", "")]) == "a"


def test_white_space_is_collapsed() -> None:
    assert write([("text", " a\n\t b "), ("text", " c ")]) == "a b c"


def test_a_point_after_a_script_stays_where_it_is() -> None:
    assert write([("text", "10"), ("superscript", "6"), ("text", ". Then")]) == "10^6. Then"
    assert write([("text", "10"), ("superscript", "6"), ("text", ".")]) == "10^6."


def test_citations_side_by_side_are_one() -> None:
    def cited(*between: str) -> str:
        return write([piece for text in between for piece in (("mark", CITE), ("text", text))])

    assert cited(", ", "–", " and ", ".") == f"{CITE}."
    assert cited(" but ", ".") == f"{CITE} but {CITE}."


def test_unlinked_numbers_in_the_brackets_of_a_citation_are_citations() -> None:
    assert write([("text", "so ["), ("mark", CITE), ("text", "-6, 9].")]) == f"so [{CITE}]."
    assert write([("mark", CITE), ("text", " in [0, 1]")]) == f"{CITE} in [0, 1]"


def test_raised_citations_are_citations() -> None:
    assert write([("text", "so"), ("superscript", f"{CITE},5–7")]) == f"so {CITE}"


def test_numbered_tables_and_figures_are_references_though_unlinked() -> None:
    def unlinked(text: str) -> str:
        return write([("text", text)])

    assert unlinked("Table 2 has 3 rows, Fig 4A and Fig. 5 none") == (
        f"Table {REF} has 3 rows, Fig {REF} and Fig. {REF} none"
    )
    assert unlinked("Tables 1 and 2, 45 patients") == f"Tables {REF}, 45 patients"
    assert unlinked("Figures 1, 2, and 3 or Figs. 4–6") == f"Figures {REF} or Figs. {REF}"
    assert unlinked("Table 1, 25 patients") == f"Table {REF}, 25 patients"
    assert unlinked("Appendix 1.3, Section 4 and Supplementary file 2") == (
        f"Appendix {REF}, Section {REF} and Supplementary file {REF}"
    )
    assert unlinked("Supplementary Tables 5–8") == f"Supplementary Tables {REF}"
    for no_reference in ("the section 4 mm thick", "received supplements 77% of days"):
        assert unlinked(no_reference) == no_reference


def test_degrees_of_freedom_and_indices_are_not_thousands() -> None:
    assert tokens(write([("text", "F(1,139) = 2")])) == ["f", "(", "1", ",", "139", ")", "=", "2"]
    assert tokens(write([("text", "F"), ("subscript", "4,933.35")])) == [
        *("f", "_", "4", ",", "933.35"),
    ]
    assert tokens(write([("text", "costs (1,139 euros)")])) == ["costs", "(", "1139", "euros", ")"]


def test_thin_spaces_between_thousands() -> None:
    assert write([("text", "of 13\u2009459, 2\u00a0500 and 1\u202f000\u202f000")]) == (
        "of 13,459, 2,500 and 1,000,000"
    )
    assert write([("text", "p\u2009=\u20090.5\u2009123")]) == "p = 0.5 123"
