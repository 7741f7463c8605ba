"""A detector over a pretrained model: each numeral is read when all of the text has been seen."""

from pathlib import Path

import numpy as np
import pytest
import torch
from tests.trials import TABLE, TEXT

from numerate.corpus.dataset import Dataset
from numerate.detector.articles import Article, Selection, article_of, articles_of, numerals_of
from numerate.detector.edits import Edit
from numerate.detector.fitting import FittingOptions, draw_errors, score
from numerate.detector.kinds_of_error import KINDS
from numerate.detector.pretrained import PretrainedClassifier
from numerate.detector.small import SmallOptions
from numerate.detector.train_detector import pretrained_classifier, train_detector
from numerate.detector.trained import open_detector
from numerate.documents.document import Document, Paragraph
from numerate.errors import RunError

SMALL = SmallOptions(hidden=8, dropout=0.0)


@pytest.fixture(scope="module")
def articles(trials: Path) -> list[Article]:
    dataset = Dataset.open(trials / "data")
    return articles_of(dataset.split("train"), dataset.reading)


@pytest.fixture(scope="module")
def classifier(trials: Path, tiny_models: dict[str, Path]) -> PretrainedClassifier:
    """One whose reading counts, as after training."""
    torch.manual_seed(1)
    made = pretrained_classifier(tiny_models["single"], "none", SMALL, 100)(
        Dataset.open(trials / "data")
    )
    assert isinstance(made, PretrainedClassifier)
    for part in (made.judge[-1], made.context[-1], made.queries[-1]):
        torch.nn.init.normal_(part.weight)  # type: ignore[arg-type]
    return made


def test_a_numeral_is_judged_with_tables_and_both_sides_of_the_text_in_view(
    classifier: PretrainedClassifier,
) -> None:
    def first(text: str, tables: bool = True) -> float:
        referred = ("t1",) if tables else ()
        article = article_of(Document("one", [Paragraph(text, referred)], [TABLE]))
        gathered = classifier.gather(classifier.prepare([article]), [0])
        states = classifier._read(gathered.sequences, gathered.places)
        return float(classifier.judge(states)[gathered.last[0], 0].detach())

    plain = first(TEXT)
    assert plain == pytest.approx(first(TEXT), abs=1e-6)
    assert plain != pytest.approx(first(TEXT + " That was all."), abs=1e-6)
    assert plain != pytest.approx(first(TEXT, tables=False), abs=1e-6)


def test_the_states_are_those_about_numerals_of_the_second_reading(
    classifier: PretrainedClassifier,
) -> None:
    article = article_of(Document("one", [Paragraph(TEXT, ("t1",))], [TABLE]))
    gathered = classifier.gather(classifier.prepare([article]), [0])
    (tokens,), (places,) = gathered.sequences, gathered.places
    tokenizer = classifier._opened.tokenizer
    whole = tokenizer.decode(tokens)
    assert whole.count(TEXT) == 2
    assert "| Women | 12 |" in whole.partition(TEXT)[0]  # as much as there is room for
    for last, before, numeral in zip(
        places[gathered.last], places[gathered.before], article.places[0], strict=True
    ):
        read = tokenizer.decode(tokens[: last + 1])
        assert read.endswith(numeral.written)
        assert read.count(TEXT) == 1
        assert tokenizer.decode(tokens[: before + 1]) == read.removesuffix(numeral.written)
    with torch.no_grad():
        read = places >= 0
        alone = classifier.lm(input_ids=torch.tensor([tokens])).last_hidden_state[0, places[read]]
        found = classifier._read(gathered.sequences, gathered.places)[read]
    torch.testing.assert_close(found, alone, atol=1e-5, rtol=1e-4)


