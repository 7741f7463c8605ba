"""The port: taken at once, so that a wrong one is told at once; opened when there is an answer."""

import os
import socket

from numerate.errors import NumerateError

BACKLOG = 128  # connections that wait until they are accepted


def bind(host: str, port: int) -> socket.socket:
    """A socket that has its address, and does not listen yet."""
    try:
        family, _, _, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        bound = socket.socket(family, socket.SOCK_STREAM)
        try:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            # Connections inherit it: the body of an answer does not wait for its head's receipt.
            bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if family == socket.AF_INET6:
                bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            bound.bind(address)
        except BaseException:
            bound.close()
            raise
        return bound
    except socket.gaierror as error:
        raise _refused(host, port, error.strerror) from None
    except OSError as error:
        raise _refused(host, port, _reason(error)) from None


def listen(bound: socket.socket) -> None:
    """Another may have begun to listen there since it was bound."""
    try:
        bound.listen(BACKLOG)
    except OSError as error:
        host, port = bound.getsockname()[:2]
        raise _refused(host, port, _reason(error)) from None


def address_of(bound: socket.socket) -> str:
    host, port = bound.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def _reason(error: OSError) -> str:
    return os.strerror(error.errno or 0)  # without the address, which is named anyway


def _refused(host: str, port: int, reason: str | None) -> NumerateError:
    return NumerateError(f"--host {host} --port {port}: cannot listen there: {reason}")
