"""Which device to compute on."""

import torch

from numerate.errors import NumerateError

KINDS = ("cpu", "cuda", "mps")


def usable_device(name: str | None) -> torch.device:
    """The named device, or the best there is; an unusable one is refused before any work."""
    given = ("cuda" if torch.cuda.is_available() else "cpu") if name is None else name
    try:
        device = torch.device(given)
        if device.type not in KINDS or (device.type == "cpu" and device.index):
            raise RuntimeError("not among cpu, cuda, cuda:1 and mps")
        return torch.zeros(1, device=device).device  # with its number
    except (RuntimeError, AssertionError, ImportError, NotImplementedError) as error:
        reason = str(error).splitlines()[0].partition(". ")[0]
        if "Expected one of" in reason:
            reason = "not among cpu, cuda, cuda:1 and mps"
        raise NumerateError(f"device {name!r} cannot be used: {reason[:200]}") from None
