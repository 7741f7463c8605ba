"""Objects print what they are, and are the sequences they look like."""

import base64
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np

from numerate.lm.data.dataset import Dataset
from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.heads.known_numerals import KnownNumerals
from numerate.lm.model.assessments import Assessment, Assessments
from numerate.lm.model.numeral_distribution import NumeralDistribution
from numerate.lm.model.numeral_lm import NumeralLM
from numerate.lm.model.rank import Claim, Ranking
from numerate.text.vocabulary import Vocabulary


class Tags(HTMLParser):
    """Every element is closed, none runs or fetches anything."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.cells: list[str] = []
        self.feed(html)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in {"script", "link", "iframe", "style"}
        for name, value in attrs:
            assert not name.startswith("on")
            if name in {"src", "href"}:
                assert value
                assert value.startswith("data:image/svg+xml;base64,")
        if tag != "img":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "td":
            self.cells.append(data)


def distribution(probabilities: dict[str, float]) -> NumeralDistribution:
    log_probs = np.log(list(probabilities.values()))
    known = dict(zip(probabilities, log_probs, strict=True))
    return NumeralDistribution(
        KnownNumerals(list(probabilities), log_probs),
        lambda table: np.array([known.get(text, -np.inf) for text in table.texts]),
        NumeralTable(list(probabilities)),
        {},
    )


def test_a_distribution_says_where_it_lies() -> None:
    hundred = distribution({str(n): 0.01 for n in range(1, 101)})
    assert repr(hundred) == "NumeralDistribution(median 50, 90 % in 5–95)"


def test_a_distribution_is_a_picture_in_a_notebook() -> None:
    html = distribution({"54": 0.5, "1.5": 0.5})._repr_html_()
    Tags(html)
    assert "NumeralDistribution(median 1.5, 90 % in 1.5–54)</figcaption>" in html
    (data,) = re.findall(r'base64,([^"]+)"', html)
    svg = base64.b64decode(data).decode()
    assert "<svg" in svg
    assert "<script" not in svg
    assert not re.findall(r'(?:href|src)="(?!#)', svg)


def claim(text: str, log_prob: float) -> Claim:
    return Claim(text, 0, log_prob, [], 0.0, "<b>")


def test_a_ranking_is_a_sequence() -> None:
    claims = [claim("it is 5", -1), claim("it is <i>", -2), claim("it is 7", -3)]
    ranking = Ranking("numerals", claims)
    assert len(ranking) == 3
    assert list(ranking) == claims
    assert ranking[-1] == claims[2]
    assert ranking[1:] == claims[1:]
    assert claims[1] in ranking
    assert repr(ranking) == (
        "Ranking(by numerals: 'it is 5' -1.00, 'it is <i>' -2.00, 'it is 7' -3.00)"
    )
    cells = Tags(ranking._repr_html_()).cells
    assert cells[4:8] == ["2", "it is <i>", "-2.00", "<b>"]


def finding(written: str, start: int) -> Assessment:
    return Assessment(
        start, start + len(written), written, written, 9.0, 1.0, (1.5, 2.0), "1.7", "magnitude",
        0.001, True,
    )  # fmt: skip


def test_findings_are_a_sequence() -> None:
    flagged = [finding("184", 31), finding("74", 10)]
    found = Assessments(flagged, 1200)
    assert len(found) == 2
    assert [*found] == flagged
    assert found[0] == flagged[0]
    assert found[1:] == flagged[1:]
    assert found == flagged
    assert found != flagged[:1]
    assert bool(found)
    assert repr(found) == "Assessments(2 of 1,200 numerals flagged: 184, 74)"
    assert repr(Assessments([], 1)) == "Assessments(0 of 1 numeral flagged)"
    assert not Assessments([], 1)
    assert repr(Assessments(4 * flagged, 9)).endswith("flagged: 184, 74, 184, 74, 184, …)")
    cells = Tags(found._repr_html_()).cells
    assert cells[:2] == ["31", "184"]
    assert "far larger than expected" in cells[2]


def test_models_and_datasets_introduce_themselves(
    models: dict[str, NumeralLM], dataset: Path
) -> None:
    assert repr(models["mog"]) == "NumeralLM(mog)"
    assert repr(models["combination"]) == "NumeralLM(combination of h-softmax, d-rnn, mog)"
    found = models["combination"].check("It is 5 or 6.", 0.2)
    assert isinstance(found, Assessments)
    assert found.numerals == 2
    opened = Dataset.open(dataset)
    expected = "train 84 paragraphs of 84 documents, dev 12 paragraphs of 12 documents, test 24 "
    assert repr(opened).startswith(f"Dataset({dataset}: {expected}")
    assert repr(opened.split("dev")) == (f"Split(dev of {dataset}: 12 paragraphs of 12 documents)")
    assert repr(Vocabulary(("<unk>",) * 3, ("5",))) == "Vocabulary(3 words, 1 numerals)"


def test_a_distribution_without_numerals_says_so() -> None:
    nothing = distribution({})
    assert repr(nothing) == "NumeralDistribution(no numeral that can be named)"
    assert nothing._repr_html_() == repr(nothing)
