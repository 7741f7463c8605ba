"""The wording of the reports, by section. `report` is where it starts."""

from collections.abc import Mapping

from numerate.lm.data.cardiac.grammar import Rule
from numerate.lm.data.cardiac.wording import (
    assessment,
    conclusion,
    introduction,
    left_ventricle,
    tissue,
)

RULES: Mapping[str, Rule] = {
    "report": (
        "<opening> [11*<history>|9*] <technique> [6*<body>|14*] [6*<vitals>|14*] "
        "<left_ventricle> <other_findings> <tissue> [7*<elsewhere>|13*] <conclusion>"
    ),
    **introduction.RULES,
    **left_ventricle.RULES,
    **assessment.RULES,
    **tissue.RULES,
    **conclusion.RULES,
}
