"""A small detector is trained, stored, opened, and finds what it was shown."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from tests.trials import TABLE, TEXT

import numerate
from numerate.detector import trained
from numerate.detector.articles import (
    LONGEST,
    NOTHING,
    TEXTS_ALONE,
    Article,
    Selection,
    article_of,
    labels,
    numerals_of,
)
from numerate.detector.evidence import EVIDENCE
from numerate.detector.kinds_of_error import KINDS, TRAINED
from numerate.detector.log_odds import LogOdds, fit_line
from numerate.detector.scored import PRIOR
from numerate.detector.small import SmallClassifier, SmallOptions
from numerate.detector.trained import Calibrations, Detector, open_detector
from numerate.documents.document import Document, Paragraph
from numerate.errors import NumerateError, RunError
from numerate.lm.data.dataset import Dataset
from numerate.lm.train.detector_articles import articles_of
from numerate.lm.train.detector_fitting import FittingOptions, draw_errors, score
from numerate.lm.train.train_detector import train_detector
from numerate.text.vocabulary import Vocabulary


@pytest.fixture(scope="module")
def articles(trials: Path) -> list[Article]:
    dataset = Dataset.open(trials / "data")
    return articles_of(dataset.split("train"), dataset.reading)


@pytest.fixture(scope="module")
def detector(detector_run: Path) -> Detector:
    return open_detector(detector_run, "cpu")


def document(text: str) -> Document:
    return Document("one", [Paragraph(text, ("t1",))], [TABLE])


def test_articles_are_the_documents_of_a_split(trials: Path, articles: list[Article]) -> None:
    split = Dataset.open(trials / "data").split("train")
    columns = split.read(["document", "text"])
    assert [text for article in articles for text in article.texts] == columns["text"].to_pylist()
    assert len(articles) == split.summary["documents"]
    assert all(article.views == [[0], [0]] for article in articles)
    assert numerals_of(articles[:1])[:2] == [place.numeral for place in articles[0].places[0]]
    table = articles[0].tables[0]
    assert articles[0].places[0][0].numeral == table.body[1][1]


def test_errors_of_an_epoch(articles: list[Article]) -> None:
    elsewhere, rules = numerals_of(articles), articles[0].rules
    errors = draw_errors(articles, rules, [1, 2], elsewhere)
    assert errors == draw_errors(articles, rules, [1, 2], elsewhere)
    assert errors != draw_errors(articles, rules, [1, 3], elsewhere)
    edits = [edit for one in errors for some in (*one.texts, *one.tables) for edit in some]
    assert {edit.kind for edit in edits} <= set(TRAINED)
    of_texts, of_tables = labels(articles, errors)
    assert len(of_texts) == len(elsewhere)
    assert of_texts.sum() + of_tables.sum() == len(edits)
    assert 0.03 < of_texts.mean() < 0.25


def test_scores_are_those_of_the_text_with_the_errors_written_in(
    articles: list[Article], detector: Detector
) -> None:
    """Errors as edits of what was prepared, or articles that have them: the same."""
    classifier = detector.classifier
    some = articles[:8]
    errors = draw_errors(some, some[0].rules, [5], numerals_of(articles), KINDS)
    edited = score(classifier, classifier.prepare(some), errors, batch_size=3)
    written = [article.with_errors(wrong) for article, wrong in zip(some, errors, strict=True)]
    read = score(classifier, classifier.prepare(written), batch_size=8)
    np.testing.assert_allclose(edited.texts, read.texts, atol=1e-4)
    np.testing.assert_allclose(edited.cells, read.cells, atol=1e-4)


def test_what_is_wrong_is_found(detector: Detector) -> None:
    right = {one.written: one.log_odds for one in detector.log_odds(document(TEXT))}
    found = detector.log_odds(document(TEXT.replace("48", "84")))
    wrong = {one.written: one for one in found}
    assert wrong["84"].log_odds > right["48"] + 1
    assert max(found[:3], key=lambda one: one.log_odds).written == "84"
    suggestion = wrong["84"].suggestion
    assert suggestion is not None
    assert suggestion.text == "48"
    assert suggestion.probability is not None
    assert 0.1 < suggestion.probability <= 1
    assert 0 < wrong["84"].alarm <= 1


def test_places_are_those_of_the_document(detector: Detector) -> None:
    text = document(TEXT)
    found = detector.log_odds(text, [TABLE])
    for one in found:
        where = one.where
        if where.paragraph is not None:
            whole = text.paragraphs[where.paragraph].text
        else:
            assert where.row is not None
            assert where.column is not None
            whole = TABLE.body[where.row][where.column]
        assert whole[where.start : where.end] == one.written
    assert [one.where.table for one in found] == [None] * 3 + [0] * 6 + [1] * 6


def test_a_long_paragraph_is_read_in_parts(detector: Detector) -> None:
    long = " ".join(f"{number} patients," for number in range(LONGEST))
    article = article_of(document(long))
    assert len(article.texts) > 2
    assert max(map(len, article.tokens)) == LONGEST
    found = [one for one in detector.log_odds(document(long)) if one.where.table is None]
    assert [one.written for one in found] == [str(number) for number in range(LONGEST)]
    assert all(long[one.where.start : one.where.end] == one.written for one in found)


@pytest.mark.parametrize("text", ["", "No number.", "7", "1.5 " * 50])
def test_little_to_read(detector: Detector, text: str) -> None:
    found = detector.log_odds(Document("one", [Paragraph(text)]))
    assert all(np.isfinite(one.log_odds) for one in found)
    assert detector.log_odds(Document("none", [])) == []


def test_without_a_calibration_of_cells(detector: Detector) -> None:
    alone = Calibrations(detector.calibrations.texts)
    without = Detector("texts", detector.classifier, detector.rules, alone)
    found = without.log_odds(document(TEXT))
    assert [one.log_odds for one in found] == pytest.approx(
        [one.log_odds for one in detector.log_odds(document(TEXT))[:3]], abs=1e-4
    )


@pytest.mark.parametrize("cut", ["pairs", "tokens"])
def test_a_long_document_is_read_in_groups(
    detector: Detector, monkeypatch: pytest.MonkeyPatch, cut: str
) -> None:
    """Nothing of what is said depends on them, and whoever waits is told after each."""
    both = Document(
        "three",
        [Paragraph(TEXT, ("t1",)), Paragraph("None."), Paragraph("Age 57.3, 48.", ("t1",))],
        [TABLE, replace(TABLE, id="t2"), replace(TABLE, id="t3")],
    )
    told: list[int] = []
    whole = detector.log_odds(both, told=told.append)
    assert told == [3, 3]
    told.clear()
    if cut == "pairs":
        monkeypatch.setattr(trained, "PAIRS_AT_ONCE", 1)
    else:
        monkeypatch.setattr(trained, "TOKENS_AT_ONCE", 1)
    parts = detector.log_odds(both, told=told.append)
    assert told == [1, 2, 3, 3]
    assert [(one.where, one.written) for one in parts] == [
        (one.where, one.written) for one in whole
    ]
    assert [one.log_odds for one in parts] == pytest.approx(
        [one.log_odds for one in whole], abs=1e-4
    )
    assert [one.suggestion and one.suggestion.text for one in parts] == [
        one.suggestion and one.suggestion.text for one in whole
    ]


def test_of_what_is_selected_the_same_is_said(articles: list[Article], detector: Detector) -> None:
    classifier, some = detector.classifier, articles[:5]
    errors = draw_errors(some, some[0].rules, [5], numerals_of(articles), KINDS, spoilt=1.0)
    prepared = classifier.prepare(some)
    whole = score(classifier, prepared, errors)
    selections = [
        Selection([1], ()), NOTHING, Selection([0, 1], [0], scores_texts=False), TEXTS_ALONE,
        Selection(),
    ]  # fmt: skip
    parts = score(classifier, prepared, errors, selections=selections, batch_size=2)
    counts = [article.count for article in some]
    of_texts = np.split(parts.texts, np.cumsum(counts)[:-1])
    of_cells = np.split(parts.cells, len(some))  # tables are alike
    first = len(some[0].places[0])
    assert np.isnan(of_texts[0][:first]).all()
    assert not np.isnan(of_texts[0][first:]).any()
    assert np.isnan(of_texts[1]).all()
    assert [bool(np.isnan(cells).all()) for cells in of_cells] == [True, True, False, True, False]
    for mine, theirs in ((parts.texts, whole.texts), (parts.cells, whole.cells)):
        known = ~np.isnan(mine)
        np.testing.assert_allclose(mine[known], theirs[known], atol=1e-4)


def test_a_table_that_no_text_refers_to(detector: Detector) -> None:
    found = detector.log_odds(Document("one", [Paragraph("No number.")], [TABLE]))
    assert [one.where.table for one in found] == [0] * 6
    assert all(np.isfinite(one.log_odds) for one in found)


def test_padding_changes_nothing_and_the_numeral_is_not_in_its_context(
    articles: list[Article],
) -> None:
    torch.manual_seed(1)
    types = sorted({token.text for one in articles for some in one.tokens for token in some})
    vocabulary = Vocabulary.build(types, np.ones(len(types), dtype=np.int64), len(types))
    classifier = SmallClassifier(vocabulary, SmallOptions(hidden=8))
    one = score(classifier, classifier.prepare(articles[:1]))
    second = articles[1]
    tokens = [second.tokens[0] * 5, second.tokens[1]] * 2
    long = replace(second, texts=second.texts * 2, tokens=tokens, views=second.views * 2)
    both = score(classifier, classifier.prepare([articles[0], long]), batch_size=2)
    np.testing.assert_allclose(one.texts, both.texts[: len(one.texts)], atol=1e-5)
    embedded = torch.randn(5, 1, 8)
    changed = embedded.clone()
    changed[2] += 1
    classifier.eval()
    with torch.inference_mode():
        states = [
            torch.cat(classifier.network(x, torch.tensor([5])), 2) for x in (embedded, changed)
        ]
    assert torch.equal(states[0][2], states[1][2])
    assert not torch.allclose(states[0][1], states[1][1])
    assert not torch.allclose(states[0][3], states[1][3])


def test_odds_are_calibrated_like_a_logistic_regression() -> None:
    generator = np.random.default_rng(1)
    wrong = generator.random(20_000) < 0.12
    logits = generator.normal(np.where(wrong, 2.0, -1.0), 1.5)
    line = fit_line(logits, wrong)
    peer = LogisticRegression(C=1e12, tol=1e-10).fit(logits[:, None], wrong)
    assert line == pytest.approx((peer.coef_[0, 0], peer.intercept_[0]), abs=2e-3)
    found = LogOdds.fit(logits, wrong, logits[~wrong])
    odds = found.of(logits) - PRIOR + np.log(0.12 / 0.88)
    chance = 1 / (1 + np.exp(-odds))
    for low, high in ((0.05, 0.2), (0.4, 0.6), (0.8, 0.95)):
        inside = (chance > low) & (chance < high)
        assert wrong[inside].mean() == pytest.approx(chance[inside].mean(), abs=0.05)
    assert found.alarms(np.array([np.inf])) == found.finest == 1 / 5001
    alarms = found.alarms(logits[~wrong])
    assert (alarms <= 0.01).mean() == pytest.approx(0.01, abs=0.001)


def test_batches_are_the_same_whoever_makes_them(trials: Path, tmp_path: Path) -> None:
    for processes in (0, 1):
        train_detector(
            trials / "data",
            tmp_path / str(processes),
            network=SmallOptions(hidden=8),
            vocabulary=50,
            options=FittingOptions(epochs=2, batch_size=6, processes=processes),
            device="cpu",
        )
    here, beside = (open_detector(tmp_path / name, "cpu").classifier for name in ("0", "1"))
    for one, other in zip(here.parameters(), beside.parameters(), strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=0)


def test_an_existing_folder_is_not_replaced(detector_run: Path, trials: Path) -> None:
    with pytest.raises(NumerateError, match="already exists"):
        train_detector(trials / "data", detector_run, device="cpu")
    with pytest.raises(NumerateError, match="not replaced"):
        train_detector(trials / "data", trials / "data", device="cpu", force=True)


def test_a_network_that_learnt_from_other_evidence_is_refused(
    detector_run: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "detector"
    shutil.copytree(detector_run, folder)
    config = json.loads((folder / "config.json").read_text())
    config["options"]["evidence"] = 1
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(
        RunError, match=f"learnt from evidence 1, expected {EVIDENCE}; train it anew"
    ):
        open_detector(folder)
    del config["options"]["evidence"]
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(RunError, match=r"options\.evidence is missing; train it anew"):
        open_detector(folder)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"kind": "pretrained"}, "kind: got 'pretrained', expected 'small'; train it anew"),
        ({"options": {"network": "transformer"}}, "got 'transformer', expected 'lstm'; train"),
        ({"options": {"hidden": "many"}}, 'options.hidden: got "many", expected a whole number'),
    ],
)
def test_a_network_of_another_kind_is_refused(
    detector_run: Path, tmp_path: Path, changed: dict[str, Any], said: str
) -> None:
    folder = tmp_path / "detector"
    shutil.copytree(detector_run, folder)
    config = json.loads((folder / "config.json").read_text())
    changed = {**changed, "options": {**config["options"], **changed.get("options", {})}}
    (folder / "config.json").write_text(json.dumps({**config, **changed}))
    with pytest.raises(RunError, match=said):
        open_detector(folder)


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("config.json", "{}", "not a detector"),
        ("config.json", None, "config.json is missing"),
        ("calibration.json", "{}", "texts is missing"),
        ("calibration.json", None, "calibration.json is missing"),
        ("model.safetensors", "spoilt", "broken"),
        ("vocabulary.json", None, "vocabulary.json is missing"),
    ],
)
def test_spoilt_folders(
    detector_run: Path, tmp_path: Path, file: str, content: str | None, said: str
) -> None:
    folder = tmp_path / "detector"
    folder.mkdir()
    for path in detector_run.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    (folder / file).unlink()
    if content is not None:
        (folder / file).write_text(content)
    with pytest.raises(RunError, match=said):
        open_detector(folder)


def test_check_opens_a_detector_as_what_it_is(detector_run: Path, trials: Path) -> None:
    """By its folder alone; what it says of places is true, in text and in tables."""
    article = trials / "articles" / "trial-007.xml"
    found = numerate.check(
        article, str(detector_run), alarms=0.5, min_probability=0, select=["NUM8"]
    )
    assert {one.code for one in found} == {"NUM800"}
    assert all(found.read.text(one.where) == one.written for one in found)
    chances = [one.probability for one in found]
    assert chances == sorted(chances, reverse=True)
    assert not numerate.check(article, str(detector_run), alarms=0.5, ignore=["NUM"])
    with pytest.raises(NumerateError, match="alarms: got 1e-05, expected at least"):
        numerate.check(article, str(detector_run), alarms=1e-5)
