"""Models to share: folders that need neither the dataset nor the run, and a card that says what
they are. All that the card says is read from the files of the run.
"""

import re
import shutil
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from numerate.errors import NumerateError, RunError, printable
from numerate.lm.model.run_contents import TrainedConfig
from numerate.lm.model.run_folder import (
    CONFIG,
    DOCUMENTS,
    ENVIRONMENT,
    LOG,
    METRICS,
    NAMES,
    REFERENCE,
    RUN,
    VOCABULARY,
    WEIGHTS,
    RunFolder,
    read_json,
)
from numerate.lm.model.stored import StoredModel
from numerate.reports.tables import ResultTable, as_markdown, format_figure
from numerate.storage import published
from numerate.storage.atomic import write_file
from numerate.storage.records import read_record, write_record
from numerate.storage.regular_files import file_digest

if TYPE_CHECKING:
    from numerate.lm.model.numeral_lm import NumeralLM

CARD = "README.md"
_SHARED = replace(RUN, title="a shared model", names=rf"{NAMES}|{re.escape(CARD)}")
_OF_A_RUN = ("training", "backbone", "mixture_weights", "state", "best_epoch")
_FIGURES = {"pp": "perplexity", "app": "adjusted perplexity"}
_ERRORS = {"rmse": "RMSE", "mae": "MAE", "mdae": "MdAE", "mape": "MAPE, %", "mdape": "MdAPE, %"}


def share(model: "NumeralLM", folder: str | Path, licence: str | None) -> None:
    """Write a new folder that `numerate.load` opens; paths of this machine stay here, but for
    that of a pretrained model that it stands on."""
    run = model.run
    if run is None:
        raise NumerateError(
            f"{model.name}: a pretrained model as it comes: nothing of ours to save"
        )
    if model.member is not None:
        raise NumerateError(f"{model.name}: a member is saved with its combination, not alone")
    record = run.trained()
    stored = read_json(run.path / CONFIG)
    about = {name: stored[name] for name in _OF_A_RUN if name in stored}
    dataset = {**stored["dataset"], "path": Path(record.dataset.path).name, "relative": None}
    as_trained = _is_as_trained(model, run)
    if as_trained:
        with suppress(NumerateError):  # without its dataset, it has been calibrated or never is
            _ = model.checker.calibration
    with published(folder, _SHARED) as place:
        model.save(place, {**about, "dataset": dataset})
        for name in (DOCUMENTS, ENVIRONMENT, LOG, *([METRICS] if as_trained else [])):
            if (run.path / name).is_file():
                shutil.copyfile(run.path / name, place / name)
        for path in run.found_out():
            if as_trained or path.name == REFERENCE:
                _take(path, place)
        write_file(place / CARD, card(model, RunFolder(place), record, licence).encode())


def _is_as_trained(model: "NumeralLM", run: RunFolder) -> bool:
    """Whether what is known of the run is true of the model, which may have learnt since."""
    stored, own = StoredModel.read(run.path).weights(), model.weights()
    return stored.keys() == own.keys() and all(
        torch.equal(tensor, own[name].cpu()) for name, tensor in stored.items()
    )


def _take(path: Path, place: Path) -> None:
    """Write what was found out of a run under the digests of the shared files, which were written
    anew. Leave out what is spoilt or of other files."""
    try:
        cached = read_record(path, {"identity": dict, "record": dict}, RunError)
    except RunError:
        return
    for name, file in (("weights", WEIGHTS), ("vocabulary", VOCABULARY)):
        if name in cached["identity"]:
            if cached["identity"][name] != file_digest(path.parent / file):
                return
            cached["identity"][name] = file_digest(place / file)
    write_record(place / path.name, cached, indent=None)


