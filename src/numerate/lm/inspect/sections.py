"""The parts of a report that say of what it is: results, runs, options, corpus."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from numerate.lm.data.dataset import SPLITS, Dataset
from numerate.lm.data.describe import Description, describe, description_rows
from numerate.lm.evaluate.comparable import comparable_tables
from numerate.lm.evaluate.evaluate import Evaluation
from numerate.lm.evaluate.remembered import read_evaluation
from numerate.lm.evaluate.result_tables import result_tables
from numerate.lm.evaluate.summary import summary
from numerate.lm.inspect.inspected_run import Run
from numerate.lm.model.run_folder import RunFolder
from numerate.reports.page import Section
from numerate.reports.tables import ResultTable


def results_section(
    runs: Sequence[Run], told: Sequence[ResultTable] = (), out: Path | None = None
) -> Section | None:
    """What each run's `metrics.json` says, of runs that were evaluated on this dataset.

    Tables that are `told` stand for those of the runs in `out`. Figures of other documents are of
    another sample, and those of another OOV set are charged otherwise for unknown types: they
    cannot stand beside the rest.
    """
    content = runs[0].shared.dataset.manifest["content_hash"]
    evaluations: list[Evaluation] = []
    elsewhere, partial, otherwise = [], [], []
    for run in runs:
        if told and out is not None and run.folder.resolve().is_relative_to(out.resolve()):
            continue
        found = read_evaluation(run.folder)
        if found is None:
            continue
        if found.dataset != content:
            elsewhere.append(f"{run.label} (another dataset)")
        elif found.split != "test":
            elsewhere.append(f"{run.label} (--split {found.split})")
        elif found.limit is not None:
            partial.append(f"{run.label} (--limit {found.limit})")
        elif found.oov_set != "all":
            otherwise.append(f"{run.label} (--oov-set {found.oov_set})")
        else:
            evaluations.append(replace(found, name=run.label, training=run.record.training))
    reasons = {
        "on other documents": elsewhere,
        "on a part of the split": partial,
        "with another OOV set": otherwise,
    }
    unshown = " ".join(
        f"Not shown, since evaluated {reason}: {', '.join(labels)}."
        for reason, labels in reasons.items()
        if labels
    )
    if not evaluations and not told:
        return Section("Results", paragraphs=[unshown]) if unshown else None
    tested = any("cannot be told from it" in note for one in told for note in one.notes)
    alike = " with all that its note says cannot be told from it," if tested else ""
    text = (
        f"Lower is better for perplexities and errors; the best of each column is in bold,{alike} "
        "save for PP, which does not compare models. Perplexity (PP) takes the class of all "
        "unknown tokens for a hit, which flatters a small vocabulary; adjusted perplexity (APP) "
        "does not, and is the one to compare."
    )
    cells = [cell for one in told for row in one.rows for cell in row]
    if any(cell.endswith("]") for cell in cells):
        several = any(" ±" in cell for cell in cells)  # seeds of some row
        seeds = " and seeds" if several else ""
        text += f" In brackets, {_level(runs)}, which counts documents{seeds}."
        if several:
            text += " All sections below are of the first seed of each row."
    elif any(evaluation.intervals for evaluation in evaluations):
        text += f" In brackets, {_level(runs)} from resampling documents."
    if "oracle" in cells or any(evaluation.oracle for evaluation in evaluations):
        text += (
            " The oracle is the process that wrote the corpus: no model can do better in "
            "expectation."
        )
    if unshown:
        text += f" {unshown}"
    said, tables = [text], list(told)
    if evaluations:
        said.insert(0, summary(evaluations))
        tables += comparable_tables(evaluations, result_tables)
    return Section("Results", paragraphs=said, tables=tables)


def models_section(runs: Sequence[Run]) -> Section:
    """A line on what each model is."""
    said = (
        "A model over a pretrained one reads that one's states instead of the text; the "
        "pretrained model's own digits, lm, may be a member of its combination."
    )
    return Section(
        "Models",
        facts={run.model.config.model: run.model.head.summary for run in runs},
        paragraphs=[said] if any(run.model.backbone.title for run in runs) else [],
    )


def _level(runs: Sequence[Run]) -> str:
    """Of the intervals, where the runs say it."""
    records = [RunFolder(run.folder).metrics() or {} for run in runs]
    levels = {
        record.get("confidence") or (record.get("evaluated") or {}).get("confidence")
        for record in records
    }
    known = [level for level in levels if level is not None]
    return f"the {100 * known[0]:g} % interval" if len(known) == 1 else "the interval"


def runs_section(runs: Sequence[Run]) -> Section:
    return Section("Runs", tables=[_training_table(runs), _environment_table(runs)])


def options_section(runs: Sequence[Run]) -> Section:
    """What all runs have in common once, the rest by run."""
    chosen = {run.label: _options(run) for run in runs}
    first = next(iter(chosen.values()))
    common = {
        name: value
        for name, value in first.items()
        if all(name in other and other[name] == value for other in chosen.values())
    }
    names = list(dict.fromkeys(name for options in chosen.values() for name in options))
    differing = [name for name in names if name not in common]
    tables = []
    if differing:
        rows = [
            [label, *(str(options.get(name, "–")) for name in differing)]
            for label, options in chosen.items()
        ]
        columns = ["run", *(name.replace("_", " ") for name in differing)]
        tables.append(ResultTable("Where the runs differ", columns, rows))
    return Section("Options", facts=common, tables=tables)


def _options(run: Run) -> dict[str, Any]:
    record = run.record
    chosen: dict[str, Any] = {
        "model": record.model,
        **record.network_options,
        "hidden": record.hidden,
        "dropout": record.dropout,
        "truncate": run.model.config.options.truncate,
        "sight": run.model.config.sight,
    }
    if record.backbone is not None:
        about = record.backbone
        chosen |= {"backbone": about.path, "backbone_hash": about.digest[:12]}
        chosen |= {"finetune": about.finetune}
    chosen |= {**record.training, "best_epoch": record.best_epoch}
    return {name: value for name, value in chosen.items() if value is not None}


def corpus_section(dataset: Dataset, vocabulary: int) -> Section:
    manifest = dataset.manifest
    options = {name: option for name, option in manifest["options"].items() if name != "reading"}
    known = {
        **options,
        **dataset.reading.record(),
        **{name: f"{count:,}" for name, count in manifest["counts"].items()},
        **{
            f"{name} split": f"{split['documents']:,} documents, {split['paragraphs']:,} "
            f"paragraphs, {split['tokens']:,} tokens, {split['numerals']:,} numerals"
            for name, split in manifest["splits"].items()
        },
        "content hash": manifest["content_hash"],
        "prepared by": f"numerate {manifest['numerate']}",
    }
    statistics = statistics_table(describe(dataset, vocabulary))
    return Section("Corpus", facts=known, tables=[statistics])


def statistics_table(description: Description) -> ResultTable:
    """The paper's Table 1 for this corpus."""
    title = (
        f"Statistics; a vocabulary of {description.vocabulary_size:,} out of "
        f"{description.types:,} training types"
    )
    rows = [[label, *cells] for label, cells in description_rows(description).items()]
    return ResultTable(title, ["", *SPLITS], rows)


