"""Whether one numeral may be another mistyped: one digit or the point, and nothing else."""

from numerate.numeral import normalise


def one_slip(written: str, meant: str) -> bool:
    """A digit replaced, dropped or added, two neighbours swapped, or the point elsewhere."""
    first, second = normalise(written), normalise(meant)
    if first == second:
        return False
    if first.replace(".", "").strip("0") == second.replace(".", "").strip("0"):
        return True  # the point, or zeros: a factor of ten
    if len(first.partition(".")[2]) == len(second.partition(".")[2]):
        first, second = first.replace(".", ""), second.replace(".", "")  # neighbours across it too
    if len(first) > len(second):
        first, second = second, first
    if len(second) - len(first) > 1:
        return False
    same = 0  # signs before they differ
    while same < len(first) and first[same] == second[same]:
        same += 1
    if len(first) < len(second):
        return first[same:] == second[same + 1 :]
    if "." in (first[same], second[same]):
        return False
    if first[same + 1 :] == second[same + 1 :]:
        return True
    return first[same : same + 2] == second[same : same + 2][::-1] and (
        first[same + 2 :] == second[same + 2 :]
    )
