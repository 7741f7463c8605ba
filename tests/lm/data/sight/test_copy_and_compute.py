"""What is in view has all the probability, by enumeration; all ways to ask agree."""

from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal
from itertools import product

import numpy as np
import pytest
import torch
from tests.tiny_sight import ROWS, TEXTS, tiny_sight

from numerate.errors import NumerateError
from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.data.sight.collate import BatchSight, ReadSight, Room, SeenNumbers
from numerate.lm.data.sight.corpus_sight import CorpusSight
from numerate.lm.data.sight.derivations import BACK, groups_of, results_of
from numerate.lm.data.sight.pair_products import AllAtOnce, ranks
from numerate.lm.data.sight.view import COPY
from numerate.lm.heads.base import Context, HeadOptions, NumeralHead, TrainingNumerals
from numerate.lm.heads.compute import ComputeHead
from numerate.lm.heads.copy import CopyHead
from numerate.lm.heads.grounded import GroundedHead
from numerate.lm.heads.testing import check_head
from numerate.lm.inspect.traced import SOURCES, Traced
from numerate.text.operations import OPERATIONS, PRECISIONS

SIZE = 6


@pytest.fixture
def sight() -> CorpusSight:
    return tiny_sight()


def context(sight: CorpusSight, seed: int = 0, places: np.ndarray | None = None) -> Context:
    generator = torch.Generator().manual_seed(seed)
    where = np.arange(len(sight.place_texts)) if places is None else places
    hidden = torch.tanh(torch.randn(len(sight.place_texts), SIZE, generator=generator))
    vectors = torch.tanh(torch.randn(len(sight.rows), SIZE, generator=generator))
    return Context(hidden[torch.from_numpy(where)], ReadSight(sight, vectors, None, where))


def randomised(head: NumeralHead) -> NumeralHead:
    torch.manual_seed(3)
    for weight in head.parameters():
        torch.nn.init.normal_(weight, std=0.7)
    return head.eval()


def rounded(value: Decimal, precision: int) -> str:
    """Independently of ours, half up."""
    return f"{value.quantize(Decimal(1).scaleb(-precision), ROUND_HALF_UP):f}"


def numbers_of(sight: CorpusSight, place: int) -> list[tuple[str, int | None, int | None]]:
    """The numbers that a place sees, with row and column; own ones have neither."""
    text, before = int(sight.place_texts[place]), int(sight.before[place])
    in_table = [(cell, r, c) for r, row in enumerate(ROWS) for c, cell in enumerate(row)]
    own = [token for token in TEXTS[text] if token[0].isdigit()][:before]
    return (in_table if text < 2 else []) + [(token, None, None) for token in own]


def copied(numbers: list[tuple[str, int | None, int | None]]) -> set[str]:
    found = set()
    for text, _, _ in numbers:
        precision = len(text.partition(".")[2])
        found |= {rounded(Decimal(text), precision - k) for k in range(min(precision, 3) + 1)}
    return found


def computed(numbers: list[tuple[str, int | None, int | None]]) -> set[str]:
    exact: list[Decimal] = []
    usable = [number for number in numbers if len(number[0].partition(".")[2]) <= 4]
    for (one, (a, row, column)), (other, (b, r, c)) in product(enumerate(usable), repeat=2):
        x, y = Decimal(a), Decimal(b)
        if one == other:
            exact += [100 - x] if x <= 100 else []
        elif (row is None and r is None) or (row is not None and (row == r or column == c)):
            exact += [abs(x - y), x + y, x * y / 1000, (x * y / 3600).sqrt()]
            exact += [100 * x / y, x / y, 100 * abs(x - y) / y] if y else []
    return {rounded(value, precision) for value in exact for precision in PRECISIONS}


