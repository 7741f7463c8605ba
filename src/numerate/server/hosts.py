"""Which addresses and names are this machine's own."""

import ipaddress
import re

_HOST = re.compile(r"(?:\[(?P<v6>[0-9a-f:.]+)\]|(?P<name>[^\[\]:]+))(?::[0-9]{1,5})?")
"""A `Host` header: a name or an address, and a port, which may differ where it is forwarded."""


def is_loopback(host: str) -> bool:
    """Whether an address can be reached from this machine only; of names, only `localhost`."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def is_own_host(header: bytes) -> bool:
    """Whether a request was meant for this machine.

    Every loopback address will do: only a name can be made to point here (DNS rebinding).
    """
    found = _HOST.fullmatch(header.decode("latin-1").lower())
    return found is not None and is_loopback(found["v6"] or found["name"])
