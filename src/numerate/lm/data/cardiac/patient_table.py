"""The table of a patient's attributes that may come with a report, drawn given the report.

Because the text comes first, the texts are the same with tables and without. The table has

- every attribute that the report measures, as it is written there, tissue mapping apart: that is
  never in a table;
- of the left ventricle's volumes the end-diastolic, and either the end-systolic or the stroke
  volume, by chance; the ejection fraction half of the time: otherwise it follows from the volumes;
- the right ventricle's ejection fraction, where it was measured, with a decimal that the report
  rounds;
- sometimes body size, heart rate or blood pressure of which the report says nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from numerate.documents.document import Table
from numerate.lm.data.cardiac.attributes import MALE, Vector
from numerate.lm.data.cardiac.chart import Chart, Quantity
from numerate.lm.data.cardiac.graph import ALWAYS, NEVER
from numerate.lm.data.cardiac.measurements import SEX, SLOTS, ejection_fraction, rounded
from numerate.lm.data.cardiac.slots import Slot, Uniform, pick

HEADERS: Mapping[str, str] = {
    "age": "Age (years)",
    "sex": "Sex",
    "height": "Height (m)",
    "weight": "Weight (kg)",
    "heart_rate": "Heart rate (bpm)",
    "systolic": "Systolic blood pressure (mmHg)",
    "diastolic": "Diastolic blood pressure (mmHg)",
    "lv_edv": "LV end-diastolic volume (mL)",
    "lv_esv": "LV end-systolic volume (mL)",
    "lv_sv": "LV stroke volume (mL)",
    "lv_ef": "LV ejection fraction (%)",
    "lv_mass": "LV mass (g)",
    "septum": "Septal thickness (mm)",
    "lateral": "Lateral wall thickness (mm)",
    "rv_edv": "RV end-diastolic volume (mL)",
    "rv_esv": "RV end-systolic volume (mL)",
    "rv_ef": "RV ejection fraction (%)",
    "la_area": "Left atrial area (cm2)",
    "ra_area": "Right atrial area (cm2)",
    "root": "Aortic root (mm)",
    "ascending": "Ascending aorta (mm)",
    "descending": "Descending aorta (mm)",
}
"""The rows of a table, in their order, by the name of what they list."""

IN_CENTIMETRES = "Height (cm)"

_DERIVED = (SLOTS["rv_ef"], SLOTS["lv_sv"])
RECORDED = frozenset(
    slot for slot in SLOTS.values() if slot.name in HEADERS and slot not in _DERIVED
)
"""The slots whose tokens a table tells."""

LISTED_UNWRITTEN = 0.6
"""The chance that a table has what the report says nothing of, for each of `UNWRITTEN`."""
UNWRITTEN = (("height", "weight"), ("heart_rate",), ("systolic", "diastolic"))


@dataclass(frozen=True)
class PatientTable:
    """What a table lists, by name."""

    values: Mapping[str, str]

    @cached_property
    def tokens(self) -> Mapping[str, tuple[str, ...]]:
        """What the report may write in recorded slots, by their names: one token, as a rule.

        Where there are several, what follows in the report does not depend on which it is.
        """
        found: dict[str, tuple[str, ...]] = {name: (text,) for name, text in self.values.items()}
        sex = SEX[self.values["sex"]]
        found["sex"] = tuple(word for word, other in SEX.items() if other == sex)
        edv = Quantity.read(self.values["lv_edv"])
        if stroke := self.values.get("lv_sv"):
            esv = Quantity(edv.units - Quantity.read(stroke).units, edv.precision)
            found["lv_esv"] = (esv.text,)
        if "lv_ef" not in found:
            esv = Quantity.read(found["lv_esv"][0])
            found["lv_ef"] = tuple(ejection_fraction(edv, esv, p).text for p in (0, 1))
        if fraction := self.values.get("rv_ef"):
            found["rv_ef"] = (str(rounded(Quantity.read(fraction).units, 10)),)
        return found

    @cached_property
    def measured(self) -> frozenset[str]:
        """What a report that comes with this table must have written, by name."""
        given = {"lv_esv" if name == "lv_sv" else name for name in self.values}
        return frozenset(given.difference(*UNWRITTEN))

    def table(self) -> Table:
        names = [name for name in HEADERS if name in self.values]
        rows = [[self._header(name), self.values[name]] for name in names]
        return Table("T1", "Table 1", "Attributes of the patient", [["Attribute", "Value"]], rows)

    def _header(self, name: str) -> str:
        metres = name != "height" or "." in self.values[name]
        return HEADERS[name] if metres else IN_CENTIMETRES

    @classmethod
    def of(cls, table: Table) -> "PatientTable":
        names = {header: name for name, header in HEADERS.items()} | {IN_CENTIMETRES: "height"}
        return cls({names[header]: value for header, value in table.body})

    def probability(self, written: frozenset[str], chart: Chart) -> Vector:
        """p(this table | a report that has `written` what it tells, diagnosis), up to a factor
        that is the same for all such reports. `chart` has what is written in recorded slots."""
        result = ALWAYS if self.measured <= written else NEVER
        chart = chart.copy()
        for names in UNWRITTEN:
            if names[0] in written:
                continue
            listed = names[0] in self.values
            result = result * (LISTED_UNWRITTEN if listed else 1.0 - LISTED_UNWRITTEN)
            for name in names if listed else ():
                text = self.values[name]
                share, slot = _unwritten_slots(name)["." in text if name == "height" else 0]
                result = result * share * slot.probability(chart, text)
                slot.write(chart, text)
        return result

    @classmethod
    def draw(cls, report: Mapping[Slot, str], belief: Vector, uniform: Uniform) -> "PatientTable":
        """A table for a report that has filled its slots so, and says so much of the diagnosis."""
        recorded = {slot: token for slot, token in report.items() if slot in RECORDED}
        values = {slot.name: token for slot, token in recorded.items()}
        chart = chart_of(recorded)
        values["sex"] = "male" if chart.sex == MALE else "female"
        if uniform() < 0.5:
            edv, esv = (Quantity.read(values[name]) for name in ("lv_edv", "lv_esv"))
            values["lv_sv"] = Quantity(edv.units - esv.units, edv.precision).text
            del values["lv_esv"]
        if uniform() < 0.5:
            del values["lv_ef"]
        if whole := values.get("rv_ef"):
            decimals = range(10 * int(whole) - 4, 10 * int(whole) + 5)
            values["rv_ef"] = Quantity(decimals[int(len(decimals) * uniform())], 1).text
        diagnosis = np.eye(len(belief))[pick(belief.tolist(), uniform)]
        for names in UNWRITTEN:
            if names[0] in values or uniform() >= LISTED_UNWRITTEN:
                continue
            for name in names:
                shares, slots = zip(*_unwritten_slots(name), strict=True)
                slot = slots[pick(shares, uniform)]
                values[name] = slot.draw(chart, diagnosis, uniform)
                slot.write(chart, values[name])
        return cls({name: values[name] for name in HEADERS if name in values})


def chart_of(filled: Mapping[Slot, str]) -> Chart:
    """A chart with these slots filled, in their order."""
    chart = Chart()
    for slot, token in filled.items():
        slot.write(chart, token)
    return chart


def _unwritten_slots(name: str) -> tuple[tuple[float, Slot], ...]:
    """The slots that a number which the report does not write is drawn from, with their shares;
    of a height in centimetres, and in metres."""
    if name == "height":
        return (0.5, SLOTS["height_cm"]), (0.5, SLOTS["height_m"])
    return ((1.0, SLOTS[name]),)
