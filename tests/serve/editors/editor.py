"""An editor as small as can be: it speaks JSON-RPC with a real `numerate lsp`."""

import json
import subprocess
import sys
from collections import deque
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any

PATIENCE = 120  # seconds: a busy machine is not an error


class Editor:
    def __init__(self, folder: Path, encodings: tuple[str, ...] = ()) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "numerate", "lsp"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
        )
        self.folder = folder
        self._messages: Queue[dict[str, Any] | None] = Queue()
        self.heard: deque[dict[str, Any]] = deque()  # that nobody has asked for yet
        Thread(target=self._listen, daemon=True).start()
        self._number = 0
        general = {"positionEncodings": list(encodings)} if encodings else {}
        self.capabilities = self.ask(
            "initialize",
            {"processId": None, "rootUri": None, "capabilities": {"general": general}},
        )["result"]["capabilities"]
        self.tell("initialized", {})

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def open(self, name: str, text: str, language: str = "markdown", version: int = 1) -> None:
        item = {
            "uri": self.uri(name),
            "languageId": language,
            "version": version,
            "text": text,
        }
        self.tell("textDocument/didOpen", {"textDocument": item})

    def change(self, name: str, text: str, version: int) -> None:
        self.tell(
            "textDocument/didChange",
            {
                "textDocument": {"uri": self.uri(name), "version": version},
                "contentChanges": [{"text": text}],
            },
        )

    def close(self, name: str) -> None:
        self.tell("textDocument/didClose", {"textDocument": {"uri": self.uri(name)}})

    def marks(self, name: str, version: int | None) -> list[dict[str, Any]]:
        """The next that are shown for this version of a text."""
        params = self.wait_for(
            "textDocument/publishDiagnostics",
            lambda params: params["uri"] == self.uri(name) and params.get("version") == version,
        )
        found: list[dict[str, Any]] = params["diagnostics"]
        return found

    def said(self, part: str) -> str:
        """The next line of the log that has some words."""
        params = self.wait_for("window/logMessage", lambda params: part in params["message"])
        line: str = params["message"]
        return line

    def at(self, method: str, name: str, line: int, character: int, **more: Any) -> Any:
        place = {"line": line, "character": character}
        document = {"uri": self.uri(name)}
        params = {"textDocument": document, "position": place, **more}
        return self.ask(f"textDocument/{method}", params)["result"]

    def actions(self, name: str, marks: list[dict[str, Any]]) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.ask(
            "textDocument/codeAction",
            {
                "textDocument": {"uri": self.uri(name)},
                "range": marks[0]["range"],
                "context": {"diagnostics": marks},
            },
        )["result"]
        return found

    def ask(self, method: str, params: Any) -> dict[str, Any]:
        self._number += 1
        self.send({"id": self._number, "method": method, "params": params})
        while True:
            message = self._next()
            if message.get("id") == self._number and "method" not in message:
                return message
            self.heard.append(message)

    def tell(self, method: str, params: Any) -> None:
        self.send({"method": method, "params": params})

    def wait_for(self, method: str, wanted: Any) -> dict[str, Any]:
        def is_it(message: dict[str, Any]) -> bool:
            return message.get("method") == method and wanted(message["params"])

        found = next(filter(is_it, self.heard), None)
        if found is not None:
            self.heard.remove(found)
        while found is None:
            message = self._next()
            if is_it(message):
                found = message
            else:
                self.heard.append(message)
        params: dict[str, Any] = found["params"]
        return params

    def send(self, message: dict[str, Any]) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def write(self, body: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def leave(self) -> int:
        """As editors do that are well-bred; the exit status."""
        self.ask("shutdown", None)
        self.tell("exit", None)
        return self.ended()

    def ended(self) -> int:
        status = self.process.wait(PATIENCE)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()
        return status

    def _next(self) -> dict[str, Any]:
        message = self._messages.get(timeout=PATIENCE)
        assert message is not None, "the server has ended"
        return message

    def _listen(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        try:
            while header := stream.readline():
                size = 0
                while header.strip():
                    if header.lower().startswith(b"content-length:"):
                        size = int(header.split(b":")[1])
                    header = stream.readline()
                self._messages.put(json.loads(stream.read(size)))
        except ValueError:
            pass  # closed meanwhile
        self._messages.put(None)
