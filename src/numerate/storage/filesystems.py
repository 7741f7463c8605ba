"""fsspec's file systems, with every failure told in one line that names the user's place."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from numerate.errors import FailureError, NumerateError, one_line
from numerate.places import LOCAL, is_remote, is_spoilt, local_path, protocol_of

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

_INSTALL = {"s3": "pip install 'numerate[remote]'", "s3a": "pip install 'numerate[remote]'"}


def filesystem(place: str | Path) -> tuple["AbstractFileSystem", str]:
    """The file system of a place, and the path there.

    Credentials and endpoints are those that the file system finds by itself, in environment or
    profiles. Listings are never remembered: others write there, too.
    """
    check_address(place)
    from fsspec.core import url_to_fs
    from fsspec.registry import known_implementations

    protocol = protocol_of(place) or "file"
    with told(place):
        try:
            system, path = url_to_fs(str(place), use_listings_cache=False)
        except ImportError:
            needs = known_implementations.get(protocol, {}).get("err", "its package is missing")
            hint = f": {_INSTALL[protocol]}" if protocol in _INSTALL else ""
            raise NumerateError(f"{place}: {one_line(needs).rstrip('.')}{hint}") from None
        except ValueError as error:
            if "Protocol not known" not in str(error):
                raise NumerateError(f"{place}: {one_line(error)}") from None
            expected = "expected a path, or s3://, gs://, hdfs:// or another that fsspec knows"
            raise NumerateError(f"{place}: unknown protocol {protocol}://: {expected}") from None
    return system, path


def check_address(place: str | Path) -> None:
    """Refuse what is no address, or tells a secret."""
    if is_spoilt(place):
        raise NumerateError(f"{place}: got a Path, which spoils addresses; expected a string")
    if protocol_of(place) is None:
        return
    for link in str(place).split("::"):  # of a chain, each may have one
        try:
            parts = urlsplit(link)
            has_password, host = bool(parts.password), parts.hostname
        except ValueError as error:
            raise NumerateError(
                f"{link.rpartition('@')[2]}: no address: {one_line(error)}"
            ) from None
        if has_password:
            shown = f"{parts.scheme}://{host}{parts.path}"
            instead = f"FSSPEC_{parts.scheme.upper()}_PASSWORD"
            raise NumerateError(
                f"{shown}: got a password in the address, which would end in logs and runs; "
                f"expected it in the environment, as {instead}"
            )
        if parts.scheme in LOCAL and host not in (None, "localhost"):
            raise NumerateError(
                f"{place}: got the machine {host!r}, expected {parts.scheme}:///, with three "
                "slashes, and a path of this one"
            )


def path_here(place: str | Path) -> Path:
    """Return the path of a place on this machine; refuse an address of another file system."""
    check_address(place)
    if is_remote(place):
        raise NumerateError(f"{place}: got an address, expected a path of this machine")
    return local_path(place)


@contextmanager
def told(place: str | Path) -> Iterator[None]:
    """What a file system raises meanwhile becomes one line about the place.

    Their clients have errors of their own, which are no OSErrors; Python's other errors are
    mistakes of ours, and stay as they are.
    """
    try:
        yield
    except NumerateError:
        raise
    except PermissionError as error:
        raise NumerateError(f"{place}: no permission: {_reason(error)}") from None
    except FileNotFoundError as error:
        raise NumerateError(f"{place}: no such bucket, folder or file{_detail(error)}") from None
    except (NotImplementedError, FileExistsError, IsADirectoryError, NotADirectoryError) as error:
        raise NumerateError(f"{place}: {_reason(error)}") from None
    except Exception as error:
        if isinstance(error, OSError) or type(error).__module__ != "builtins":
            raise FailureError(f"{place}: {_reason(error)}") from None
        raise


def _reason(error: Exception) -> str:
    text = error.strerror if isinstance(error, OSError) and error.strerror else error
    return one_line(text) or type(error).__name__


def _detail(error: FileNotFoundError) -> str:
    return f": {one_line(error.strerror)}" if error.strerror and error.errno is None else ""