def _training_table(runs: Sequence[Run]) -> ResultTable:
    columns = ["run", "epochs", "best epoch", "adjusted dev loss", "seconds", "tokens/s"]
    rows = []
    total = 0.0
    for run in runs:
        history = run.history
        if not history:
            rows.append([run.label, "0", *["–"] * 4])
            continue
        best = min(history, key=lambda record: record["dev_loss"])
        seconds = sum(record["seconds"] for record in history)
        tokens = sum(record["seconds"] * record["tokens_per_second"] for record in history)
        figures = [
            len(history),
            best["epoch"],
            f"{run.adjusted(best['dev_loss']):.4f}",
            f"{seconds:,.1f}",
        ]
        rows.append([run.label, *map(str, figures), f"{tokens / max(seconds, 1e-9):,.0f}"])
        total += seconds
    title = f"Training, {total:,.0f} seconds in all, without those for the dev split"
    return ResultTable(title, columns, rows)


def _environment_table(runs: Sequence[Run]) -> ResultTable:
    columns = ["started", "finished", "numerate", "torch", "python", "device", "threads"]
    if any(run.model.backbone.title for run in runs):
        columns.insert(columns.index("python"), "transformers")
    rows = []
    for run in runs:
        environment = {"numerate": run.record.numerate, **RunFolder(run.folder).environment()}
        rows.append([run.label, *(str(environment.get(name, "–")) for name in columns)])
    return ResultTable("When, and with what", ["run", *columns], rows)
