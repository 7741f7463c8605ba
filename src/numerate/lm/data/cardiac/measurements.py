"""The slots of the reports: numbers that are measured, labels, copies, or results of arithmetic.

Arithmetic is done on the numbers as written, in whole units, and rounds halves up.
"""

import math
from collections.abc import Callable, Mapping
from functools import cache

from numerate.lm.data.cardiac.attributes import (
    FEMALE,
    FIELD_SHIFT,
    MALE,
    MALE_SHARE,
    Vector,
)
from numerate.lm.data.cardiac.chart import Chart, Quantity
from numerate.lm.data.cardiac.slots import Listed, Measured, Slot

Options = Mapping[str, float | Vector]

SEX = {
    "man": MALE,
    "woman": FEMALE,
    "male": MALE,
    "female": FEMALE,
    "gentleman": MALE,
    "lady": FEMALE,
}
_SEX_OPTIONS: Options = {
    word: share * (MALE_SHARE if sex == MALE else 1.0 - MALE_SHARE)
    for (word, sex), share in zip(SEX.items(), (0.5, 0.5, 0.3, 0.3, 0.2, 0.2), strict=True)
}

SCAN_YEARS = range(2006, 2018)
WALLS = ("anterior", "inferior", "lateral", "inferoseptal", "inferolateral", "anteroseptal")


class Sex(Listed):
    """The word for the patient's sex, from which on the attributes' laws are those of the sex."""

    def write(self, chart: Chart, token: str) -> None:
        super().write(chart, token)
        chart.state_sex(SEX[token])


def rounded(numerator: int, denominator: int) -> int:
    """The quotient of whole numbers to the nearest whole number, halves up."""
    return (2 * numerator + denominator) // (2 * denominator)


def ejection_fraction(edv: Quantity, esv: Quantity, precision: int) -> Quantity:
    """100 · (EDV − ESV) / EDV of volumes written with the same precision."""
    units = rounded(100 * 10**precision * (edv.units - esv.units), edv.units)
    return Quantity(units, precision)


def _fixed(shares: dict[int, float]) -> Callable[[Chart], Mapping[int, float]]:
    return lambda chart: shares


_WHOLE = _fixed({0: 1.0})
_MOSTLY_WHOLE = {0: 0.75, 1: 0.25}


def _alike(
    names: tuple[str, ...], shares: dict[int, float]
) -> Callable[[Chart], Mapping[int, float]]:
    """Quantities of one kind are written like the first of them."""

    def precisions(chart: Chart) -> Mapping[int, float]:
        first = next((name for name in names if name in chart), None)
        return shares if first is None else {chart.quantity(first).precision: 1.0}

    return precisions


_as_first_volume = _alike(("lv_edv",), {0: 0.8, 1: 0.2})


def _remaining_volume(ventricle: str) -> Callable[[Chart], tuple[float, float]]:
    """End-systolic volume as a function of the ejection fraction."""

    def unit(chart: Chart) -> tuple[float, float]:
        edv = chart.quantity(f"{ventricle}_edv").value
        return edv, -edv / 100.0

    return unit


def _stroke_volume(chart: Chart) -> Options:
    edv, esv = chart.quantity("lv_edv"), chart.quantity("lv_esv")
    return {Quantity(edv.units - esv.units, edv.precision).text: 1.0}


def _ejected(ventricle: str) -> Callable[[Chart], Options]:
    """The ejection fraction that follows from the volumes, mostly to the nearest per cent."""

    def options(chart: Chart) -> Options:
        edv, esv = chart.quantity(f"{ventricle}_edv"), chart.quantity(f"{ventricle}_esv")
        return {
            ejection_fraction(edv, esv, 0).text: 0.8,
            ejection_fraction(edv, esv, 1).text: 0.2,
        }

    return options


def _agreeing_volume(ventricle: str) -> Callable[[Chart], Options]:
    """Any end-systolic volume that gives the ejection fraction written, with equal chances."""

    def options(chart: Chart) -> Options:
        edv, fraction = chart.quantity(f"{ventricle}_edv"), chart.quantity(f"{ventricle}_ef")
        likely = rounded(edv.units * (100 - fraction.units), 100)
        margin = edv.units // 200 + 2
        near = (Quantity(likely + step, edv.precision) for step in range(-margin, margin + 1))
        agreeing = [esv.text for esv in near if ejection_fraction(edv, esv, 0) == fraction]
        return dict.fromkeys(agreeing, 1.0 / len(agreeing))

    return options


def _surface_area(chart: Chart) -> Options:
    """Body surface area by the formula of Mosteller: √(height · weight / 3600)."""
    centimetres = chart.quantity("height").units  # 1.75 m and 175 cm are both 175 units
    square = centimetres * chart.quantity("weight").value / 3600.0
    return {Quantity(math.floor(100.0 * math.sqrt(square) + 0.5), 2).text: 1.0}


def _volume_index(chart: Chart) -> Options:
    """End-diastolic volume divided by body surface area."""
    volume, area = chart.quantity("lv_edv"), chart.quantity("surface_area")
    units = rounded(volume.units * 10**area.precision, area.units)
    return {Quantity(units, volume.precision).text: 1.0}


def _cardiac_output(chart: Chart) -> Options:
    """Stroke volume · heart rate, in litres per minute."""
    stroke = chart.quantity("lv_edv").units - chart.quantity("lv_esv").units
    precision = chart.quantity("lv_edv").precision
    per_minute = stroke * chart.quantity("heart_rate").units  # in 10**-precision mL
    return {Quantity(rounded(per_minute, 100 * 10**precision), 1).text: 1.0}


def _copy(name: str) -> Callable[[Chart], Options]:
    return lambda chart: {chart.written[name]: 1.0}