def test_a_pair_has_the_state_after_the_number_that_a_numeral_is_compared_with(
    articles: list[Article], classifier: PretrainedClassifier
) -> None:
    some = articles[:3]
    # The second article is read for its table only, so that nothing is known of its pairs.
    selections = [Selection(), Selection([0], [0], scores_texts=False), Selection([1], ())]
    prepared = classifier.prepare(some)
    gathered = classifier.gather(prepared, [0, 1, 2], selections=selections)
    tokenizer, evidence = classifier._opened.tokenizer, gathered.small
    ends = [
        tokenizer.decode(tokens[: place + 1]) if place >= 0 else ""
        for tokens, places in zip(gathered.sequences, gathered.places, strict=True)
        for place in places.tolist()
    ]
    compared = [evidence.numerals.texts[evidence.numbers[at]] for at in evidence.pair_numbers]
    in_tables, in_texts = 0, 0
    for place, number, numeral, state in zip(
        evidence.pair_places.tolist(),
        evidence.pair_numbers.tolist(),
        compared,
        gathered.pair_states.tolist(),
        strict=True,
    ):
        assert (state >= 0) == (place in gathered.scored)
        if state >= 0 and ends[state]:  # the tiny model's window does not take all of a table
            assert ends[state].endswith(numeral)
            in_tables += number < len(evidence.header_bags)
            in_texts += number >= len(evidence.header_bags)
    assert in_tables > 5
    assert in_texts > 5


def test_its_pointer_asks_with_what_the_language_model_has_read(
    articles: list[Article], classifier: PretrainedClassifier
) -> None:
    gathered = classifier.gather(classifier.prepare(articles[:2]), [0, 1])
    with torch.no_grad():
        states = classifier._read(gathered.sequences, gathered.places)
        read = np.concatenate([at >= 0 for at in gathered.places])
        aside = classifier._aside(gathered, states, read)
        asking = classifier.queries(states[gathered.before]).numpy()
        answering = classifier.keys(states).numpy()
    places, numbers = gathered.small.pair_places, gathered.pair_states
    expected = [
        asking[place] @ answering[state] / 8 if read[state] else 0.0
        for place, state in zip(places, numbers, strict=True)
    ]
    np.testing.assert_allclose(aside.fits.numpy(), expected, atol=1e-4)
    assert (np.array(expected) != 0).any()


def test_errors_as_edits_are_errors_as_written(
    articles: list[Article], classifier: PretrainedClassifier
) -> None:
    some = articles[:6]
    errors = draw_errors(some, some[0].rules, [5], numerals_of(articles), KINDS)
    edited = score(classifier, classifier.prepare(some), errors, batch_size=2)
    written = [article.with_errors(wrong) for article, wrong in zip(some, errors, strict=True)]
    read = score(classifier, classifier.prepare(written), batch_size=6)
    np.testing.assert_allclose(edited.texts, read.texts, atol=1e-4)


def test_an_error_that_changes_what_is_one_number_of_a_table_is_no_crash(
    classifier: PretrainedClassifier,
) -> None:
    article = article_of(Document("one", [Paragraph(TEXT, ("t1",))], [TABLE]))
    errors = article.no_errors()
    errors.tables[0].append(Edit(0, "digit added", "2; 864", "2864"))
    before, after = (len(a.numbers[0]) for a in (article, article.with_errors(errors)))
    assert before != after
    found = score(classifier, classifier.prepare([article]), [errors])
    assert np.isfinite(found.texts).all()


@pytest.mark.parametrize("finetune", ["lora", "full"])
def test_gradients_that_are_made_anew_are_those_that_are_kept(
    articles: list[Article],
    trials: Path,
    tiny_models: dict[str, Path],
    monkeypatch: pytest.MonkeyPatch,
    finetune: str,
) -> None:
    dataset = Dataset.open(trials / "data")
    torch.manual_seed(1)
    tuned = pretrained_classifier(tiny_models["single"], finetune, SMALL, 100)(dataset).train()
    assert isinstance(tuned, PretrainedClassifier)
    for part in (tuned.judge[-1], tuned.context[-1], tuned.queries[-1]):
        torch.nn.init.normal_(part.weight)  # type: ignore[arg-type]
    gathered = tuned.gather(tuned.prepare(articles[:3]), [0, 1, 2])
    found = []
    for kept in (0, 10**9):
        monkeypatch.setattr("numerate.detector.pretrained.KEPT", kept)
        tuned.zero_grad()
        tuned.logits(gathered).texts.square().sum().backward()  # type: ignore[no-untyped-call]
        layers = [m for m in tuned.lm.modules() if hasattr(m, "gradient_checkpointing")]
        assert layers
        assert all(layer.gradient_checkpointing == (kept == 0) for layer in layers)
        found.append([w.grad.clone() for w in tuned.lm.parameters() if w.grad is not None])
    assert len(found[0]) == len(found[1]) > 0
    for anew, kept_one in zip(*found, strict=True):
        torch.testing.assert_close(anew, kept_one, atol=1e-5, rtol=1e-4)


