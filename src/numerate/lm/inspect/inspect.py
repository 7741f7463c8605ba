"""Everything there is to see of some runs: figures, tables, and one report.

A folder with a report remembers in `report.json` of which runs and contexts it is. Whoever adds
to it, `numerate inspect` or `numerate reproduce`, makes it anew over all of them.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from functools import cache, partial
from operator import call
from pathlib import Path
from typing import Any

from numerate.errors import FailureError, NumerateError, counted, one_line
from numerate.lm.heads.digit_rnn import DigitRNNHead
from numerate.lm.heads.mixture import MixtureHead
from numerate.lm.inspect.components import component_weights, gaussian_components
from numerate.lm.inspect.contexts import Context, picked_contexts, typed_context
from numerate.lm.inspect.digit_embeddings import digit_similarities
from numerate.lm.inspect.errors_by_magnitude import errors_by_magnitude
from numerate.lm.inspect.exhibit import KINDS, Cell, Exhibit, NothingToShowError
from numerate.lm.inspect.inspected_run import Run
from numerate.lm.inspect.learnt_digits import learnt_digits
from numerate.lm.inspect.next_numeral import next_numeral
from numerate.lm.inspect.number_sources import number_sources
from numerate.lm.inspect.numeral_embeddings import numeral_similarities
from numerate.lm.inspect.probability_transform import calibration
from numerate.lm.inspect.runs import open_runs
from numerate.lm.inspect.sections import (
    corpus_section,
    models_section,
    options_section,
    results_section,
    runs_section,
)
from numerate.lm.inspect.strategies import strategy_shares
from numerate.lm.inspect.table_attention import attention_over_table, picked_places
from numerate.lm.inspect.training_curves import training_curves
from numerate.lm.model.opening import Settings
from numerate.places import is_remote, name_of, place_of
from numerate.reports.look import INK
from numerate.reports.page import Figure, Section, figure, page
from numerate.reports.tables import ResultTable
from numerate.storage import here, path_here, recorded
from numerate.storage.atomic import write_file
from numerate.storage.folder_kind import strange
from numerate.storage.records import Shape, read_record, write_record

REPORT, MEMORY, FIGURES = FILES = "report.html", "report.json", "figures"
_FIGURE = (  # what `_exhibits` calls figures; of a run, with the slug of its label
    "numeral-similarities|training-curves|errors-by-magnitude|calibration|significant-digits|"
    r"(?:next-numeral|digit-similarities|strategy-use|gaussian-components|component-weights|"
    r"number-sources|table-attention)-[\w+.-]+"
)
_FORMAT = {"format": "numerate report", "version": 1}
_SHAPE: dict[str, Shape] = {
    "runs": [str],
    "contexts": [str],
    "figures": [str],
    "limit?": (int, None),
    "results?": [
        {"title": str, "columns": [str], "rows": [[str]], "notes": [str], "best": [[int, int]]}
    ],
}

Say = Callable[[str], None]
Make = Callable[[], Exhibit]
Contexts = Callable[[], Sequence[Context]]


def inspect_runs(
    folders: Iterable[str | Path],
    out: str | Path,
    *,
    contexts: Sequence[str] = (),
    dataset: str | Path | None = None,
    device: str | None = None,
    limit: int | None = None,
    settings: Settings | None = None,
    among_others: bool = False,
    results: Sequence[ResultTable] | None = None,
    say: Say = print,
    watch: Say | None = None,
) -> Path:
    """Make every figure and table that applies and the report; returns the path of the latter.

    `out` is a new or empty folder, or one that has a report already; with `among_others`, any
    folder, whose other files stay as they are. `results` stand for those of the runs in `out`; the
    report keeps them until others are given. `limit` and `settings` are those of `open_runs`; a
    limit goes for later calls too. Files of others that have the names of figures
    are refused. A run of the report's that cannot be opened any more is left out, and tried again
    next time. `say` hears, a line each, what was left out and why; `watch` hears what is being
    made. A figure that fails is named in the report, which has all others; its error is raised when
    the report is written.
    """
    out = path_here(out)
    occupied = out.is_dir() and any(out.iterdir()) and not (out / MEMORY).exists()
    if occupied and not among_others:
        raise NumerateError(f"{out}: not empty, and has no report; choose another --out")
    memory = check_folder(out)
    paths = [here(folder) for folder in folders]
    known = {path.resolve() for path in paths}
    left_out: list[str] = []

    def leave_out(reason: str) -> None:
        left_out.append(reason)
        say(f"left out: {reason}")

    remembered = []
    for folder in memory.get("runs", []):
        try:
            place = recorded(folder, out, f"run numerate inspect {folder}")
            remembered.append(here(place) if is_remote(place) else out / place)
        except NumerateError as error:
            leave_out(str(error))
    remembered = [path for path in remembered if path.resolve() not in known]
    limit = memory.get("limit") if limit is None else limit
    texts = list(dict.fromkeys([*memory.get("contexts", []), *contexts]))
    typed = [typed_context(text) for text in texts]
    runs = open_runs(
        paths,
        dataset,
        device,
        limit=limit,
        settings=settings,
        remembered=remembered,
        leave_out=leave_out,
    )
    # As in the paper
    runs.sort(key=lambda run: (run.model.backbone.title or "", run.model.head.paper_row or 100))
    out.mkdir(parents=True, exist_ok=True)
    figures: dict[str, list[Figure]] = {}  # by section
    tables: dict[str, list[ResultTable]] = {}
    made = []
    noted = list(memory.get("figures", []))
    failures: list[Exception] = []

    def save(exhibit: Exhibit) -> str:
        """Save a figure, noted before, so that it is known as the report's even after a kill."""
        if exhibit.name not in noted:
            _refuse_others(out, [exhibit.name])
            noted.append(exhibit.name)
            empty = {**_FORMAT, "runs": [], "contexts": []}
            write_record(out / MEMORY, empty | memory | {"figures": noted})
        return exhibit.save(out / FIGURES)

    def fail(title: str, error: Exception) -> None:
        failures.append(error)
        what = error if isinstance(error, NumerateError) else f"{type(error).__name__}: {error}"
        leave_out(f"{title}: {one_line(what)}")

    for title, exhibits in _exhibits(runs, typed):
        if watch:
            watch(title)
        for exhibit, svg in _drawn(exhibits, save, leave_out, partial(fail, title)):
            made.append(exhibit.name)
            caption = f"{exhibit.caption} Data: {FIGURES}/{exhibit.name}.csv."
            drawn = figure(exhibit.title, exhibit.name, svg, caption, INK)
            figures.setdefault(title, []).append(drawn)
            tables.setdefault(title, []).extend(exhibit.shown)
    told = _remembered_results(memory) if results is None else list(results)
    sections = [Section(title, figures=figures[title], tables=tables[title]) for title in figures]
    write_file(
        out / REPORT, _report(runs, results_section(runs, told, out), sections, left_out).encode()
    )
    inside = [_noted(path, out) for path in [*paths, *remembered]]
    record = {**_FORMAT, "runs": inside, "contexts": texts, "limit": limit, "figures": made}
    record |= {"results": [_results_record(one) for one in told]} if told else {}
    write_record(out / MEMORY, record)
    for name in set(noted).difference(made):  # that failed, or of runs and contexts before
        for kind in KINDS:
            path = out / FIGURES / f"{name}.{kind}"
            if not path.is_symlink():
                path.unlink(missing_ok=True)
    for failure in failures:
        if not isinstance(failure, NumerateError):
            raise failure
    if failures:
        whys = "; ".join(map(str, failures))
        raise FailureError(f"{out / REPORT}: without {counted(len(failures), 'figure')}: {whys}")
    return out / REPORT


