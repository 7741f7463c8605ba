"""Which addresses and names are this machine's own, and which requests come from elsewhere."""

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


def is_of_another_site(headers: dict[bytes, bytes]) -> bool:
    """Whether a page of another site has made a browser ask, which for a form it does unbidden.

    Extensions, which the user has installed, and what is no browser may ask.
    """
    origin = headers.get(b"origin")
    if origin is None:
        return headers.get(b"sec-fetch-site") in (b"cross-site", b"same-site")
    scheme, _, host = origin.partition(b"://")
    return not scheme.endswith(b"-extension") and host != headers.get(b"host")
