"""The protocol: what editors tell and ask, and who does it."""

import asyncio
import gc
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

import numerate
from numerate.errors import NumerateError, printable
from numerate.serve.editors.actions import actions
from numerate.serve.editors.buffers import Buffer
from numerate.serve.editors.diagnostics import diagnostics
from numerate.serve.editors.latest import IsCurrent, Latest
from numerate.serve.editors.positions import Encoding
from numerate.serve.editors.proof import Proof

if TYPE_CHECKING:  # loading models takes seconds, and an editor wants an answer at once
    from numerate.serve.editors.proofreader import Proofreader

AS_TYPED = 1_000_000  # characters; a larger text is checked when it is opened and saved


class Desk:
    """The texts that are open, and what is known of them; used by the thread of the protocol, but
    for what is done by `Latest`, which comes back to it by `later`."""

    def __init__(self, server: LanguageServer) -> None:
        self._server = server
        self._buffers: dict[str, Buffer] = {}
        self._proofs: dict[str, Proof] = {}
        self._said: set[str] = set()  # lines, each of which is said once
        self._proofreader: Proofreader | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._latest: Latest | None = None
        self._encoding = Encoding.UTF_16

    def begin(self, encoding: Encoding) -> None:
        """Once the loop of the protocol runs."""
        self._encoding = encoding
        if self._latest is None:
            self._loop = asyncio.get_running_loop()
            self._latest = Latest(lambda error: self._later(self._failed, error))

    def end(self) -> None:
        if self._latest is not None:
            self._latest.stop()

    def open(self, document: types.TextDocumentItem) -> None:
        self._buffers[document.uri] = Buffer(
            document.uri, document.version, document.text, document.language_id
        )
        self.check(document.uri)

    def change(self, changed: types.VersionedTextDocumentIdentifier, text: str) -> None:
        """What is older than what is known is dropped, and what was never opened."""
        known = self._buffers.get(changed.uri)
        if known is None or changed.version < known.version:
            return
        self._buffers[changed.uri] = replace(known, version=changed.version, text=text)
        if len(text) <= AS_TYPED:
            self.check(changed.uri)
        else:
            self.say(
                f"{known.name}: more than {AS_TYPED:,} characters: checked when it is opened and "
                "saved"
            )

    def close(self, uri: str) -> None:
        if self._buffers.pop(uri, None) is None:
            return
        self._proofs.pop(uri, None)
        if self._latest is not None:
            self._latest.call_off(uri)
        self._publish(uri, None, [])

    def check(self, uri: str) -> None:
        buffer = self._buffers.get(uri)
        if buffer is None or self._latest is None:
            return
        if buffer.format is None:
            self.say(f"{buffer.name}: {buffer.language or 'its language'} is not checked")
            return

        def task(is_current: IsCurrent) -> None:
            from numerate.serve.editors.proofreader import Proofreader, SupersededError

            is_first = self._proofreader is None
            self._proofreader = self._proofreader or Proofreader()

            def tell(proof: Proof) -> None:
                marks = diagnostics(proof, self._encoding)
                self._later(self._told, proof, marks)

            try:
                self._proofreader.proofread(buffer, is_current, tell)
            except SupersededError:
                pass
            except NumerateError as error:
                self._later(self._told_nothing, buffer, str(error))
            if is_first:
                gc.freeze()  # models stay, so that nobody need look for garbage in them

        self._latest.ask(uri, task)

    def check_all(self) -> None:
        for uri in self._buffers:
            self.check(uri)

    def hover(self, uri: str, place: types.Position) -> types.Hover | None:
        """Of the newest text that has been checked, if that is the one that is shown."""
        from numerate.serve.editors.hover import hover

        proof, buffer = self._proofs.get(uri), self._buffers.get(uri)
        if proof is None or proof.buffer is not buffer:
            return None
        return hover(proof, place, self._encoding)

    def actions(self, uri: str, marks: list[types.Diagnostic]) -> list[types.CodeAction]:
        buffer = self._buffers.get(uri)
        return [] if buffer is None else list(actions(buffer, marks, self._encoding))

    def say(self, line: str, kind: types.MessageType = types.MessageType.Info) -> None:
        if line not in self._said:
            self._said.add(line)
            self._server.window_log_message(types.LogMessageParams(kind, printable(line)))

    def _later(self, call: Callable[..., None], *arguments: Any) -> None:
        """In the thread of the protocol, if it is still there."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(call, *arguments)

    def _told(self, proof: Proof, marks: list[types.Diagnostic]) -> None:
        if self._buffers.get(proof.buffer.uri) is not proof.buffer:
            return  # the text is another by now
        self._proofs[proof.buffer.uri] = proof
        self._publish(proof.buffer.uri, proof.buffer.version, marks)
        for note in proof.notes:
            self.say(note)

    def _told_nothing(self, buffer: Buffer, reason: str) -> None:
        """It cannot be checked: a configuration that is none, a text that cannot be read."""
        if self._buffers.get(buffer.uri) is buffer:
            self._publish(buffer.uri, buffer.version, [])
            self.say(reason, types.MessageType.Warning)

    def _failed(self, error: Exception) -> None:
        reason = f"{type(error).__name__}: {error}"
        self.say(f"a mistake of numerate, please report it: {reason}", types.MessageType.Error)

    def _publish(self, uri: str, version: int | None, marks: list[types.Diagnostic]) -> None:
        self._server.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri, marks, version)
        )


def language_server() -> tuple[LanguageServer, Desk]:
    server = LanguageServer(
        "numerate",
        numerate.__version__,
        # All of the text is read again at any rate, and so nobody can lose count of it.
        text_document_sync_kind=types.TextDocumentSyncKind.Full,
    )
    desk = Desk(server)

    @server.feature(types.INITIALIZE)
    def initialize(_: types.InitializeParams) -> None:
        desk.begin(Encoding(server.workspace.position_encoding or Encoding.UTF_16))

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        desk.open(params.text_document)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        if params.content_changes:
            desk.change(params.text_document, params.content_changes[-1].text)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        desk.check(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        desk.close(params.text_document.uri)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def watched(_: types.DidChangeWatchedFilesParams) -> None:
        desk.check_all()

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hovered(params: types.HoverParams) -> types.Hover | None:
        return await asyncio.to_thread(desk.hover, params.text_document.uri, params.position)

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix]),
    )
    def offered(params: types.CodeActionParams) -> list[types.CodeAction]:
        return desk.actions(params.text_document.uri, list(params.context.diagnostics))

    return server, desk
