"""Citations that nobody linked are told from quantities by the list of references."""

import pytest

from numerate.documents.unlinked_citations import with_citations


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        (
            "as others saw [1-4], [5, 12] and [30].",
            "as others saw [_cite_], [_cite_] and [_cite_].",
        ),
        ("walked.^3,4 Then", "walked. _cite_ Then"),
        ("walkers^12 did, (or not)^7–9.", "walkers _cite_ did, (or not) _cite_."),
        ("it holds (Low et al., 2019; O'Hara and de Wit, 2020a, 2020b).", "it holds (_cite_)."),
        ("it holds [Low 2019], as in [5]", "it holds [_cite_], as in [_cite_]"),
        ("(see Low & High, 1999)", "(_cite_)"),
        ("(Low, 1998; Low and High, 1999; 5 of 9)", "(_cite_; 5 of 9)"),
        ("O’Hara et al. (2019) and Low & High (1999a) saw 5", "_cite_ and _cite_ saw 5"),
        # No citations:
        ("95% CI [1, 4] and range [2–5], x = [3]", None),
        ("[31] of thirty, [4, 2], [0], [1.5, 2]", None),
        ("10^6 m^2, cm^3, R^2, walkers^2.5, CO2^31", None),
        ("(March 2010; Nov 2011), (n = 2019), (2019), (12 of 2019)", None),
    ],
)
def test_citations(text: str, cited: str | None) -> None:
    assert with_citations(text, 30) == (cited or text)
    assert with_citations(text, 0) == text


def test_long_runs_of_what_begins_a_citation_are_read() -> None:
    """Anything but linear time would take minutes."""
    for text in ("(Low, " * 50_000, "(a 2019; " * 50_000, "[1," * 50_000):
        assert with_citations(text, 30) == text
