"""What models find has codes and pages as what is recomputed has; nothing is recomputed for it."""

import math
from collections.abc import Iterator

from numerate.rules.reading import ReadDocument
from numerate.rules.rule import Outcome, Rule

DETECTED_CODE, UNLIKELY_CODE = "NUM800", "NUM900"


def _nothing(_: ReadDocument) -> Iterator[Outcome]:
    return iter(())


_RULES = (
    Rule(
        code=DETECTED_CODE,
        name="detected",
        statements="numerals",
        summary="A detector of errors takes the number for wrong.",
        reason=(
            "A classifier that has read many texts with errors put into them, with the tables and "
            "the text on both sides of the number in sight, says how probable it is that another "
            "number belongs here. It is only asked with `--model`, and reports what exceeds "
            "its threshold for `--alarms`. It is silent on what it has seen in right texts."
        ),
        wrong=("The ejection fraction was 6.1 %. An ejection fraction of 61 % is normal.",),
        right=("The ejection fraction was 61 %. An ejection fraction of 61 % is normal.",),
        fix=(
            "Compare the number with the places that are named, and with your data. If it is "
            "right, say so with `numerate: ignore[NUM800]`."
        ),
        precision=math.nan,
        recompute=_nothing,
    ),
    Rule(
        code=UNLIKELY_CODE,
        name="unlikely",
        statements="numerals",
        summary="A language model finds the number implausible where it stands.",
        reason=(
            "A model that predicts numbers expected another one, from what stands before it and "
            "what follows, and from the tables in view. It is only asked with `--model`. "
            "`--alarms` is the share of right numbers that are flagged so on text like the "
            "training data: a right number may be flagged because it is rare. On text of "
            "another kind, findings are uncalibrated, which is told."
        ),
        wrong=("He weighs 74 kg at a height of 184 m.",),
        right=("He weighs 74 kg at a height of 1.84 m.",),
        fix=(
            "Look at what would be usual, and at the unit. If the number is right, say so with "
            "`numerate: ignore[NUM900]`, or ask for fewer alarms."
        ),
        precision=math.nan,
        recompute=_nothing,
    ),
)
MODEL_RULES = {rule.code: rule for rule in _RULES}
