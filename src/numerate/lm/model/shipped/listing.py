"""`numerate models`: what is installed, and what one of them says of itself."""

import json
from dataclasses import asdict
from typing import Any

from numerate.errors import NumerateError, check_choice
from numerate.lm.model.shipped.card import Figure, ShippedModel
from numerate.lm.model.shipped.installed import installed
from numerate.reports.notices import say
from numerate.reports.tables import ResultTable, as_markdown, format_figure, print_tables


def show_models(name: str | None, format: str) -> None:
    """All of them, or one by name with its figures."""
    check_choice("format", format, ("table", "markdown", "json"))
    models = installed()
    if name is not None:
        if not models:
            raise NumerateError(f"model {name!r}: no model is installed")
        check_choice("model", name, [model.name for model in models])
        models = [model for model in models if model.name == name]
    if format == "json":
        print(json.dumps([_record(model) for model in models], ensure_ascii=False))
        return
    if not models:
        say("no model is installed: check recomputes alone, unless --model names a run")
        return
    tables = [_overview(models)] if name is None else [_card(models[0]), _figures(models[0])]
    if format == "markdown":
        print(as_markdown(tables))
    else:
        print_tables(tables)


def _overview(models: list[ShippedModel]) -> ResultTable:
    rows = [
        [
            model.name,
            model.card.summary,
            _size(model),
            _data(model),
            ", ".join(model.card.languages),
            model.card.licence,
            _state(model),
        ]
        for model in models
    ]
    columns = ["model", "is", "size", "trained on", "languages", "licence", "state"]
    notes = (
        "check asks articles where --model names no other; numerate models NAME has its figures.",
    )
    return ResultTable("Models that are installed", columns, rows, notes)


def _card(model: ShippedModel) -> ResultTable:
    card = model.card
    sources = [f"{one.name}: {one.source}" for one in card.trained_on if one.source]
    shown = {
        "is": card.summary,
        "parts": ", ".join(_parts(model)),
        "size": _size(model),
        "trained on": _data(model),
        "sources": "; ".join(sources),
        "languages": ", ".join(card.languages),
        "licence": card.licence,
        "made by": f"numerate {card.numerate}",
        "state": _state(model),
    }
    return ResultTable(model.name, ["", ""], [[name, said] for name, said in shown.items() if said])


def _figures(model: ShippedModel) -> ResultTable:
    rows = [[one.of, one.on, _figure(one)] for one in model.card.figures]
    return ResultTable("How good it is", ["of", "on", "figure"], rows)


def _figure(figure: Figure) -> str:
    shown = format_figure(figure.value)
    if figure.low is None or figure.high is None:
        return shown
    return f"{shown} [{format_figure(figure.low)}, {format_figure(figure.high)}]"


def _parts(model: ShippedModel) -> list[str]:
    parts = {"language model": model.language_model, "detector": model.detector}
    return [name for name, folder in parts.items() if folder is not None]


def _size(model: ShippedModel) -> str:
    return f"{model.size / 1e6:.1f} MB"


def _data(model: ShippedModel) -> str:
    return ", ".join(
        f"{one.name} ({one.documents:,} documents, {one.licence})" for one in model.card.trained_on
    )


def _state(model: ShippedModel) -> str:
    try:
        model.verify()
    except NumerateError:
        return "broken"
    return "ready"


def _record(model: ShippedModel) -> dict[str, Any]:
    return {"name": model.name, "size": model.size, **asdict(model.card)}