def _copy_fraction(chart: Chart) -> Options:
    """The ejection fraction once more; a decimal is dropped half of the time."""
    fraction = chart.quantity("lv_ef")
    if not fraction.precision:
        return {fraction.text: 1.0}
    return {fraction.text: 0.5, str(rounded(fraction.units, 10)): 0.5}


def _round_fraction(chart: Chart) -> Options:
    fraction = chart.quantity("lv_ef")
    return {str(5 * rounded(fraction.units, 5 * 10**fraction.precision)): 1.0}


def _falling(first: int, last: int, ratio: float) -> dict[str, float]:
    weights = {str(number): ratio ** (number - first) for number in range(first, last + 1)}
    total = math.fsum(weights.values())
    return {text: weight / total for text, weight in weights.items()}


@cache
def _years_before(year: int, most: int, ratio: float) -> Options:
    weights = _falling(1, most, ratio)
    return {str(year - int(back)): weight for back, weight in weights.items()}


def _earlier_year(most: int, ratio: float) -> Callable[[Chart], Options]:
    """A year before the scan; where the scan is not dated, before the last possible one."""

    def options(chart: Chart) -> Options:
        return _years_before(int(chart.written.get("scan_year", SCAN_YEARS[-1])), most, ratio)

    return options


@cache
def _around(centre: int) -> Options:
    weights = {
        str(number): math.exp(-0.5 * ((number - centre) / 6.0) ** 2) for number in range(8, 83)
    }
    total = math.fsum(weights.values())
    return {text: weight / total for text, weight in weights.items()}


def _earlier_fraction(chart: Chart) -> Options:
    fraction = chart.quantity("lv_ef")
    return _around(rounded(fraction.units, 10**fraction.precision))


def _constant(options: Options) -> Callable[[Chart], Options]:
    return lambda chart: options


def _equally(*tokens: object) -> Callable[[Chart], Options]:
    return _constant({str(token): 1.0 / len(tokens) for token in tokens})


def _field_shift(chart: Chart) -> tuple[float, float]:
    return (FIELD_SHIFT if chart.written["field"] == "3" else 0.0), 1.0


_by_name: dict[str, Slot] = {
    "sex": Sex("sex", _constant(_SEX_OPTIONS)),
    "age": Measured("age", "age", _WHOLE),
    "height_cm": Measured("height", "height", _WHOLE),
    "height_m": Measured("height", "height", _fixed({2: 1.0}), unit=lambda chart: (0.0, 0.01)),
    "weight": Measured("weight", "weight", _fixed(_MOSTLY_WHOLE)),
    "surface_area": Listed("surface_area", _surface_area),
    "heart_rate": Measured("heart_rate", "heart_rate", _WHOLE),
    "systolic": Measured("systolic", "systolic", _WHOLE),
    "diastolic": Measured(
        "diastolic",
        "diastolic",
        _WHOLE,
        ceiling=lambda chart: chart.quantity("systolic").value - 20.0,
    ),
    "lv_ef_first": Measured("lv_ef", "lv_ef", _WHOLE),
    "lv_esv_agreeing": Listed("lv_esv", _agreeing_volume("lv")),
    "lv_sv": Listed("lv_sv", _stroke_volume),
    "lv_edv_index": Listed("lv_edv_index", _volume_index),
    "lv_mass": Measured("lv_mass", "lv_mass", _as_first_volume),
    "cardiac_output": Listed("cardiac_output", _cardiac_output),
    "lv_ef_again": Listed("lv_ef_again", _copy_fraction),
    "lv_ef_about": Listed("lv_ef_about", _round_fraction),
    "lv_ef_earlier": Listed("lv_ef_earlier", _earlier_fraction),
    "native_t1": Measured("native_t1", "native_t1", _WHOLE, unit=_field_shift),
    "field": Listed("field", _constant({"1.5": 0.75, "3": 0.25})),
    "adenosine": Listed("adenosine", _constant({"140": 0.8, "170": 0.1, "210": 0.1})),
    "scan_year": Listed("scan_year", _equally(*SCAN_YEARS)),
    "earlier_year": Listed("earlier_year", _earlier_year(22, 0.86)),
    "prior_year": Listed("prior_year", _earlier_year(7, 0.7)),
    "infarct_segments": Listed("infarct_segments", _constant(_falling(1, 9, 0.85))),
    "scar_segments": Listed("scar_segments", _constant(_falling(1, 6, 0.7))),
    "defect_segments": Listed("defect_segments", _constant(_falling(1, 8, 0.8))),
    "wall": Listed("wall", _equally(*WALLS)),
}
for _ventricle in ("lv", "rv"):
    _by_name |= {
        f"{_ventricle}_edv": Measured(f"{_ventricle}_edv", f"{_ventricle}_edv", _as_first_volume),
        f"{_ventricle}_esv": Measured(
            f"{_ventricle}_esv",
            f"{_ventricle}_ef",
            _as_first_volume,
            unit=_remaining_volume(_ventricle),
        ),
        f"{_ventricle}_ef": Listed(f"{_ventricle}_ef", _ejected(_ventricle)),
    }
_by_name["rv_ef_measured"] = Measured("rv_ef", "rv_ef", _WHOLE)
for _names in (
    ("septum", "lateral"),
    ("la_area", "ra_area"),
    ("root", "ascending", "descending"),
    ("ecv",),
):
    for _name in _names:
        _by_name[_name] = Measured(_name, _name, _alike(_names, _MOSTLY_WHOLE))
for _name in ("infarct_segments", "defect_segments", "wall", "ascending", "septum", "prior_year"):
    _by_name[f"{_name}_again"] = Listed(f"{_name}_again", _copy(_name))

SLOTS: Mapping[str, Slot] = _by_name