def test_of_what_is_selected_the_same_is_said_and_nothing_else_is_read(
    articles: list[Article], classifier: PretrainedClassifier
) -> None:
    some = articles[:2]
    prepared = classifier.prepare(some)
    whole = score(classifier, prepared)
    selections = [Selection([1], ()), Selection([0, 1], [0], scores_texts=False)]
    gathered = classifier.gather(prepared, [0, 1], selections=selections)
    assert len(gathered.sequences) == 1  # for cells, the language model is not asked
    parts = score(classifier, prepared, selections=selections)
    first, count = len(some[0].places[0]), some[0].count
    np.testing.assert_allclose(parts.texts[first:count], whole.texts[first:count], atol=1e-4)
    assert whole.cells is not None
    assert parts.cells is not None
    cells = slice(len(some[0].cell_places[0]), None)
    np.testing.assert_allclose(parts.cells[cells], whole.cells[cells], atol=1e-4)


def test_of_numerals_beyond_the_window_the_small_detector_decides(
    classifier: PretrainedClassifier,
) -> None:
    window = classifier._opened.window
    long = " ".join(f"{number} of them," for number in range(window))
    article = article_of(Document("one", [Paragraph(long)])).part([0])
    gathered = classifier.gather(classifier.prepare([article]), [0])
    assert all(len(tokens) == window for tokens in gathered.sequences)
    places = gathered.places[0][gathered.last]
    assert (places < 0).any()
    assert (places >= 0).any()
    with torch.no_grad():
        alone = classifier.small.logits(gathered.small).texts
        both = classifier.logits(gathered).texts
    same = (both - alone).abs().numpy() < 1e-6
    assert same[places < 0].all()
    assert not same[places >= 0].any()


@pytest.mark.parametrize("finetune", ["none", "lora", "full"])
def test_it_is_trained_stored_and_opened(
    trials: Path, tiny_models: dict[str, Path], tmp_path: Path, finetune: str
) -> None:
    made = {}

    def make(dataset: Dataset) -> PretrainedClassifier:
        found = pretrained_classifier(tiny_models["single"], finetune, SMALL, 100)(dataset)
        assert isinstance(found, PretrainedClassifier)
        made["one"] = found
        made["before"] = {name: value.clone() for name, value in found.lm.state_dict().items()}
        return found

    options = FittingOptions(epochs=1, batch_size=12, learning_rate=0.01)
    train_detector(trials / "data", tmp_path / "run", make=make, options=options, device="cpu")
    trained = made["one"]
    changed = [
        name for name, value in trained.lm.state_dict().items()
        if not torch.equal(value, made["before"][name])
    ]  # fmt: skip
    assert bool(changed) == (finetune != "none")
    assert all("lora" in name for name in changed) == (finetune != "full")
    kept = [name for name in trained.weights() if name.startswith("lm.")]
    assert len(kept) >= len(changed)
    assert bool(kept) == (finetune != "none")
    opened = open_detector(tmp_path / "run", "cpu")
    text = Document("one", [Paragraph(TEXT, ("t1",))], [TABLE])
    article = article_of(text)
    before = score(trained, trained.prepare([article])).texts
    again = score(opened.classifier, opened.classifier.prepare([article])).texts
    np.testing.assert_allclose(again, before, atol=1e-5)
    assert [one.written for one in opened.log_odds(text)[:3]] == [
        place.written for place in article.places[0]
    ]


def test_another_model_in_its_place_is_refused(
    trials: Path, tiny_models: dict[str, Path], tmp_path: Path
) -> None:
    make = pretrained_classifier(tiny_models["single"], "none", SMALL, 100)
    options = FittingOptions(epochs=1, batch_size=20)
    train_detector(trials / "data", tmp_path / "run", make=make, options=options, device="cpu")
    path = tmp_path / "run" / "config.json"
    other = next(folder for name, folder in tiny_models.items() if name != "single")
    path.write_text(path.read_text().replace(str(tiny_models["single"]), str(other)))
    with pytest.raises(RunError, match="not the pretrained model this run was made with"):
        open_detector(tmp_path / "run", "cpu")
