"""Which strategy writes which numeral? The members' shares under the combination."""

import numpy as np
from matplotlib.figure import Figure

from numerate.lm.backbones.contract import exactly
from numerate.lm.heads.base import NumeralHead
from numerate.lm.inspect.contexts import Context, dev_contexts
from numerate.lm.inspect.exhibit import Cell, Exhibit, NothingToShowError, Table
from numerate.lm.inspect.inspected_run import Run
from numerate.reports.look import colour_of, look, new_figure
from numerate.reports.tables import ResultTable
from numerate.text.seen_numbers import merged

EXAMPLES = 6  # sentences per member
NUMERALS = 20  # numerals per member
LEAST_OCCURRENCES = 5
_SIDE_BY_SIDE = 4  # panels
_AROUND = 70  # characters of a sentence on either side of the numeral


def strategy_shares(run: Run) -> Exhibit:
    """Dev examples and numerals with the highest share of each member of a combination.

    The share is the member weight α of the context, before the numeral is seen: what the paper
    calls the selection probability. Examples are from different documents; of members that make
    numerals of numbers in view, with the likeliest source of the numeral that stands there.
    """
    heads = run.model.head.members_by_name()
    members = list(heads)
    if not members:
        raise NothingToShowError(f"strategy use: {run.label} is no combination")
    shares = run.model.mixture_weights(run.reading.context)  # [N, M]
    texts, counts, means = _by_numeral(run, shares)
    frequent = np.flatnonzero(counts >= LEAST_OCCURRENCES)
    rows: list[tuple[Cell, ...]] = [
        (texts[index], int(counts[index]), *means[index].tolist()) for index in frequent
    ]
    examples = _examples(run, heads, shares)
    columns = ["member", "share", "sentence", *(["source"] if run.model.head.uses_sight else [])]
    average = ", ".join(
        f"{member} {100 * share:.0f} %"
        for member, share in zip(members, shares.mean(0), strict=True)
    )
    top = {
        member: frequent[np.argsort(-means[frequent, index], kind="stable")][:NUMERALS]
        for index, member in enumerate(members)
    }
    named = [[member, ", ".join(texts[index] for index in top[member])] for member in members]
    return Exhibit(
        f"strategy-use-{run.slug}",
        f"Strategy use of {run.label}",
        f"Numerals of {run.shared.extent} with the highest average share of each member, among "
        f"those that occur at least {LEAST_OCCURRENCES} times"
        f"{'' if len(frequent) else ' (none does)'}. The share is the weight that the "
        f"context gives to a member before the numeral is seen; on average {average}.",
        _draw({name: colour_of(head.style) for name, head in heads.items()}, texts, means, top),
        Table(("numeral", "occurrences", *members), rows),
        (
            ResultTable(
                f"Dev examples with the highest share of each member of {run.label}",
                columns,
                examples,
            ),
            ResultTable(
                f"Numerals with the highest average share of each member of {run.label}, highest "
                "first",
                ["member", "numerals"],
                named,
            ),
        ),
    )


def _by_numeral(run: Run, shares: np.ndarray) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Distinct numerals of the dev split, their counts [T], and average shares [T, M]."""
    rows, inverse, counts = np.unique(run.shared.dev.rows, return_inverse=True, return_counts=True)
    sums = np.zeros((len(rows), shares.shape[1]))
    np.add.at(sums, inverse, shares)
    return [run.shared.dev.table.texts[row] for row in rows], counts, sums / counts[:, None]


def _examples(run: Run, heads: dict[str, NumeralHead], shares: np.ndarray) -> list[list[str]]:
    ids = run.shared.dataset.split("dev").read(["document"])["document"].to_pylist()
    dev = run.shared.dev
    paragraphs = np.repeat(dev.sources, dev.lengths)[dev.is_numeral]  # [N]
    found = []
    for index, (member, head) in enumerate(heads.items()):
        places: dict[str, int] = {}  # by document
        for place in np.argsort(-shares[:, index], kind="stable").tolist():
            places.setdefault(ids[paragraphs[place]], place)
            if len(places) == EXAMPLES:
                break
        contexts = dev_contexts(run.shared.dataset, dev, list(places.values()))
        found += [
            [
                member,
                f"{100 * shares[place, index]:.1f} %",
                _marked(context),
                *([_source(run, head, context)] if run.model.head.uses_sight else []),
            ]
            for place, context in zip(places.values(), contexts, strict=True)
        ]
    return found


def _source(run: Run, head: NumeralHead, context: Context) -> str:
    """What a member most likely made the numeral of that stands in a context."""
    with exactly():
        sources = merged(head.sources(context.place(run)))
    return next((found.wording for found in sources if found.numeral == context.truth), "–")


def _marked(context: Context) -> str:
    """The sentence around a numeral, the numeral in bold as Markdown has it."""
    after = " ".join(context.after.split()).replace("**", "*")
    if len(after) > _AROUND:
        after = after[:_AROUND].rpartition(" ")[0] + " …"
    glue = "" if not context.after[:1].isspace() else " "
    before = context.ending(_AROUND).replace("**", "*")
    space = " " if context.before[-1:].isspace() else ""
    return f"{before}{space}**{context.truth}**{glue}{after}"


def _draw(
    colours: dict[str, str], texts: list[str], means: np.ndarray, top: dict[str, np.ndarray]
) -> Figure:
    with look():
        tallest = max(len(chosen) for chosen in top.values())
        lines = -(-len(colours) // _SIDE_BY_SIDE)
        figure = new_figure(0.35 + lines * (0.25 + 0.125 * max(4, tallest)))
        panels = figure.subplots(lines, -(-len(colours) // lines), squeeze=False, sharex=True)
        for axes in panels.flat[len(colours) :]:
            axes.set_visible(False)
        for index, (axes, member) in enumerate(zip(panels.flat, colours, strict=False)):
            chosen = top[member]
            shares = 100 * means[chosen, index]
            axes.barh(range(len(chosen)), shares, 0.7, color=colours[member])
            axes.set_yticks(range(len(chosen)), [texts[i] for i in chosen])
            axes.set_ylim(tallest - 0.4, -0.6)
            axes.tick_params(axis="y", length=0, labelsize=5.5)
            axes.set(title=member, xlim=(0, 100))
            axes.tick_params(axis="x", labelbottom=True)
            axes.grid(axis="y", visible=False)
        figure.supxlabel("average share (%)", fontsize=7)
        figure.supylabel("numeral", fontsize=7)
    return figure
