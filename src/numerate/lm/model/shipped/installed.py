"""The models that packages have brought, by name."""

from pathlib import Path

from numerate.errors import NumerateError
from numerate.lm.model.shipped.card import ShippedModel
from numerate.plugins import MODELS, folder_of, names
from numerate.reports.notices import say

RUN = "config.json"  # what a folder has that is a run


def installed() -> list[ShippedModel]:
    """Return all of them, ours first; only their cards are read, and those without one left out."""
    found = []
    for name in names(MODELS):
        try:
            model = ShippedModel(name, folder_of(MODELS, name))
            _ = model.card
            found.append(model)
        except NumerateError as error:
            say(f"{error}; left out")
    return found


def is_shipped(reference: object) -> bool:
    """Whether a model is named that is installed; a run of that name goes before."""
    return str(reference) in names(MODELS) and not (Path(str(reference)) / RUN).is_file()


def shipped(name: object) -> ShippedModel:
    """The one of that name, with all its files as they were shipped."""
    model = ShippedModel(str(name), folder_of(MODELS, str(name)))
    model.verify()
    return model


def language_model_of(name: object) -> str:
    """The folder of its language model."""
    model = shipped(name)
    if model.language_model is None:
        raise NumerateError(f"model {model.name!r}: has no language model, expected one that has")
    return str(model.language_model)