def _drawn(
    exhibits: Iterable[Exhibit],
    save: Callable[[Exhibit], str],
    leave_out: Say,
    fail: Callable[[Exception], None],
) -> Iterator[tuple[Exhibit, str]]:
    """Make and save figures one after the other: one that cannot be made costs no other."""
    left = iter(exhibits)
    while True:
        try:
            exhibit = next(left)
            svg = save(exhibit)
        except StopIteration:
            return
        except NothingToShowError as nothing:
            leave_out(str(nothing))
        except Exception as error:  # a mistake of ours, raised when all else is done
            fail(error)
        else:
            yield exhibit, svg


def _noted(run: Path, out: Path) -> str:
    """Return how the report remembers a run: by its address, or as seen from the report."""
    return place_of(run) or os.path.relpath(run.resolve(), out.resolve())


def check_folder(out: Path) -> dict[str, Any]:
    """Refuse a folder with files that figures would overwrite; returns its report's memory."""
    memory = _remembered(out)
    found = {path.stem for path in (out / FIGURES).glob("*")}
    names = sorted(name for name in found if re.fullmatch(_FIGURE, name))
    _refuse_others(out, [name for name in names if name not in memory.get("figures", [])])
    return memory


def _refuse_others(out: Path, names: Iterable[str]) -> None:
    """Refuse files of somebody else that are called like these figures."""
    for name in names:
        for kind in KINDS:
            if os.path.lexists(out / FIGURES / f"{name}.{kind}"):
                raise strange(out, f"{FIGURES}/{name}.{kind}")


def _remembered(out: Path) -> dict[str, Any]:
    """Read of what the folder's report is, if there is one."""
    if out.exists() and not out.is_dir():
        raise NumerateError(f"{out}: is a file, expected a folder for the report")
    if not (out / MEMORY).exists():
        return {}
    about = read_record(out / MEMORY, {}, NumerateError)
    if {name: about.get(name) for name in _FORMAT} != _FORMAT:
        raise NumerateError(f"{out / MEMORY}: not the memory of a report of this version")
    memory = read_record(out / MEMORY, _SHAPE, NumerateError)
    for name in memory["figures"]:
        if not re.fullmatch(_FIGURE, name):
            raise NumerateError(f"{out / MEMORY}: figures: got {name!r:.60}, expected one of ours")
    if (out / FIGURES).is_symlink():
        raise NumerateError(f"{out / FIGURES}: is a link, expected a folder")
    return memory


