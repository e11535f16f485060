"""A language server in a process of its own, and a client that is not ours: that of pytest-lsp."""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import types
from pytest_lsp import LanguageClient, client_capabilities
from pytest_lsp.client import make_test_lsp_client

_T = TypeVar("_T")
# A server that ends when something is started or connected to.
SEALED = """
import os, sys
def forbid(event, arguments):
    if event in ("subprocess.Popen", "os.system", "os.posix_spawn", "os.fork", "os.exec", "socket.connect",
                 "socket.getaddrinfo", "socket.sendto", "socket.bind"):
        sys.stderr.write(f"{event} {arguments}")
        os._exit(70)
sys.addaudithook(forbid)
from netdiag.cli.main import run
sys.argv = ["netdiag", "lsp", "--stdio"]
run()
"""


class Session:
    """A client with the server that it has started."""

    def __init__(self, client: LanguageClient, folder: Path, began: float) -> None:
        self.client = client
        self.folder = folder
        self.version = 0
        self.began = began

    @property
    def pid(self) -> int:
        """The server's process."""
        assert self.client._server is not None
        return self.client._server.pid

    def uri(self, name: str = "compose.yml") -> str:
        return (self.folder / name).as_uri()

    async def open(self, text: str, name: str = "compose.yml", language: str = "yaml") -> list[types.Diagnostic]:
        item = types.TextDocumentItem(uri=self.uri(name), language_id=language, version=0, text=text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(text_document=item))
        return await self.published(name)

    async def change(self, text: str, name: str = "compose.yml") -> list[types.Diagnostic]:
        self.version += 1
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                text_document=types.VersionedTextDocumentIdentifier(uri=self.uri(name), version=self.version),
                content_changes=[types.TextDocumentContentChangeWholeDocument(text=text)],
            )
        )
        return await self.published(name)

    async def published(self, name: str = "compose.yml") -> list[types.Diagnostic]:
        """The next diagnostics of a document."""
        self.client.diagnostics.pop(self.uri(name), None)
        for _ in range(15000):
            if self.uri(name) in self.client.diagnostics:
                return list(self.client.diagnostics[self.uri(name)])
            await asyncio.sleep(0.002)
        raise AssertionError(f"no diagnostics of {name} within 30 s")

    def document(self, name: str = "compose.yml") -> types.TextDocumentIdentifier:
        return types.TextDocumentIdentifier(uri=self.uri(name))

    async def actions(self, line: int, only: list[str] | None = None) -> list[types.CodeAction]:
        here = types.Position(line=line, character=0)
        found = await self.client.text_document_code_action_async(
            types.CodeActionParams(
                text_document=self.document(),
                range=types.Range(start=here, end=here),
                context=types.CodeActionContext(diagnostics=[], only=only),
            )
        )
        return [action for action in found or () if isinstance(action, types.CodeAction)]


def session(
    folder: Path,
    talk: Callable[[Session], Awaitable[_T]],
    *,
    client: str = "visual-studio-code",
    encodings: list[str] | None = None,
    options: Any = None,
) -> _T:
    """What `talk` returns; the server has to end with 0 when it is told to exit."""

    async def run() -> _T:
        peer = make_test_lsp_client()
        began = time.monotonic()
        await peer.start_io(sys.executable, "-c", SEALED)
        capabilities = client_capabilities(client)
        if encodings is not None:
            capabilities.general = types.GeneralClientCapabilities(position_encodings=encodings)
        root = types.WorkspaceFolder(uri=folder.as_uri(), name="here")
        await peer.initialize_session(
            types.InitializeParams(capabilities=capabilities, workspace_folders=[root], initialization_options=options)
        )
        result = await talk(Session(peer, folder, began))
        await peer.shutdown_session()
        server = peer._server
        assert server is not None
        assert await asyncio.wait_for(server.wait(), 30) == 0
        return result

    return asyncio.run(asyncio.wait_for(run(), 120))