def card(model: "NumeralLM", run: RunFolder, record: TrainedConfig, licence: str | None) -> str:
    """In Markdown, with the header that model hubs read."""
    title = printable(model.name)
    header = ["library_name: numerate", "tags: [numeracy, numerals]"]
    if licence is not None:
        header.append(f"license: {printable(licence).lower()}")
    return (
        "\n\n".join(
            [
                "---\n" + "\n".join(header) + "\n---",
                f"# {title}",
                _strategy(model),
                '```python\nimport numerate\n\nlm = numerate.load("PATH OF THIS FOLDER")\n'
                'lm.predict("The number of patients was").interval(0.9)\n```',
                "## Data\n\n" + _data(run, record),
                *(
                    []
                    if record.backbone is None
                    else ["## Pretrained model\n\n" + _backbone(record)]
                ),
                "## Options\n\n" + _options(model, record, run.environment()),
                "## Figures\n\n" + _figures(run.metrics()),
                "## Licence\n\n" + _licence(licence),
            ]
        )
        + "\n"
    )


def _strategy(model: "NumeralLM") -> str:
    members = [f"- {name}: {head.summary}" for name, head in model.head.members_by_name().items()]
    parts = ["A language model that understands numbers.", "\n".join(members), model.head.summary]
    return "\n\n".join(filter(None, parts))


def _data(run: RunFolder, record: TrainedConfig) -> str:
    name = printable(Path(record.dataset.path).name)
    return (
        f"Trained on {len(run.trained_documents()):,} documents of `{name}` (content hash "
        f"`{record.dataset.content_hash}`), which `documents.json` names; the model is never "
        "evaluated on them."
    )


def _backbone(record: TrainedConfig) -> str:
    assert record.backbone is not None
    tuned = {"none": "It stays as it is"}.get(
        record.backbone.finetune, f"It was trained too ({record.backbone.finetune})"
    )
    return (
        f"The head stands on `{printable(Path(record.backbone.path).name)}`, which is not in this "
        "folder: say where it is by `--backbone hf:PATH` (`backbone=` in Python). Its digest must "
        f"be `{record.backbone.digest}`. {tuned}."
    )


def _options(model: "NumeralLM", record: TrainedConfig, environment: dict[str, Any]) -> str:
    shown = {
        "model": record.model,
        "members": ", ".join(model.members) or None,
        "sight": model.config.sight,
        **record.network_options,
        "hidden": record.hidden,
        "dropout": record.dropout,
        **record.training,
        "best epoch": record.best_epoch,
        **environment,
    }
    chosen = {name: str(value) for name, value in shown.items() if value is not None}
    rows = [[name.replace("_", " "), value] for name, value in chosen.items()]
    return as_markdown([ResultTable("How it was trained", ["option", "value"], rows)])


def _figures(metrics: dict[str, Any] | None) -> str:
    if metrics is None:
        return "Not evaluated yet: `numerate evaluate`."
    classes = metrics["perplexity"]
    rows = [
        [label, *(_figure(classes[kind][figure]) for kind in classes)]
        for figure, label in _FIGURES.items()
    ]
    tables = [ResultTable("Perplexity", ["", *classes], rows)]
    if errors := metrics.get("number_line"):
        shown = [_figure(errors[name]) for name in _ERRORS]
        tables.append(
            ResultTable("Errors of the likeliest number", list(_ERRORS.values()), [shown])
        )
    part = "" if metrics["limit"] is None else f", {metrics['limit']:,} paragraphs of it"
    oov = metrics["oov_set"]
    part += "" if oov == "all" else f", unknown being types of the {oov} split (`--oov-set {oov}`)"
    where = f"On the {metrics['split']} split of the dataset `{metrics['dataset'][:16]}…`{part}."
    return f"{where}\n\n{as_markdown(tables)}"


def _figure(value: float | None) -> str:
    return "–" if value is None else format_figure(value)


def _licence(licence: str | None) -> str:
    of = "not stated: whoever shares it says so" if licence is None else printable(licence)
    return f"Of this model: {of}. Of the software, numerate: Apache-2.0."
