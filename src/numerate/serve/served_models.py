"""What is served: from what was said on the command line to models that are open and warm."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from numerate.errors import CalibrationError, NumerateError
from numerate.lm.model.source import ModelSource
from numerate.reports.notices import say
from numerate.serve.guard import Access
from numerate.serve.limits import FOR_LARGE_MODELS, Limits
from numerate.threads import cores

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from numerate.documents.document import Table
    from numerate.lm.model.numeral_lm import NumeralLM
    from numerate.proofread.model_evidence import DetectorLike
    from numerate.serve.metrics import ServerMetrics

EXAMPLE = (
    "In 2016, 412 patients (mean age 63.5 years, 48 % women) were followed for 12 months. "
    "Of the 206 in the treatment group, 31 (15.0 %) had an event, against 52 of 206 (52.2 %)."
)  # with a slip, so that there is something to see


@dataclass(frozen=True, slots=True)
class Plan:
    """What was asked of `numerate serve`, as every worker is told it.

    The models may be one run or hf:PATH, and detectors; without any, numbers are recomputed.
    The `tables` are in view where a request gives none.
    """

    sources: Sequence[ModelSource]
    access: Access
    tables: Sequence[Path] = ()
    workers: int = 1


@dataclass(frozen=True, slots=True)
class ServedModels:
    model: "NumeralLM | None"
    name: str | None
    detectors: "list[DetectorLike]"
    limits: Limits
    examples: list[str]
    tables: "list[Table]"

    def application(self, plan: Plan, metrics: "ServerMetrics") -> "ASGIApp":
        """Return the application that answers with these models."""
        from numerate.serve.api import create_app

        return create_app(
            self.model,
            name=self.name,
            detectors=self.detectors,
            examples=self.examples,
            tables=self.tables,
            limits=self.limits,
            access=plan.access,
            metrics=metrics,
        )


def open_served(plan: Plan) -> ServedModels:
    """Open all that the plan names; compute now what is computed once."""
    from numerate.lm.model.given_tables import read_given

    tables = read_given(plan.tables)
    model, detectors = _open(plan.sources, tables)
    limits, name, examples = Limits(), None, list[str]()
    if model is not None:
        limits, name, examples = _prepared(*model, plan)
    opened = model[0] if model else None
    return ServedModels(opened, name, detectors, limits, examples or [EXAMPLE], tables)


def _open(
    sources: Sequence[ModelSource], tables: "list[Table]"
) -> "tuple[tuple[NumeralLM, ModelSource] | None, list[DetectorLike]]":
    """The language model, with where it is from, and the detectors."""
    from numerate.lm.model.given_tables import check_given
    from numerate.proofread.model_evidence import DetectorLike
    from numerate.proofread.models import open_models

    found: list[tuple[NumeralLM, ModelSource]] = []
    detectors: list[DetectorLike] = []
    for source in sources:
        for opened in open_models(source.run, source, with_tables=bool(tables)):
            if isinstance(opened, DetectorLike):
                detectors.append(opened)
            else:
                found.append((cast("NumeralLM", opened), source))
    if len(found) > 1:
        names = ", ".join(source.run for _, source in found)
        raise NumerateError(f"serve: got {names}, expected one language model; detectors beside it")
    for model, _ in found:
        if model.sees_tables:
            check_given(model, tables)
    return (found[0] if found else None), detectors


def _prepared(
    model: "NumeralLM", source: ModelSource, plan: Plan
) -> "tuple[Limits, str, list[str]]":
    """Limits, a name and examples."""
    import torch

    from numerate.lm.backbones.pretrained.backbone import parse_reference

    limits = FOR_LARGE_MODELS if model.backbone.title else Limits()
    computing = limits.threads * plan.workers
    torch.set_num_threads(max(1, cores() // computing))
    examples = source.example_texts() if plan.access.loopback else []
    try:
        model.checker.glance((examples or [EXAMPLE])[0], model.checker.usual_alarms)
    except CalibrationError as error:
        say(f"{source.run}: predicts, and checks nothing: {error}")
    name = str(model.name) if parse_reference(source.run) else Path(source.run).resolve().name
    return limits, name, examples