@pytest.mark.parametrize(("kind", "known"), [(CopyHead, copied), (ComputeHead, computed)])
def test_all_probability_is_on_what_is_in_view(kind, known, sight: CorpusSight) -> None:
    head, at = randomised(kind(SIZE)), context(sight)
    for place in range(len(sight.place_texts)):
        expected = known(numbers_of(sight, place))
        here = at[place : place + 1]
        evidence = head.log_evidence(here)
        if not expected:
            assert evidence.item() == -torch.inf
            continue
        assert evidence.isfinite().all()
        table = NumeralTable(sorted(expected))
        probabilities = head.log_prob_table(here, table)[0].exp()
        assert (probabilities > 0).all(), "something is in view that it does not know"
        assert probabilities.sum().item() == pytest.approx(1, rel=1e-5)
        found = head.next_numeral(here)
        assert found.total == pytest.approx(1, rel=1e-5)
        assert {text for text, _ in found.stream()} == expected
        for text, log_prob in found.stream():
            row = torch.tensor([table.texts.index(text)])
            assert log_prob == pytest.approx(np.log(probabilities[row].item()), rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("kind", [CopyHead, ComputeHead])
def test_one_numeral_and_a_table_of_them_have_the_same_probability(kind, sight) -> None:
    head = randomised(kind(SIZE))
    at = context(sight, places=sight.numeral_places)
    numerals = sight.table.batch(sight.own.rows)
    table = head.log_prob_table(at, sight.table)
    expected = table[torch.arange(len(at)), torch.from_numpy(sight.own.rows)].float()
    found = head.log_prob(at, numerals).float()
    assert found.isfinite().any()
    assert not found.isfinite().all()
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", [CopyHead, ComputeHead])
@pytest.mark.parametrize("padded", [False, True])
def test_a_batch_in_training_is_the_same_as_reading(kind, padded, sight: CorpusSight) -> None:
    head = randomised(kind(SIZE))
    read = context(sight, places=sight.numeral_places)
    vectors = read.sight.vectors
    numerals = sight.table.batch(sight.own.rows)
    texts = np.array([2, 0, 1])
    room = Room.of(sight, texts, padded=padded)
    columns_of = {text: column for column, text in enumerate(texts.tolist())}
    place_texts = [columns_of[text] for text in sight.place_texts[sight.numeral_places].tolist()]
    places = torch.from_numpy(sight.numeral_places)
    batch = SeenNumbers.of(sight, torch.from_numpy(texts), room, places, torch.tensor(place_texts))
    laid_out = Context(read.hidden, batch.with_vectors(vectors[batch.found]))
    found, expected = head.log_prob(laid_out, numerals), head.log_prob(read, numerals)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


def test_a_head_computes_with_the_operations_it_has_learnt_of(sight: CorpusSight) -> None:
    """There may be more by the time it is opened."""
    head = randomised(ComputeHead(SIZE, ["sum", "complement"]))
    again = ComputeHead.from_config(SIZE, head.config())
    again.load_state_dict(head.state_dict())
    at = context(sight)[3:4]
    shown = {source.operation for source in again.eval().sources(at)}
    assert shown
    assert all("+" in way or way.startswith("100 − ") for way in shown)
    assert again.next_numeral(at).total == pytest.approx(1, rel=1e-5)
    with pytest.raises(NumerateError, match=r"unknown operation.*'cosine'"):
        ComputeHead(SIZE, ["cosine"])


@pytest.mark.parametrize("kind", [CopyHead, ComputeHead])
def test_a_place_may_be_asked_about_with_different_states(kind, sight: CorpusSight) -> None:
    """On a GPU all products of a text are one: the second question must not answer the first."""
    head = randomised(kind(SIZE))
    places = np.array([4, 4, 2, 4])
    asked = context(sight, places=places)
    hidden = torch.tanh(torch.randn(4, SIZE, generator=torch.Generator().manual_seed(5)))
    asked = Context(hidden, asked.sight)
    numerals = sight.table.batch(np.full(4, sight.own.rows[1]))
    alone = sight.table.batch(sight.own.rows[1:2])
    expected = [head.log_prob(asked[index : index + 1], alone) for index in range(4)]
    view = asked.sight.laid_out()
    _, counts, rank = ranks(view.texts, 1)
    numbers = torch.arange(len(view.keys))[None]  # of the one text
    at_once = AllAtOnce(numbers, rank, int(counts.max()), view.pair_numbers, None)
    found = head.log_prob(
        Context(hidden, BatchSight(replace(view, scorer=at_once, _made={}))), numerals
    )
    torch.testing.assert_close(found, torch.cat(expected), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", [CopyHead, ComputeHead])
def test_before_the_first_numeral_of_a_text_without_tables_nothing_is_known(kind, sight) -> None:
    """What follows in the text could be computed with, were it in view."""
    first = int(sight.place_offsets[2])
    text = int(sight.place_texts[first])
    assert not numbers_of(sight, first)
    assert len(sight.results(text)), "the text has numbers of its own"
    head, at = randomised(kind(SIZE)), context(sight, places=np.array([first]))
    numerals = sight.table.batch(sight.own.rows[-1:])
    assert head.log_prob(at, numerals).item() == -torch.inf
    assert (head.log_prob_table(at, sight.table) == -torch.inf).all()
    assert head.log_evidence(at).item() == -torch.inf
    assert not head.sources(at)


def test_a_long_list_of_numerals_is_computed_with_near_ones() -> None:
    count = 3000
    order, nowhere = np.arange(count), np.zeros(count, dtype=np.int64)
    values = np.arange(1.0, count + 1)
    groups = groups_of(nowhere, nowhere, order, np.ones(count, dtype=np.bool_))
    found = results_of(values, nowhere, groups, order)
    assert len(found) < 6 * 64 * count
    assert (np.abs(found.a - found.b) < BACK).all()


def test_a_combination_leaves_out_who_has_nothing_to_say(sight: CorpusSight) -> None:
    torch.manual_seed(1)
    data = TrainingNumerals.of(sight.table.texts)
    head = randomised(GroundedHead.fit(data, SIZE, HeadOptions()))
    assert list(head.members_by_name()) == ["h-softmax", "d-rnn", "mog", "copy", "compute"]
    at = context(sight)
    weights = head.mixture_weights(at)
    torch.testing.assert_close(weights.sum(1), torch.ones(len(at)))
    nothing = [place for place in range(len(at)) if not numbers_of(sight, place)]
    assert nothing
    assert (weights[nothing][:, 3:] == 0).all()
    assert (weights[0] > 0).all()
    head.train()
    numerals = sight.table.batch(sight.own.rows)
    log_probs = head.log_prob(context(sight, places=sight.numeral_places), numerals)
    assert log_probs.isfinite().all()
    log_probs.sum().backward()
    for name, weight in head.named_parameters():
        assert weight.grad is None or weight.grad.isfinite().all(), name


def test_the_whole_keeps_the_contract_of_heads(sight: CorpusSight) -> None:
    torch.manual_seed(1)
    data = TrainingNumerals.of(sight.table.texts)
    check_head(GroundedHead.fit(data, SIZE, HeadOptions()), SIZE, context=context(sight))


def test_sources_name_the_cell_and_the_sum(sight: CorpusSight) -> None:
    at = context(sight)[3:4]  # before 25: 12 and 48 were written
    found = randomised(CopyHead(SIZE)).sources(at)
    assert sum(source.probability for source in found) == pytest.approx(1, rel=1e-4)
    cell = next(source for source in found if source.numeral == "51.25")
    assert (cell.numbers[0].table, cell.numbers[0].row, cell.numbers[0].column) == (0, 0, 0)
    own = next(s for s in found if s.numeral == "48")
    assert TEXTS[0][own.numbers[0].token] == "48"
    sums = randomised(ComputeHead(SIZE)).sources(at)
    assert all(source.operation for source in sums)
    assert [s.probability for s in sums] == sorted((s.probability for s in sums), reverse=True)


def test_of_its_own_numerals_a_place_sees_those_before_it(sight: CorpusSight) -> None:
    view = context(sight).sight.laid_out()
    own = view.of_pairs(view.order) >= 0
    assert (view.add_up((view.visible & own).long()) == view.before).all()


@pytest.mark.parametrize("kind", [CopyHead, ComputeHead])
def test_ways_lead_to_the_numerals_and_have_all_their_probability(
    kind: type[NumeralHead], sight: CorpusSight
) -> None:
    head = randomised(kind(SIZE))
    places = sight.numeral_places
    at, numerals = context(sight, places=places), sight.table.batch(sight.own.rows)
    ways = head.ways(at, numerals)
    assert ways is not None
    assert len(ways.places) > 3
    total = torch.zeros(len(places), dtype=torch.float64)
    total = total.index_add(0, ways.places, ways.probabilities.detach())
    torch.testing.assert_close(total, head.log_prob(at, numerals).detach().exp().double())
    for place, operation, a, b, dropped in zip(
        *(x.tolist() for x in (ways.places, ways.operations, ways.a, ways.b, ways.dropped)),
        strict=True,
    ):
        seen = numbers_of(sight, places[place])
        one, other = seen[a][0], seen[b][0]
        wanted = numerals.texts[place]
        decimals = len(wanted.partition(".")[2])
        if operation == COPY:
            assert wanted == rounded(Decimal(one), decimals)
            assert dropped == len(one.partition(".")[2]) - decimals
        else:
            compute = OPERATIONS[operation].compute
            assert wanted == rounded(Decimal(str(compute(float(one), float(other)))), decimals)


def test_where_a_numeral_could_be_from_is_a_fact_of_the_data(sight: CorpusSight) -> None:
    nothing = np.zeros((len(sight.own.rows), len(SOURCES)))
    found = Traced(sight, nothing, nothing[:, 0]).standing.tolist()
    expected = []
    for place, row in zip(sight.numeral_places.tolist(), sight.own.rows.tolist(), strict=True):
        text, seen = sight.table.texts[row], numbers_of(sight, place)
        cells = [number for number in seen if number[1] is not None]
        own = [number for number in seen if number[1] is None]
        truths = [
            any(cell == text for cell, _, _ in cells),
            text in copied(cells),
            text in copied(own),
            text in computed(seen),
            True,
        ]
        expected.append(truths.index(True))
    assert found == expected
    assert set(found) >= {0, 1, 3, 4}
