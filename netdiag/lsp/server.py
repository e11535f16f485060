"""The language server on standard input and output: documents in; diagnostics, hovers, hints and code actions out.

Checks run in one thread of their own, in the order in which documents change and questions come, so an answer is always
about the text that the editor had when it asked. Changes that arrive during a check are checked together.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from netdiag import __version__
from netdiag.app.editor import Action, ActionKind, Editor
from netdiag.findings import FileLocation, Finding, Severity
from netdiag.lsp.positions import Positions
from netdiag.render.findings.finding_text import COULD_NOT_CHECK, message_lines, plain

_T = TypeVar("_T")
_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.NOTE: types.DiagnosticSeverity.Information,
}
_KINDS: dict[ActionKind, str] = {
    ActionKind.FIX: types.CodeActionKind.QuickFix,
    ActionKind.IGNORE: types.CodeActionKind.QuickFix,
    ActionKind.FIX_ALL: f"{types.CodeActionKind.SourceFixAll.value}.netdiag",
}
_UNUSED = "unused-ignore"
# What an editor may change on disk behind the back of an open document.
_WATCHED = ("**/*.{yml,yaml,properties,env,toml,conf,sh}", "**/{.env,Dockerfile,Makefile}*")


class Server:
    """A session with one client."""

    def __init__(self) -> None:
        self.protocol = LanguageServer("netdiag", __version__, types.TextDocumentSyncKind.Full)
        self._worker = ThreadPoolExecutor(1, "check")
        self._editor = Editor()
        self._rule_pages = ""
        # By path: what the client calls a document, and its version.
        self._documents: dict[str, tuple[str, int | None]] = {}
        self._waiting: dict[str, bytes | None] = {}
        self._touched: set[str] = set()
        self._published: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._register()

    def serve(self) -> None:
        """Serve the client on standard input and output until it says exit or is gone."""
        try:
            self.protocol.start_io()
        finally:
            self._worker.shutdown(wait=False, cancel_futures=True)

    def _register(self) -> None:
        kinds = [types.CodeActionKind.QuickFix, types.CodeActionKind.SourceFixAll]
        for name, handler in (
            (types.INITIALIZE, self._initialize),
            (types.INITIALIZED, self._initialized),
            (types.TEXT_DOCUMENT_DID_OPEN, self._opened),
            (types.TEXT_DOCUMENT_DID_CHANGE, self._changed),
            (types.TEXT_DOCUMENT_DID_SAVE, self._saved),
            (types.TEXT_DOCUMENT_DID_CLOSE, self._closed),
            (types.WORKSPACE_DID_CHANGE_WATCHED_FILES, self._changed_on_disk),
        ):
            self.protocol.feature(name)(_notified(handler))
        self.protocol.feature(types.TEXT_DOCUMENT_HOVER)(_asked(self._hover))
        self.protocol.feature(types.TEXT_DOCUMENT_INLAY_HINT)(_asked(self._inlay_hints))
        self.protocol.feature(types.TEXT_DOCUMENT_DEFINITION)(_asked(self._definition))
        actions = types.CodeActionOptions(code_action_kinds=kinds)
        self.protocol.feature(types.TEXT_DOCUMENT_CODE_ACTION, actions)(_asked(self._actions))
        self.protocol.feature(types.TEXT_DOCUMENT_DOCUMENT_LINK, types.DocumentLinkOptions())(_asked(self._links))

    def _initialize(self, params: types.InitializeParams) -> None:
        folders = [folder.uri for folder in params.workspace_folders or ()] or [params.root_uri or ""]
        paths = [path for uri in folders if (path := to_fs_path(uri))]
        self._editor = Editor(paths)
        options = params.initialization_options
        pages = options.get("rulePages") if isinstance(options, dict) else None
        self._rule_pages = pages if isinstance(pages, str) and pages.startswith(("https://", "http://")) else ""

    def _initialized(self, params: types.InitializedParams) -> None:
        del params
        files = self._capability("workspace", "did_change_watched_files", "dynamic_registration")
        if files:
            watchers = [types.FileSystemWatcher(glob_pattern=pattern) for pattern in _WATCHED]
            registration = types.Registration(
                id="netdiag-files",
                method=types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
                register_options=types.DidChangeWatchedFilesRegistrationOptions(watchers=watchers),
            )
            self.protocol.client_register_capability(types.RegistrationParams(registrations=[registration]))

    def _opened(self, params: types.DidOpenTextDocumentParams) -> None:
        self._take(params.text_document.uri)

    def _changed(self, params: types.DidChangeTextDocumentParams) -> None:
        self._take(params.text_document.uri)

    def _take(self, uri: str) -> None:
        path = _path(uri)
        if path is None:
            return
        document = self.protocol.workspace.get_text_document(uri)
        self._documents[path] = (uri, document.version)
        self._waiting[path] = document.source.encode("utf-8", "replace")
        self._check()

    def _saved(self, params: types.DidSaveTextDocumentParams) -> None:
        self._touch(params.text_document.uri)

    def _closed(self, params: types.DidCloseTextDocumentParams) -> None:
        path = _path(params.text_document.uri)
        if path is not None:
            self._documents.pop(path, None)
            self._waiting[path] = None
            self._check()

    def _changed_on_disk(self, params: types.DidChangeWatchedFilesParams) -> None:
        for change in params.changes:
            self._touch(change.uri)

    def _touch(self, uri: str) -> None:
        path = _path(uri)
        if path is not None:
            self._touched.add(path)
            self._check()

    def _check(self) -> None:
        task = asyncio.get_running_loop().create_task(self._checked())
        # The loop itself keeps no task alive.
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _checked(self) -> None:
        for params in await self._asked(self._refreshed):
            self.protocol.text_document_publish_diagnostics(params)
        if len(self._documents) > 1 and self._capability("workspace", "inlay_hint", "refresh_support"):
            self.protocol.workspace_inlay_hint_refresh(None)

    async def _asked(self, question: Callable[[], _T]) -> _T:
        """The answer of the checking thread, behind all that it was asked before."""
        return await asyncio.get_running_loop().run_in_executor(self._worker, question)

    def _refreshed(self) -> list[types.PublishDiagnosticsParams]:
        """In the checking thread: check what has changed; the diagnostics to publish."""
        if not self._waiting and not self._touched:
            return []
        waiting, self._waiting = self._waiting, {}
        touched, self._touched = self._touched, set()
        for path, data in waiting.items():
            if data is None:
                self._editor.close(path)
            else:
                self._editor.put(path, data)
        for path in touched:
            self._editor.touch(path)
        changed = self._editor.refresh()
        return [self._diagnostics(path) for path in sorted(changed | self._published) if self._is_shown(path)]

    def _is_shown(self, path: str) -> bool:
        return path in self._documents or path in self._published or bool(self._editor.findings(path))

    def _diagnostics(self, path: str) -> types.PublishDiagnosticsParams:
        findings = self._editor.findings(path)
        (self._published.add if findings else self._published.discard)(path)
        uri, version = self._documents.get(path, (from_fs_path(path) or "", None))
        lines = self._positions(path)
        diagnostics = [self._diagnostic(finding, lines) for finding in findings]
        return types.PublishDiagnosticsParams(uri=uri, diagnostics=diagnostics, version=version)

    def _diagnostic(self, finding: Finding, lines: Positions) -> types.Diagnostic:
        assert isinstance(finding.location, FileLocation)
        related = [
            types.DiagnosticRelatedInformation(location=self._location(one.location), message=plain(one.message))
            for one in finding.related
            if isinstance(one.location, FileLocation)
        ]
        page = self._page(finding.rule)
        return types.Diagnostic(
            range=_range(lines, finding.location.start, finding.location.end),
            severity=_SEVERITIES[finding.severity],
            code=finding.rule,
            code_description=types.CodeDescription(href=page) if page else None,
            source="netdiag",
            message="\n".join(message_lines(finding)),
            tags=[types.DiagnosticTag.Unnecessary] if finding.rule == _UNUSED else None,
            related_information=related or None,
        )

    async def _hover(self, params: types.HoverParams) -> types.Hover | None:
        path = _path(params.text_document.uri)

        def answer() -> types.Hover | None:
            if path is None or not self._editor.is_open(path):
                return None
            lines = self._positions(path)
            found = self._editor.hover(path, _offset(lines, params.position))
            if found is None:
                return None
            content = types.MarkupContent(kind=types.MarkupKind.Markdown, value=found.text)
            return types.Hover(contents=content, range=_range(lines, found.start, found.end))

        return await self._asked(answer)

    async def _inlay_hints(self, params: types.InlayHintParams) -> list[types.InlayHint]:
        path = _path(params.text_document.uri)

        def answer() -> list[types.InlayHint]:
            if path is None or not self._editor.is_open(path):
                return []
            lines = self._positions(path)
            first, last = _offset(lines, params.range.start), _offset(lines, params.range.end)
            return [
                types.InlayHint(
                    position=_position(lines, hint.offset),
                    label=hint.label,
                    padding_left=True,
                    tooltip=types.MarkupContent(kind=types.MarkupKind.Markdown, value=hint.tooltip),
                )
                for hint in self._editor.hints(path)
                if first <= hint.offset <= last
            ]

        return await self._asked(answer)

    async def _definition(self, params: types.DefinitionParams) -> list[types.Location]:
        path = _path(params.text_document.uri)

        def answer() -> list[types.Location]:
            if path is None or not self._editor.is_open(path):
                return []
            offset = _offset(self._positions(path), params.position)
            return [self._location(place) for place in self._editor.related(path, offset)]

        return await self._asked(answer)

    async def _actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        path = _path(params.text_document.uri)
        only = params.context.only

        def wanted(kind: ActionKind) -> bool:
            if only is None:
                return True
            return any(_KINDS[kind] == one or _KINDS[kind].startswith(f"{_text(one)}.") for one in map(_text, only))

        def answer() -> list[types.CodeAction]:
            if path is None or not self._editor.is_open(path):
                return []
            lines = self._positions(path)
            start, end = _offset(lines, params.range.start), _offset(lines, params.range.end)
            found: list[Action] = []
            if wanted(ActionKind.FIX):
                found += self._editor.actions(path, start, end)
            if wanted(ActionKind.FIX_ALL):
                whole = self._editor.fix_all(path)
                found += [whole] if whole else []
            return [self._action(action) for action in found]

        return await self._asked(answer)

    def _action(self, action: Action) -> types.CodeAction:
        finding = action.finding
        place = finding.location if finding else None
        solves = (
            [self._diagnostic(finding, self._positions(place.path))]
            if finding and isinstance(place, FileLocation)
            else None
        )
        return types.CodeAction(
            title=action.title,
            kind=_KINDS[action.kind],
            diagnostics=solves,
            is_preferred=True if action.kind is ActionKind.FIX and action.safe else None,
            edit=self._edit(action),
        )

    def _edit(self, action: Action) -> types.WorkspaceEdit:
        edits: dict[str, list[types.TextEdit]] = {}
        for edit in action.edits:
            span = _range(self._positions(edit.path), edit.start, edit.end)
            edits.setdefault(edit.path, []).append(types.TextEdit(range=span, new_text=edit.replacement))
        if not self._capability("workspace", "workspace_edit", "document_changes"):
            return types.WorkspaceEdit(changes={self._uri(path): list(found) for path, found in edits.items()})
        changes = [
            types.TextDocumentEdit(
                text_document=types.OptionalVersionedTextDocumentIdentifier(
                    uri=self._uri(path), version=self._documents.get(path, ("", None))[1]
                ),
                edits=list(found),
            )
            for path, found in edits.items()
        ]
        return types.WorkspaceEdit(document_changes=list(changes))

    async def _links(self, params: types.DocumentLinkParams) -> list[types.DocumentLink]:
        path = _path(params.text_document.uri)

        def answer() -> list[types.DocumentLink]:
            if path is None or not self._rule_pages or not self._editor.is_open(path):
                return []
            lines = self._positions(path)
            return [
                types.DocumentLink(range=_range(lines, start, end), target=self._page(rule), tooltip=rule)
                for start, end, rule in self._editor.mentions(path)
            ]

        return await self._asked(answer)

    def _page(self, rule: str) -> str:
        if not self._rule_pages or rule == COULD_NOT_CHECK:
            return ""
        return f"{self._rule_pages.rstrip('/')}/{rule}"

    def _location(self, place: FileLocation) -> types.Location:
        return types.Location(
            uri=self._uri(place.path), range=_range(self._positions(place.path), place.start, place.end)
        )

    def _uri(self, path: str) -> str:
        known = self._documents.get(path)
        return known[0] if known else from_fs_path(path) or ""

    def _positions(self, path: str) -> Positions:
        encoding = self.protocol.workspace.position_encoding
        return Positions(self._editor.contents(path) or b"", _text(encoding))

    def _capability(self, *names: str) -> Any:
        value: Any = self.protocol.client_capabilities
        for name in names:
            value = getattr(value, name, None)
        return value


# pygls marks the functions that it is given, and methods cannot be marked.
def _notified(handler: Callable[[Any], None]) -> Callable[[Any], None]:
    def call(params: Any) -> None:
        handler(params)

    return call


def _asked(handler: Callable[[Any], Awaitable[_T]]) -> Callable[[Any], Awaitable[_T]]:
    async def call(params: Any) -> _T:
        return await handler(params)

    return call


def _path(uri: str) -> str | None:
    """The path of a document in a file; None for any other, such as one that was never saved."""
    path = to_fs_path(uri)
    return os.path.normpath(path) if path and "\0" not in path else None


def _text(value: Any) -> str:
    """The word of an enumeration of the protocol, or the word that a client made up."""
    return str(getattr(value, "value", value))


def _offset(lines: Positions, position: types.Position) -> int:
    return lines.offset(position.line, position.character)


def _position(lines: Positions, offset: int) -> types.Position:
    line, column = lines.position(offset)
    return types.Position(line=line, character=column)


def _range(lines: Positions, start: int, end: int) -> types.Range:
    return types.Range(start=_position(lines, start), end=_position(lines, end))