def _results_record(told: ResultTable) -> dict[str, Any]:
    return {**asdict(told), "best": sorted(told.best)}


def _remembered_results(memory: dict[str, Any]) -> list[ResultTable]:
    def table_of(record: dict[str, Any]) -> ResultTable:
        best = frozenset((row, column) for row, column in record["best"])
        return ResultTable(**{**record, "notes": tuple(record["notes"]), "best": best})

    return [table_of(record) for record in memory.get("results", [])]


def _exhibits(
    runs: Sequence[Run], typed: Sequence[Context]
) -> Iterator[tuple[str, Iterable[Exhibit]]]:
    """Yield what goes under which heading, in the order of the paper; made when it is asked for.

    What is planned is called by `map`: unlike a generator, it goes on after one that fails.
    """

    @cache
    def contexts() -> Sequence[Context]:
        return typed or picked_contexts(runs)

    yield "Embeddings", map(numeral_similarities, [runs])
    yield "Embeddings", _digit_embeddings(runs)
    yield "Next numeral", map(call, _predictions(runs, contexts))
    yield "Strategy use", map(call, _strategies(runs))
    for run in (run for run in runs if run.model.head.uses_sight):
        yield "Where numbers come from", map(number_sources, [run])
        yield "Where numbers come from", map(call, _attention(run))
    yield "Significant digits", map(call, _digits(runs))
    yield "Gaussian components", map(call, _components(runs, contexts))
    yield "Training and errors", map(training_curves, [runs])
    yield "Training and errors", map(errors_by_magnitude, [runs])
    yield "Training and errors", map(calibration, [runs])


def _digit_embeddings(runs: Sequence[Run]) -> Iterator[Exhibit]:
    """Show every run; of those with nothing but the digits of one pretrained model, the first."""
    seen: list[Sequence[Sequence[Cell]]] = []

    def is_new(exhibit: Exhibit) -> bool:
        if exhibit.table.rows in seen:
            return False
        seen.append(exhibit.table.rows)
        return True

    return filter(is_new, map(digit_similarities, runs))


def _predictions(runs: Sequence[Run], contexts: Contexts) -> Iterator[Make]:
    for number, context in enumerate(contexts(), 1):
        yield partial(next_numeral, runs, context, name=f"next-numeral-{number}")


def _strategies(runs: Sequence[Run]) -> Iterator[Make]:
    combinations = [run for run in runs if run.model.head.members_by_name()]
    if not combinations:
        raise NothingToShowError("strategy use: no combination among the runs")
    for run in combinations:
        yield partial(strategy_shares, run)


def _attention(run: Run) -> Iterator[Make]:
    for number, place in enumerate(picked_places(run), 1):
        yield partial(attention_over_table, run, place, name=f"table-attention-{run.slug}-{number}")


def _digits(runs: Sequence[Run]) -> Iterator[Make]:
    yield partial(learnt_digits, runs)
    if not any(run.label in run.heads_of(DigitRNNHead) for run in runs):
        raise NothingToShowError("significant digits under a model: no d-rnn among the runs")


def _components(runs: Sequence[Run], contexts: Contexts) -> Iterator[Make]:
    """Show components of one run, since all fit them to the same numbers; weights of one run from
    scratch and of one over each pretrained model."""
    mixtures = [run for run in runs if run.heads_of(MixtureHead)]
    if not mixtures:
        raise NothingToShowError("Gaussian components: neither mog nor combination among the runs")
    mixtures.sort(key=lambda run: not isinstance(run.model.head, MixtureHead))
    yield partial(gaussian_components, mixtures[0])
    chosen = {run.model.backbone.title: run for run in reversed(mixtures)}
    for run in mixtures:
        if run is chosen[run.model.backbone.title]:
            for number, context in enumerate(contexts(), 1):
                name = f"component-weights-{run.slug}-{number}"
                yield partial(component_weights, run, context, name=name)


def _report(
    runs: Sequence[Run], results: Section | None, sections: list[Section], left_out: list[str]
) -> str:
    dataset = runs[0].shared.dataset
    name = name_of(dataset.folder.resolve())
    everything = [
        models_section(runs),
        *([results] if results else []),
        *sections,
        runs_section(runs),
        options_section(runs),
        corpus_section(dataset, _vocabulary_size(runs[0])),
    ]
    if left_out:
        everything.append(Section("Left out", items=left_out))
    return page(
        f"numerate: {name}",
        everything,
        template="lm/inspect/report.html.jinja",
        models=counted(len(runs), "model"),
        dataset=name,
        extent=runs[0].shared.extent,
    )


def _vocabulary_size(run: Run) -> int:
    stated = run.record.training.get("vocabulary")
    if isinstance(stated, int) and stated > 0:
        return stated
    return run.model.vocabulary.size
