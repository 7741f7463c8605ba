"""All seven models on a small dataset, with one token at a time in plain loops as the oracle."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor, nn

import numerate
from numerate.errors import NumerateError, RunError
from numerate.lm.data.batching import Corpus, load_corpora
from numerate.lm.data.dataset import Dataset
from numerate.lm.data.numeral_table import END, PADDED_STEPS, SYMBOLS, NumeralTable
from numerate.lm.data.prepare import prepare
from numerate.lm.heads.base import Context, HeadOptions, NumeralHead
from numerate.lm.heads.mixture import MixtureHead
from numerate.lm.heads.mixture_fit import Components
from numerate.lm.heads.registry import head_class, paper_heads
from numerate.lm.model.config import ModelConfig
from numerate.lm.model.numeral_lm import NumeralLM
from numerate.lm.model.opening import from_scratch, open_stored
from numerate.numeral import is_numeral
from numerate.text.vocabulary import UNKNOWN_NUMERAL, UNKNOWN_WORD, Vocabulary

MODELS = paper_heads()
SIZE = 6
VOCABULARY = Vocabulary(
    (UNKNOWN_WORD, "<eos>", "of", "mg", "patients", "the"), (UNKNOWN_NUMERAL, "12", "2", "2.0", "7")
)
COMPONENTS = Components(
    means=np.array([40.0, 2.0, 900.0, 0.5]),
    sds=np.array([500.0, 1.5, 400.0, 0.001]),
    weights=np.array([1.0, 0.5, 0.3, 0.2]),
    size_of=np.array([1, 3, 3, 3]),
)
PARAGRAPHS = [
    "of 12 patients 7 took 2.0 mg",
    "7",
    "the zinc",
    "7 7 2 12 2.0 0.25 123456789012345 1.5",
    "mortality fell from 33.3 to 4 in 2000 controls of the 12 patients of the 7 of the 2 mg",
    "of the patients",
    "2",
]
CONTEXT = "the"
FOLLOWERS = [*VOCABULARY.words[2:], "elsewhere", *VOCABULARY.numerals[1:], "31"]
"""Every next token but the end: each known type, an unknown word and an unknown numeral."""


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    folder = tmp_path_factory.mktemp("dataset")
    texts = {
        "train": PARAGRAPHS,
        "dev": [CONTEXT, *(f"{CONTEXT} {follower}" for follower in FOLLOWERS)],
        "test": ["of 3"],
    }
    source = folder / "source"
    source.mkdir()
    for split, lines in texts.items():
        records = [json.dumps({"id": f"{split}{n}", "text": text}) for n, text in enumerate(lines)]
        (source / f"{split}.jsonl").write_text("\n".join(records) + "\n")
    prepare(source, folder / "out", keep="all")
    return Dataset.open(folder / "out")


@pytest.fixture(scope="module")
def corpora(dataset: Dataset) -> dict[str, Corpus]:
    return load_corpora(dataset, VOCABULARY)


@pytest.fixture
def corpus(corpora: dict[str, Corpus]) -> Corpus:
    return corpora["train"]


def make(name: str, *, seed: int = 1, dropout: float = 0.1, truncate: bool = False) -> NumeralLM:
    """A model with random weights throughout: some start at zero, which would hide mistakes."""
    torch.manual_seed(seed)
    config = ModelConfig(name, SIZE, dropout, HeadOptions(truncate=truncate))
    model = from_scratch(config, VOCABULARY, head_of(name, VOCABULARY, truncate=truncate))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0, 0.7)
    return model.eval()


def head_of(name: str, vocabulary: Vocabulary, *, truncate: bool = False) -> NumeralHead:
    """With the components of the test, whatever the data."""
    head = head_class(name).from_config(SIZE, config_of(name, vocabulary, truncate=truncate))
    with torch.no_grad():
        for part in head.modules():
            if isinstance(part, MixtureHead):
                part.means.copy_(torch.from_numpy(COMPONENTS.means))
                part.sds.copy_(torch.from_numpy(COMPONENTS.sds))
    return head


def config_of(name: str, vocabulary: Vocabulary, *, truncate: bool) -> dict[str, Any]:
    numerals = list(vocabulary.numerals[1:])
    parts: dict[str, dict[str, Any]] = {
        "d-rnn": {},
        "mog": {"components": len(COMPONENTS), "truncate": truncate},
    }
    if name in parts:
        return parts[name]
    if name != "combination":
        return {"numerals": numerals}
    memory = {"h-softmax": {"numerals": numerals, "unknown": False}} if numerals else {}
    return {"members": {**memory, **parts}}


@torch.no_grad()
def scores(model: NumeralLM, corpus: Corpus, paragraphs: list[int]) -> tuple[Tensor, Tensor]:
    """log p of the words and of the numerals of a batch: float64."""
    batch = corpus.collate(np.array(paragraphs))
    words, numerals = batch.by_class(model.log_prob(batch))
    assert (len(words), len(numerals)) == (batch.word_count, batch.numeral_count)
    return words.double(), numerals.double()


# The oracle: equations of the paper, one token at a time.


def lstm_step(lstm: nn.LSTM, x: Tensor, hidden: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    gates = lstm.weight_ih_l0.double() @ x + lstm.weight_hh_l0.double() @ hidden
    gates = gates + lstm.bias_ih_l0.double() + lstm.bias_hh_l0.double()
    i, f, g, o = gates.chunk(4)
    cell = torch.sigmoid(f) * cell + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(cell), cell


def zeros() -> Tensor:
    return torch.zeros(SIZE, dtype=torch.float64)


def read_digits(encoder: nn.Module, text: str) -> Tensor:
    hidden, cell = zeros(), zeros()
    for symbol in [*(SYMBOLS.index(character) for character in text), END]:
        hidden, cell = lstm_step(
            encoder.lstm, encoder.symbols.weight[symbol].double(), hidden, cell
        )
    return hidden


def embed(model: NumeralLM, token: str) -> Tensor:
    layer = model.backbone.embedding
    if not is_numeral(token):
        known = [*VOCABULARY.words, "<sos>"]
        return layer.words[known.index(token) if token in known else 0].double()
    own = layer.numerals[VOCABULARY.numeral_ids().get(token, 0)].double()
    digits = read_digits(layer.encoder, token)
    scores = layer.gate.weight.double() @ torch.cat([own, digits]) + layer.gate.bias.double()
    gate = 1 / (1 + torch.exp(-scores))
    return (1 - gate) * own + gate * digits


def states_before(model: NumeralLM, tokens: list[str]) -> list[Tensor]:
    """The hidden state from which each token, and the end, is predicted."""
    states = []
    hidden, cell = zeros(), zeros()
    for token in ["<sos>", *tokens]:
        hidden, cell = lstm_step(model.backbone.lstm, embed(model, token), hidden, cell)
        states.append(hidden)
    return states


def log_softmax_at(scores: Tensor, index: int) -> Tensor:
    return scores[index] - scores.exp().sum().log()


def token_log_prob(model: NumeralLM, state: Tensor, token: str) -> Tensor:
    backbone, head = model.backbone, model.head
    word = VOCABULARY.word_ids().get(token, 0)
    numeral = VOCABULARY.numeral_ids().get(token, 0)
    if head.flat:
        rows = [row.double() for row in backbone.words.weight]
        for text, row in zip(VOCABULARY.numerals, head.embedding.tokens, strict=True):
            row = row.double()
            if model.config.model == "softmax+rnn" and text != UNKNOWN_NUMERAL:
                row = row + read_digits(head.embedding.encoder, text)
            rows.append(row)
        index = len(VOCABULARY.words) + numeral if is_numeral(token) else word
        return log_softmax_at(torch.stack(rows) @ state, index)
    numeral_share = 1 / (1 + torch.exp(-(backbone.words.gate.double() @ state)))
    if not is_numeral(token):
        words = log_softmax_at(backbone.words.weight.double() @ state, word)
        return (1 - numeral_share).log() + words
    # Heads have their own oracles; here, one numeral at a time.
    table = NumeralTable([token], VOCABULARY.numeral_ids())
    return numeral_share.log() + head.log_prob(Context(state.float()[None]), table.all())[0]


def reference(model: NumeralLM, text: str) -> tuple[list[Tensor], list[Tensor]]:
    words, numerals = [], []
    tokens = text.split()
    for state, token in zip(states_before(model, tokens), [*tokens, "<eos>"], strict=True):
        log_prob = token_log_prob(model, state, token)
        (numerals if is_numeral(token) else words).append(log_prob)
    return words, numerals


def ascending(values: Tensor | list[Tensor]) -> Tensor:
    if isinstance(values, list):
        values = torch.stack(values) if values else torch.zeros(0)
    return values.detach().double().sort().values


# Probabilities


@pytest.mark.parametrize("name", MODELS)
def test_log_prob_follows_the_equations_token_by_token(name: str, corpus: Corpus) -> None:
    model = make(name)
    for index, text in enumerate(PARAGRAPHS):
        for actual, expected in zip(
            scores(model, corpus, [index]), reference(model, text), strict=True
        ):
            torch.testing.assert_close(ascending(actual), ascending(expected), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_gradients_are_those_of_the_equations(name: str, corpus: Corpus) -> None:
    model = make(name)
    chosen = [0, 3, 5]
    loss = model(corpus.collate(np.array(chosen)))
    expected = -sum(
        log_prob.double()
        for n in chosen
        for part in reference(model, PARAGRAPHS[n])
        for log_prob in part
    )
    assert isinstance(expected, Tensor)
    names, parameters = zip(*model.named_parameters(), strict=True)
    assert loss.item() == pytest.approx(expected.item(), rel=1e-5)
    mine = torch.autograd.grad(loss, parameters)
    theirs = torch.autograd.grad(expected, parameters)
    for parameter, actual, wanted in zip(names, mine, theirs, strict=True):
        torch.testing.assert_close(
            actual, wanted, rtol=1e-3, atol=1e-4, msg=lambda text, n=parameter: f"{n}: {text}"
        )


@pytest.mark.parametrize("name", MODELS)
def test_all_that_may_follow_sums_to_one(name: str, corpora: dict[str, Corpus]) -> None:
    model, corpus = make(name), corpora["dev"]
    words = [scores(model, corpus, [0])[0][1]]  # the end
    numerals = []
    for index, follower in enumerate(FOLLOWERS, start=1):
        after_words, after_numerals = scores(model, corpus, [index])
        if is_numeral(follower):
            numerals.append(after_numerals[0])
        else:
            words.append(after_words[1])  # the context, this word, the end
    assert len(words) == len(VOCABULARY.words)
    assert len(numerals) == len(VOCABULARY.numerals)
    word_share = torch.stack(words).exp().sum().item()
    known_share = torch.stack(numerals).exp().sum().item()
    if not model.open_vocabulary:
        assert word_share + known_share == pytest.approx(1, rel=1e-5)
    else:
        assert word_share + known_share < 1
    if not model.head.flat:
        state = states_before(model, [CONTEXT])[-1]
        numeral_share = torch.sigmoid(model.backbone.words.gate.double() @ state).item()
        assert word_share + numeral_share == pytest.approx(1, rel=1e-5)
        assert 0.01 < numeral_share < 0.99


@pytest.mark.parametrize("name", MODELS)
def test_gate_and_table_make_up_the_probability_of_a_numeral(
    name: str, corpora: dict[str, Corpus]
) -> None:
    model, corpus = make(name), corpora["dev"]
    reading = model.read(corpus.take(np.arange(1, 1 + len(FOLLOWERS))))
    followers = [follower for follower in FOLLOWERS if is_numeral(follower)]
    table = NumeralTable(followers, VOCABULARY.numeral_ids())
    with torch.no_grad():
        tables = model.head.log_prob_table(reading.context, table).double()
    actual = torch.from_numpy(reading.gates)[:, None] + tables  # the context is the same for all
    expected = [scores(model, corpus, [1 + FOLLOWERS.index(text)])[1][0] for text in followers]
    for row in actual:
        torch.testing.assert_close(row, torch.stack(expected), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_a_paragraph_scores_the_same_in_any_company(name: str, corpus: Corpus) -> None:
    model = make(name)
    everyone = list(range(len(PARAGRAPHS)))
    alone = [scores(model, corpus, [index]) for index in everyone]
    for order in (everyone, everyone[::-1], [3, 0, 6, 1, 5, 2, 4]):
        together = scores(model, corpus, order)
        for part in (0, 1):
            expected = ascending(torch.cat([single[part] for single in alone]))
            torch.testing.assert_close(ascending(together[part]), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_a_paragraph_given_twice_counts_twice(name: str, corpus: Corpus) -> None:
    model = make(name)
    once, twice = scores(model, corpus, [4]), scores(model, corpus, [4, 4])
    for part in (0, 1):
        expected = ascending(once[part].repeat(2))
        torch.testing.assert_close(ascending(twice[part]), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_the_loss_is_the_summed_negative_log_probability(name: str, corpus: Corpus) -> None:
    model = make(name)
    words, numerals = scores(model, corpus, [0, 1, 4])
    with torch.no_grad():
        loss = model(corpus.collate(np.array([0, 1, 4])))
    assert loss.item() == pytest.approx(-(words.sum() + numerals.sum()).item(), rel=1e-6)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(
    ("paragraphs", "steps", "room"),
    [([0, 2, 4, 5], 0, True), ([0, 1, 3], 2, True), ([2, 5], 0, False)],
    ids=["padded", "with a long numeral", "without numerals"],
)
def test_a_padded_batch_has_the_same_loss_and_gradients(
    name: str, paragraphs: list[int], steps: int, room: bool, corpus: Corpus
) -> None:
    model = make(name)
    layout = corpus.layout(np.array(paragraphs))
    assert (layout.steps, layout.room > 0) == (PADDED_STEPS[steps], room)
    names, parameters = zip(*model.named_parameters(), strict=True)
    results = []
    for batch in (
        corpus.collate(np.array(paragraphs)),
        corpus.collate_padded(torch.tensor(paragraphs), layout),
    ):
        loss = model(batch)
        gradients = torch.autograd.grad(loss, parameters, allow_unused=True)
        results.append((loss, gradients))
    (expected, plain), (actual, padded) = results
    assert actual.item() == pytest.approx(expected.item(), rel=1e-6)
    for parameter, wanted, got in zip(names, plain, padded, strict=True):
        assert (wanted is None) == (got is None), parameter
        if wanted is not None:
            torch.testing.assert_close(got, wanted, rtol=1e-4, atol=1e-5)


def test_the_models_differ_from_each_other(corpus: Corpus) -> None:
    sums = [round(scores(make(name), corpus, [0])[1].sum().item(), 3) for name in MODELS]
    assert len(set(sums)) == len(MODELS)


def test_truncation_raises_the_probability_of_numerals(corpus: Corpus) -> None:
    plain, truncated = make("mog"), make("mog", truncate=True)
    (words, numerals), (same_words, higher) = (
        scores(model, corpus, [0]) for model in (plain, truncated)
    )
    assert torch.equal(words, same_words)
    assert (higher > numerals).all()


def test_branches_of_a_hierarchical_model_share_no_parameters(corpus: Corpus) -> None:
    model = make("combination")
    output = nn.ModuleDict({"words": model.backbone.words, "head": model.head})
    batch = corpus.collate(np.array([0]))
    words, numerals = batch.by_class(model.log_prob(batch))
    of_words = torch.autograd.grad(
        words.sum(), list(output.parameters()), retain_graph=True, allow_unused=True
    )
    of_numerals = torch.autograd.grad(numerals.sum(), list(output.parameters()), allow_unused=True)
    shared = [
        name
        for (name, _), first, second in zip(
            output.named_parameters(), of_words, of_numerals, strict=True
        )
        if first is not None and second is not None and first.any() and second.any()
    ]
    assert shared == ["words.gate"]  # which is about the class


@pytest.mark.parametrize("name", MODELS)
def test_a_vocabulary_without_numerals_is_enough(name: str, dataset: Dataset) -> None:
    lacking = Vocabulary(VOCABULARY.words, VOCABULARY.numerals[:1])
    torch.manual_seed(0)
    model = from_scratch(ModelConfig(name, SIZE), lacking, head_of(name, lacking)).eval()
    words, numerals = scores(model, load_corpora(dataset, lacking)["train"], [0])
    assert words.isfinite().all()
    assert numerals.isfinite().all()


# Dropout


@pytest.mark.parametrize("name", MODELS)
def test_dropout_acts_in_training_only(name: str, corpus: Corpus) -> None:
    model, without = make(name, dropout=0.5), make(name, dropout=0.0)
    batch = corpus.collate(np.array([0, 4]))
    with torch.no_grad():
        assert torch.equal(model(batch), without(batch))
        assert torch.equal(model(batch), model(batch))
        model.train()
        torch.manual_seed(1)
        first = model(batch)
        second = model(batch)
        torch.manual_seed(1)
        again = model(batch)
        assert not torch.equal(first, second)
        assert torch.equal(first, again)
        without.train()
        assert torch.equal(without(batch), model.eval()(batch))


# Save and load


@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_is_the_saved_one_bit_for_bit(
    name: str, tmp_path: Path, corpus: Corpus
) -> None:
    model = make(name, truncate=name == "mog")
    model.save(tmp_path)
    loaded = open_stored(tmp_path)
    saved_tensors, loaded_tensors = model.state_dict(), loaded.state_dict()
    assert saved_tensors.keys() == loaded_tensors.keys()
    for key, tensor in saved_tensors.items():
        assert tensor.dtype == loaded_tensors[key].dtype, key
        assert torch.equal(tensor, loaded_tensors[key]), key
    assert loaded.config == model.config
    assert loaded.vocabulary == model.vocabulary
    assert not loaded.training
    everyone = list(range(len(PARAGRAPHS)))
    for mine, theirs in zip(
        scores(model, corpus, everyone), scores(loaded, corpus, everyone), strict=True
    ):
        assert torch.equal(mine, theirs)


def test_components_are_saved_in_full(tmp_path: Path) -> None:
    make("mog").save(tmp_path)
    weights = load_file(tmp_path / "model.safetensors")
    assert weights["head.means"].tolist() == COMPONENTS.means.tolist()
    assert weights["head.sds"].tolist() == COMPONENTS.sds.tolist()


def test_saving_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    model = make("combination")
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        model.save(tmp_path / folder)
    open_stored(tmp_path / "a").save(tmp_path / "b")
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def test_a_model_folder_holds_json_and_safetensors_only(tmp_path: Path) -> None:
    make("combination").save(tmp_path, {"note": "from a test"})
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["config.json", "model.safetensors", "vocabulary.json"]
    assert json.loads((tmp_path / "config.json").read_text())["note"] == "from a test"
    assert json.loads((tmp_path / "vocabulary.json").read_text()) == {
        "words": list(VOCABULARY.words),
        "numerals": list(VOCABULARY.numerals),
    }
    assert load_file(tmp_path / "model.safetensors")


def test_nothing_in_the_package_can_write_or_read_a_pickle() -> None:
    package = Path(numerate.__file__).parent
    for path in package.rglob("*.py"):
        code = path.read_text()
        assert not any(word in code for word in ("import pickle", "torch.save", "torch.load")), path


def overwrite(name: str, content: bytes) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_bytes(content) and None


def cut(name: str, share: float) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(content[: int(len(content) * share)])

    return damage


def edit(name: str, **changes: object) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        record = json.loads((folder / name).read_text()) | changes
        (folder / name).write_text(json.dumps(record))

    return damage


def components(count: int) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        record = json.loads((folder / "config.json").read_text())
        record["head"]["members"]["mog"]["components"] = count
        (folder / "config.json").write_text(json.dumps(record))

    return damage


def drop(name: str, key: str) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        record = json.loads((folder / name).read_text())
        del record[key]
        (folder / name).write_text(json.dumps(record))

    return damage


def weights_of(name: str) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        other = folder / "other"
        other.mkdir()
        make(name).save(other)
        (other / "model.safetensors").replace(folder / "model.safetensors")

    return damage


def not_a_number(folder: Path) -> None:
    """In one weight, saved as training would, with a digest that is right."""
    model = open_stored(folder)
    with torch.no_grad():
        model.backbone.words.weight[-1, 0] = float("nan")
    model.save(folder)


CONFIG, WORDS, WEIGHTS = "config.json", "vocabulary.json", "model.safetensors"
DAMAGES: dict[str, Callable[[Path], None]] = {
    "no configuration": lambda folder: (folder / CONFIG).unlink(),
    "no vocabulary": lambda folder: (folder / WORDS).unlink(),
    "no weights": lambda folder: (folder / WEIGHTS).unlink(),
    "truncated configuration": cut(CONFIG, 0.5),
    "truncated vocabulary": cut(WORDS, 0.5),
    "truncated weights": cut(WEIGHTS, 0.7),
    "weights cut in their header": cut(WEIGHTS, 0.01),
    "empty weights": overwrite(WEIGHTS, b""),
    "foreign weights": overwrite(WEIGHTS, b"PK\x03\x04" + bytes(100)),
    "weights of another model": weights_of("d-rnn"),
    "a weight that is no number": not_a_number,
    "configuration not an object": overwrite(CONFIG, b"[1, 2]"),
    "configuration not text": overwrite(CONFIG, b"\xff\xfe\x00"),
    "configuration of something else": edit(CONFIG, format="numerate dataset"),
    "configuration of another version": edit(CONFIG, version=3),
    "configuration without hidden size": drop(CONFIG, "hidden"),
    "configuration without a head": drop(CONFIG, "head"),
    "a head that is none": edit(CONFIG, head=[1]),
    "a head of other members": edit(CONFIG, head={"members": {"d-rnn": {}}}),
    "members that are none": edit(CONFIG, head={"members": 3}),
    "options that are none": edit(CONFIG, options={"truncate": 3}),
    "another hidden size": edit(CONFIG, hidden=SIZE + 1),
    "hidden size of zero": edit(CONFIG, hidden=0),
    "dropout of one": edit(CONFIG, dropout=1.0),
    "another number of components": components(3),
    "no components": components(0),
    "a negative number of components": components(-1),
    "vocabulary without numerals": drop(WORDS, "numerals"),
    "vocabulary of another size": edit(WORDS, words=["a", "b"]),
    "a numeral that is none": edit(WORDS, numerals=[*VOCABULARY.numerals[:-1], "seven"]),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_broken_model_gives_one_clear_line(
    damage: Callable[[Path], None], tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    make("combination").save(folder)
    open_stored(folder)
    damage(folder)
    with pytest.raises(RunError) as caught:
        open_stored(folder)
    message = str(caught.value)
    assert "\n" not in message
    assert str(folder) in message or "expected" in message


def test_a_folder_that_is_not_there_is_not_a_run(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="not a run"):
        open_stored(tmp_path / "nowhere")


# Configuration


@pytest.mark.parametrize(
    ("name", "meant"),
    [("h-softmx", "h-softmax"), ("drnn", "d-rnn"), ("combinaton", "combination"), ("MOG", "mog")],
)
def test_an_unknown_model_name_gets_a_did_you_mean(name: str, meant: str) -> None:
    with pytest.raises(NumerateError) as caught:
        ModelConfig(name)
    assert f"did you mean {meant}?" in str(caught.value)


def test_a_name_like_no_model_gets_the_list() -> None:
    with pytest.raises(NumerateError, match="expected one of bins, combination, ") as caught:
        ModelConfig("xyzzy")
    assert "did you mean" not in str(caught.value)


def test_the_names_are_those_of_the_paper() -> None:
    assert MODELS == (
        "softmax",
        "softmax+rnn",
        "h-softmax",
        "h-softmax+rnn",
        "d-rnn",
        "mog",
        "combination",
    )


def test_sizes_default_to_the_papers() -> None:
    config = ModelConfig("mog")
    assert (config.hidden, config.dropout, config.options.truncate) == (50, 0.1, False)


@pytest.mark.parametrize("change", [{"hidden": 0}, {"dropout": 1.0}, {"dropout": -0.1}])
def test_impossible_sizes_are_refused(change: dict[str, float]) -> None:
    with pytest.raises(RunError, match="expected"):
        ModelConfig("mog", **change)


def test_pretrained_vectors_start_words_of_input_and_output() -> None:
    model = make("combination")
    backbone = model.backbone
    start = backbone.embedding.words[-1].clone()
    random = np.random.default_rng(0)
    words = random.normal(size=(len(VOCABULARY.words), SIZE)).astype(np.float32)
    numerals = random.normal(size=(len(VOCABULARY.numerals), SIZE)).astype(np.float32)
    backbone.start_from_vectors(words, numerals, model.head)
    assert np.array_equal(backbone.embedding.words[:-1].detach().numpy(), words)
    assert np.array_equal(backbone.words.weight.detach().numpy(), words)
    assert np.array_equal(backbone.embedding.numerals.detach().numpy(), numerals)
    assert torch.equal(backbone.embedding.words[-1], start)
