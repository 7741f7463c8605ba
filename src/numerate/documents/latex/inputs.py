"""Files that a document of LaTeX takes in: beside it or below, never from elsewhere."""

import re
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from numerate.documents.document import BETWEEN
from numerate.documents.reader import MAX_DOCUMENT, UTF_16, decode_marked, decode_text
from numerate.documents.source_map import Part
from numerate.errors import DocumentError
from numerate.storage.trees import is_hidden

MAX_INPUTS = 1000
_DECLARED = re.compile(
    rb"\\usepackage\s*\[([^\[\]]*)\]\s*\{inputenc\}|\\inputencoding\s*\{([^{}]*)\}"
)
_COMMENT = re.compile(rb"(?<!\\)%[^\n]*")
_CODECS = {
    "latin1": "latin-1", "latin2": "iso8859-2", "latin3": "iso8859-3", "latin4": "iso8859-4",
    "latin5": "iso8859-9", "latin9": "iso8859-15", "latin10": "iso8859-16", "ansinew": "cp1252",
    "cp1250": "cp1250", "cp1251": "cp1251", "cp1252": "cp1252", "cp1257": "cp1257",
    "cp850": "cp850", "cp437": "cp437", "applemac": "mac-roman", "macce": "mac-latin2",
    "koi8-r": "koi8-r",
}  # fmt: skip
_ENDLESS = "takes itself in"
_BODY = re.compile(r"\\begin\s*\{document\}(.*?)(?:\\end\s*\{document\}|\Z)", re.DOTALL)


def tex_source(data: bytes, name: str, codec: str | None = None) -> str:
    """Decode UTF-8, or what it is declared to be in, or else as any text."""
    try:
        return decode_marked(data, name)
    except DocumentError:
        declared = codec or declared_codec(data)
        if declared is None or data.startswith(UTF_16):
            return decode_text(data, name)
        return data.decode(declared, "replace")


def declared_codec(data: bytes) -> str | None:
    """The codec that inputenc is told of, the last of several."""
    for of_package, of_text in _DECLARED.findall(_COMMENT.sub(b"", data)):
        for name in reversed((of_package or of_text).decode("ascii", "replace").split(",")):
            if codec := _CODECS.get(name.strip()):
                return codec
    return None


class Inputs:
    """All texts that were read, one after another, the document's own first."""

    def __init__(
        self,
        text: str,
        name: str,
        folder: Path | None,
        codec: str | None,
        note: Callable[[str], None],
    ) -> None:
        self.parts: list[Part] = []
        self._texts = [text]
        self._length = len(text)
        self._name, self._folder, self._codec = name, folder, codec
        self._own = folder and (folder / Path(name).name).resolve()
        self._note = note
        self._known: dict[Path, tuple[str, int]] = {}  # text, and where it begins
        self._count = self._size = 0

    @property
    def given(self) -> str:
        return BETWEEN.join(self._texts)

    def open(self, written: str, being_read: list[int]) -> tuple[str, int] | None:
        """The text of a file, and where it begins in all; None, and a note, if it is not read."""
        reason = None
        try:
            path = self._path(written.strip().strip('"'))
            if path == self._own:
                raise ValueError(_ENDLESS)
            found = self._known.get(path) or self._read(path, written)
        except OSError as error:
            reason = f"cannot be read: {error.strerror}"
        except (ValueError, DocumentError) as error:
            reason = str(error)
        else:
            self._count += 1
            self._size += len(found[0])
            body = _BODY.search(found[0])
            start, end = body.span(1) if body else (0, len(found[0]))
            if any(found[1] <= base <= found[1] + len(found[0]) for base in being_read):
                reason = _ENDLESS
            elif self._count > MAX_INPUTS or self._size > MAX_DOCUMENT:
                reason = f"too much: expected at most {MAX_INPUTS:,} files"
            else:
                return found[0][start:end], found[1] + start
        self._note(f"\\input{{{written}}} is left out: {reason}")
        return None

    def _path(self, written: str) -> Path:
        if self._folder is None:
            raise ValueError("files beside the document are not known")
        named = PurePosixPath(written)
        if named.is_absolute() or ".." in named.parts or not written or "\\" in written:
            raise ValueError("expected a file in the folder of the document")
        folder = self._folder.resolve()
        for suffix in (".tex", ""):
            path = (folder / (written + suffix)).resolve()
            if not path.is_relative_to(folder):
                raise ValueError("leads out of the folder of the document")
            if any(map(is_hidden, (*named.parts, *path.relative_to(folder).parts))):
                raise ValueError("hidden files are not read")
            if path.is_file():
                return path
        raise ValueError("no such file")

    def _read(self, path: Path, written: str) -> tuple[str, int]:
        if path.stat().st_size > MAX_DOCUMENT:
            raise ValueError(f"too large: expected at most {MAX_DOCUMENT >> 20} MiB")
        text = tex_source(path.read_bytes(), written, self._codec)
        assert self._folder is not None
        inside = path.relative_to(self._folder.resolve())
        start = self._length + len(BETWEEN)
        self.parts.append(Part(start, str(Path(self._name).parent / inside), is_file=True))
        self._texts.append(text)
        self._length = start + len(text)
        self._known[path] = (text, start)
        return text, start
