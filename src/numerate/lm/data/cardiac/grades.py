"""Judgements that a report's wording makes about the numbers already written.

Each grade is a function of the chart alone, so that a ventricle that ejects 12 % is never
called normal, and a reader of the text can always tell which wordings are possible.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from numerate.lm.data.cardiac.attributes import MALE
from numerate.lm.data.cardiac.chart import Chart
from numerate.lm.data.cardiac.measurements import ejection_fraction, rounded


class Grade(NamedTuple):
    keys: tuple[str, ...]
    of: Callable[[Chart], str]


def _steps(
    name: str, men: tuple[float, ...], women: tuple[float, ...], keys: tuple[str, ...]
) -> Grade:
    """The first key whose limit the written value does not exceed; the last where none fits."""

    def of(chart: Chart) -> str:
        value = chart.quantity(name).value
        limits = men if chart.sex == MALE else women
        return next(
            (key for limit, key in zip(limits, keys, strict=False) if value <= limit), keys[-1]
        )

    return Grade(keys, of)


def _percent(chart: Chart, ventricle: str) -> int:
    """The ejection fraction to the nearest per cent, written or implied by the volumes."""
    if f"{ventricle}_ef" in chart:
        fraction = chart.quantity(f"{ventricle}_ef")
        return rounded(fraction.units, 10**fraction.precision)
    edv, esv = chart.quantity(f"{ventricle}_edv"), chart.quantity(f"{ventricle}_esv")
    return ejection_fraction(edv, esv, 0).units


def _function(ventricle: str, limits: tuple[int, ...], keys: tuple[str, ...]) -> Grade:
    def of(chart: Chart) -> str:
        percent = _percent(chart, ventricle)
        return next(
            (key for limit, key in zip(limits, keys, strict=False) if percent < limit), keys[-1]
        )

    return Grade(keys, of)


def _known(name: str) -> Grade:
    return Grade(("known", "unknown"), lambda chart: "known" if name in chart else "unknown")


def _change(chart: Chart) -> str:
    difference = _percent(chart, "lv") - int(chart.written["lv_ef_earlier"])
    return "better" if difference > 4 else "worse" if difference < -4 else "same"


def _extent(chart: Chart) -> str:
    count = int(chart.written["infarct_segments"])
    return "small" if count <= 2 else "moderate" if count <= 5 else "large"


GRADES: Mapping[str, Grade] = {
    "sex": Grade(("man", "woman"), lambda chart: "man" if chart.sex == MALE else "woman"),
    "lv_size": _steps(
        "lv_edv", (232, 268, 310), (170, 205, 240), ("normal", "mild", "moderate", "severe")
    ),
    "lv_function": _function(
        "lv",
        (30, 40, 48, 53, 70),
        ("severe", "moderate", "mild", "borderline", "normal", "high"),
    ),
    "lv_mass": _steps("lv_mass", (145, 185), (97, 130), ("normal", "mild", "severe")),
    "rv_size": _steps("rv_edv", (256, 300), (181, 220), ("normal", "mild", "severe")),
    "rv_function": _function("rv", (30, 38, 46), ("severe", "moderate", "mild", "normal")),
    "septum": _steps("septum", (11.9, 14.9), (10.9, 14.9), ("normal", "mild", "severe")),
    "la_size": _steps("la_area", (28.5, 33), (27, 32), ("normal", "mild", "severe")),
    "ra_size": _steps("ra_area", (30, 34), (26.5, 31), ("normal", "mild", "severe")),
    "aorta": _steps(
        "ascending",
        (39.9, 44.9, 49.9),
        (36.9, 41.9, 46.9),
        ("normal", "mild", "moderate", "severe"),
    ),
    "change": Grade(("better", "same", "worse"), _change),
    "extent": Grade(("small", "moderate", "large"), _extent),
    "surface_area": _known("surface_area"),
    "heart_rate": _known("heart_rate"),
    "adenosine": _known("adenosine"),
    "field": _known("field"),
    "septum_known": _known("septum"),
    "defect": _known("defect_segments"),
    "prior_year": _known("prior_year"),
    "wall_known": _known("wall"),
    "infarct_known": _known("infarct_segments"),
}
