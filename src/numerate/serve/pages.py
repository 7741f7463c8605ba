"""The files of the page: read once, served by name, so that no path can lead elsewhere."""

from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

TYPES = {
    "css": "text/css",
    "html": "text/html",
    "js": "text/javascript",
    "svg": "image/svg+xml",
}


def page_routes() -> list[Route]:
    """`/`, and the files that it needs."""
    return [
        _route("/" if name == "index.html" else f"/page/{name}", content, name.rpartition(".")[2])
        for name, content in page_files().items()
    ]


def page_files() -> dict[str, bytes]:
    folder = files(__package__) / "page"
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def _route(path: str, content: bytes, suffix: str) -> Route:
    async def answer(_: Request) -> Response:
        return Response(content, media_type=TYPES[suffix], headers={"cache-control": "no-cache"})

    return Route(path, answer, methods=["GET"])
