"""Who the patients are: twenty attributes, jointly Gaussian given sex and diagnosis.

The reference means and spreads are rounded from published normal values of adults: ventricular
volumes, ejection fractions and mass from the UK Biobank cohort (Petersen and others, 2017);
atrial areas, wall thickness, aortic diameters, native T1 and extracellular volume from the
reviews of normal values for cardiovascular magnetic resonance (Kawel-Boehm and others, 2015 and
2020). Body size, heart rate and blood pressure are typical of European adults. What a diagnosis
changes follows the size of the effects described in the clinical literature; it is meant to be
plausible, not to be a reference.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


class Law(NamedTuple):
    """A Gaussian and the interval to which written values are restricted."""

    mean: float
    spread: float
    low: float
    high: float


MALE, FEMALE = 0, 1

# (mean, spread) of healthy men and of healthy women
REFERENCE: dict[str, tuple[tuple[float, float], tuple[float, float]]] = {
    "age": ((48, 15), (48, 15)),  # years; one law for both: age is written before sex
    "height": ((176, 7), (163, 6.5)),  # cm
    "weight": ((82, 13), (68, 12)),  # kg
    "heart_rate": ((67, 11), (70, 11)),  # beats per minute
    "systolic": ((130, 15), (125, 16)),  # mmHg
    "diastolic": ((78, 9), (75, 9)),
    "lv_edv": ((166, 32), (126, 21)),  # mL
    "lv_ef": ((59, 5), (61, 5)),  # per cent
    "lv_mass": ((103, 21), (71, 13)),  # g
    "rv_edv": ((182, 36), (132, 24)),
    "rv_ef": ((55, 6), (58, 6)),
    "septum": ((9.0, 1.2), (7.6, 1.1)),  # mm
    "lateral": ((7.4, 1.1), (6.4, 1.0)),
    "la_area": ((21.5, 3.5), (20, 3.3)),  # cm2
    "ra_area": ((22, 3.8), (19.5, 3.3)),
    "root": ((33.5, 3.2), (30, 2.8)),  # mm
    "ascending": ((30.5, 3.8), (28.5, 3.5)),
    "descending": ((24, 2.8), (21.5, 2.4)),
    "native_t1": ((985, 28), (1000, 28)),  # ms at 1.5 T
    "ecv": ((25, 2.5), (27.5, 2.5)),  # per cent
}
ATTRIBUTES = tuple(REFERENCE)
INDEX = {name: index for index, name in enumerate(ATTRIBUTES)}

FIELD_SHIFT = 185.0
"""How much longer native T1 is at 3 T than at 1.5 T, in ms."""

SMALLEST_VOLUME = 100.0
"""No end-diastolic volume below this is written (mL), so that every whole ejection fraction is
that of some whole end-systolic volume: one millilitre is at most one per cent."""


class Diagnosis(NamedTuple):
    prior: float
    male: float  # share of men
    reach: float  # unaffected attributes stay within this many spreads of their mean
    laws: dict[str, Law | tuple[Law, Law]]  # what it changes, for both sexes or for each


DIAGNOSES: dict[str, Diagnosis] = {
    "normal": Diagnosis(
        prior=0.22,
        male=0.5,
        reach=1.9,
        laws={"age": Law(46, 15, 17, 82), "lv_ef": Law(61, 4, 54, 69), "rv_ef": Law(57, 5, 49, 68)},
    ),
    "dilated": Diagnosis(
        prior=0.17,
        male=0.62,
        reach=2.4,
        laws={
            "age": Law(54, 14, 19, 84),
            "heart_rate": Law(76, 13, 48, 115),
            "lv_edv": (Law(278, 45, 238, 450), Law(218, 38, 176, 380)),
            "lv_ef": Law(33, 9, 11, 47),
            "lv_mass": (Law(158, 34, 95, 270), Law(118, 26, 70, 210)),
            "rv_edv": (Law(212, 45, 115, 360), Law(165, 36, 100, 290)),
            "rv_ef": Law(44, 10, 14, 62),
            "la_area": Law(28, 5, 18, 46),
            "native_t1": Law(1030, 33, 940, 1120),
            "ecv": Law(29, 3.5, 21, 40),
        },
    ),
    "hypertrophic": Diagnosis(
        prior=0.13,
        male=0.6,
        reach=2.3,
        laws={
            "age": Law(52, 15, 17, 86),
            "lv_ef": Law(69, 6, 55, 84),
            "lv_mass": (Law(172, 38, 110, 320), Law(128, 30, 80, 250)),
            "septum": Law(18.5, 3.4, 15, 33),
            "lateral": Law(10.5, 2, 6, 17),
            "la_area": Law(27, 4.6, 18, 44),
            "rv_ef": Law(61, 6, 48, 76),
            "native_t1": Law(1030, 33, 940, 1130),
            "ecv": Law(29, 4, 21, 42),
        },
    ),
    "ischaemic": Diagnosis(
        prior=0.24,
        male=0.76,
        reach=2.4,
        laws={
            "age": Law(64, 11, 34, 90),
            "systolic": Law(135, 17, 95, 185),
            "lv_edv": (Law(198, 44, 110, 380), Law(154, 34, 100, 300)),
            "lv_ef": Law(43, 11, 14, 63),
            "lv_mass": (Law(122, 25, 70, 210), Law(90, 19, 52, 160)),
            "rv_ef": Law(53, 7, 28, 68),
            "la_area": Law(25, 4.5, 15, 42),
            "native_t1": Law(1015, 33, 930, 1110),
        },
    ),
    "myocarditis": Diagnosis(
        prior=0.1,
        male=0.7,
        reach=2.2,
        laws={
            "age": Law(35, 13, 16, 74),
            "heart_rate": Law(78, 13, 50, 118),
            "lv_ef": Law(54, 7, 33, 68),
            "rv_ef": Law(54, 6, 38, 68),
            "native_t1": Law(1065, 36, 985, 1180),
            "ecv": Law(31, 4, 23, 44),
        },
    ),
    "aortic": Diagnosis(
        prior=0.08,
        male=0.68,
        reach=2.1,
        laws={
            "age": Law(57, 15, 18, 86),
            "systolic": Law(140, 16, 105, 190),
            "diastolic": Law(82, 10, 52, 112),
            "lv_ef": Law(60, 5, 50, 70),
            "rv_ef": Law(57, 5, 48, 68),
            "root": (Law(40, 5, 31, 58), Law(37, 5, 29, 54)),
            "ascending": (Law(46, 4.5, 41, 66), Law(43, 4.5, 39, 62)),
        },
    ),
    "amyloid": Diagnosis(
        prior=0.06,
        male=0.74,
        reach=2.2,
        laws={
            "age": Law(74, 9, 46, 93),
            "heart_rate": Law(75, 12, 50, 110),
            "systolic": Law(119, 16, 85, 165),
            "diastolic": Law(71, 9, 46, 98),
            "lv_ef": Law(50, 9, 22, 66),
            "lv_mass": (Law(180, 36, 110, 310), Law(136, 28, 85, 240)),
            "septum": Law(16.5, 2.4, 13, 26),
            "lateral": Law(14.5, 2.3, 10, 23),
            "la_area": Law(29, 4.5, 20, 46),
            "ra_area": Law(27, 4.5, 17, 44),
            "rv_ef": Law(47, 9, 22, 64),
            "native_t1": Law(1115, 40, 1030, 1240),
            "ecv": Law(49, 8, 35, 76),
        },
    ),
}
PRIOR: Vector = np.array([diagnosis.prior for diagnosis in DIAGNOSES.values()])
MALE_SHARE: Vector = np.array([diagnosis.male for diagnosis in DIAGNOSES.values()])


def _law(diagnosis: Diagnosis, sex: int, name: str) -> Law:
    changed = diagnosis.laws.get(name)
    if changed is None:
        mean, spread = REFERENCE[name][sex]
        reach = diagnosis.reach * spread
        changed = Law(mean, spread, mean - reach, mean + reach)
    law = changed if isinstance(changed, Law) else changed[sex]
    return law._replace(low=max(law.low, SMALLEST_VOLUME)) if name.endswith("edv") else law


LAWS: Vector = np.array(
    [
        [[_law(diagnosis, sex, name) for name in ATTRIBUTES] for diagnosis in DIAGNOSES.values()]
        for sex in (MALE, FEMALE)
    ]
)  # [sex, diagnosis, attribute, (mean, spread, low, high)]

# How strongly each attribute follows each unseen cause. What the causes leave unexplained is
# independent, so the correlation matrix is positive definite by construction.
LOADINGS: dict[str, dict[str, float]] = {
    "body size": {
        "height": 0.75,
        "weight": 0.6,
        "lv_edv": 0.55,
        "lv_mass": 0.45,
        "rv_edv": 0.6,
        "la_area": 0.3,
        "ra_area": 0.35,
        "root": 0.35,
        "ascending": 0.25,
        "descending": 0.3,
    },
    "ageing": {
        "age": 0.85,
        "height": -0.2,
        "systolic": 0.35,
        "lv_edv": -0.2,
        "rv_edv": -0.25,
        "septum": 0.2,
        "la_area": 0.15,
        "root": 0.3,
        "ascending": 0.4,
        "descending": 0.5,
    },
    "blood pressure": {
        "systolic": 0.7,
        "diastolic": 0.8,
        "lv_mass": 0.25,
        "septum": 0.25,
        "lateral": 0.2,
    },
    "remodelling": {
        "heart_rate": 0.2,
        "lv_edv": 0.6,
        "lv_ef": -0.65,
        "lv_mass": 0.35,
        "rv_edv": 0.4,
        "rv_ef": -0.4,
        "la_area": 0.4,
    },
    "hypertrophy": {"septum": 0.65, "lateral": 0.7, "lv_mass": 0.5},
    "right heart": {"rv_edv": 0.35, "rv_ef": -0.4, "ra_area": 0.5, "la_area": 0.25},
    "aortic wall": {"root": 0.65, "ascending": 0.65, "descending": 0.4},
    "fibrosis": {"native_t1": 0.8, "ecv": 0.75, "lv_ef": -0.15},
    "adiposity": {"weight": 0.55, "heart_rate": 0.15, "systolic": 0.1, "diastolic": 0.15},
}


def _correlation() -> Vector:
    loadings = np.array(
        [[cause.get(name, 0.0) for cause in LOADINGS.values()] for name in ATTRIBUTES]
    )
    shared = loadings @ loadings.T
    unexplained = 1.0 - np.diag(shared)
    assert unexplained.min() > 0.1, "the causes explain too much of an attribute"
    correlation: Vector = shared + np.diag(unexplained)
    return correlation


CORRELATION = _correlation()  # [attribute, attribute], the same for every diagnosis
