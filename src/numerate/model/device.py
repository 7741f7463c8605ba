"""Which device to compute on."""

import torch

from numerate.errors import NumerateError


def usable_device(name: str | None) -> torch.device:
    """The named device, or the best there is; an unusable one is refused before any work."""
    try:
        device = torch.device(name or ("cuda" if torch.cuda.is_available() else "cpu"))
        device = torch.zeros(1, device=device).device  # with its number
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise NumerateError(f"device {name!r} cannot be used: {reason}") from None
    return device
