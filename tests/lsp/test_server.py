"""Sessions with the language server over standard input and output, with a client that is not ours."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from tests.cli.shell import ROOT
from tests.lsp.sessions import SEALED, Session, session

TEXT = (ROOT / "compose" / "scenarios" / "S08-single-listener-localhost" / "kraft.broken.yml").read_text()
RULE = "advertised-loopback-for-remote-clients"


def test_diagnostics_follow_the_text(tmp_path: Path) -> None:
    async def talk(one: Session) -> None:
        (first,) = await one.open(TEXT)
        assert (first.code, first.source, first.severity) == (RULE, "netdiag", types.DiagnosticSeverity.Warning)
        line = TEXT.splitlines()[first.range.start.line]
        assert line[first.range.start.character : first.range.end.character] == "localhost"
        assert first.message.splitlines()[0].startswith("listener PLAINTEXT of kafka sends every container")
        assert "fix: advertise" in first.message
        (related,) = first.related_information or ()
        assert related.message == "kafka-ui connects here and is sent to itself"
        assert await one.change(TEXT.replace("PLAINTEXT://localhost", "PLAINTEXT://kafka")) != [first]
        assert await one.change(TEXT) == [first]
        (broken,) = await one.change("services: [")
        assert broken.code == "could-not-check"
        one.client.text_document_did_close(types.DidCloseTextDocumentParams(text_document=one.document()))
        assert await one.published() == []

    (tmp_path / "compose.yml").write_text("services: {}\n")
    session(tmp_path, talk)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_positions_count_in_the_encoding_that_was_agreed_on(tmp_path: Path, encoding: str) -> None:
    before = '    labels: {"é\U0001f427": x} # netdiag: ignore['
    units = {"utf-8": len(before.encode()), "utf-16": len(before.encode("utf-16-le")) // 2, "utf-32": len(before)}

    async def talk(one: Session) -> list[int]:
        text = TEXT.replace("    ports: [", f"{before}{RULE}]\n    ports: [", 1)
        return [d.range.start.character for d in await one.open(text) if d.code == "unused-ignore"]

    assert session(tmp_path, talk, encodings=[encoding]) == [units[encoding]]
    assert len(set(units.values())) == 3


def test_hints_hovers_and_definitions(tmp_path: Path) -> None:
    async def talk(one: Session) -> None:
        await one.open(TEXT)
        end = types.Position(line=len(TEXT.splitlines()), character=0)
        hints = await one.client.text_document_inlay_hint_async(
            types.InlayHintParams(
                text_document=one.document(), range=types.Range(start=types.Position(line=0, character=0), end=end)
            )
        )
        (advertised,) = hints or ()
        assert advertised.label == "host ✓ · containers ✗ localhost"
        line, column = advertised.position.line, advertised.position.character
        assert TEXT.splitlines()[line][:column].endswith("PLAINTEXT://localhost:9092")
        here = types.Position(line=line, character=column - 3)
        hover = await one.client.text_document_hover_async(
            types.HoverParams(text_document=one.document(), position=here)
        )
        assert hover is not None
        assert isinstance(hover.contents, types.MarkupContent)
        assert "- ✓ docker host: broker 1 answers on PLAINTEXT" in hover.contents.value
        found = await one.client.text_document_definition_async(
            types.DefinitionParams(text_document=one.document(), position=here)
        )
        assert isinstance(found, list)
        lines = [TEXT.splitlines()[each.range.start.line] for each in found if isinstance(each, types.Location)]
        assert '    ports: ["9092:9092"]' in lines

    session(tmp_path, talk)


def test_an_answer_is_about_the_text_that_was_sent_before_the_question(tmp_path: Path) -> None:
    async def talk(one: Session) -> None:
        await one.open(TEXT)
        for number in range(20):
            text = TEXT.replace("localhost:9092", "kafka:9092") if number % 2 else TEXT
            one.version += 1
            one.client.text_document_did_change(
                types.DidChangeTextDocumentParams(
                    text_document=types.VersionedTextDocumentIdentifier(uri=one.uri(), version=one.version),
                    content_changes=[types.TextDocumentContentChangeWholeDocument(text=text)],
                )
            )
            (row,) = [i for i, each in enumerate(TEXT.splitlines()) if "ADVERTISED" in each]
            hover = await one.client.text_document_hover_async(
                types.HoverParams(text_document=one.document(), position=types.Position(line=row, character=48))
            )
            assert hover is not None
            assert isinstance(hover.contents, types.MarkupContent)
            assert ("advertises `kafka:9092`" in hover.contents.value) == bool(number % 2)

    session(tmp_path, talk)


def test_code_actions_repair_and_ignore(tmp_path: Path) -> None:
    async def talk(one: Session) -> None:
        (found,) = await one.open(TEXT)
        fix, ignore = await one.actions(found.range.start.line)
        assert (fix.kind, ignore.kind) == ("quickfix", "quickfix")
        assert fix.title.endswith("(changes what is offered)")
        assert fix.is_preferred is None
        assert list(fix.diagnostics or ()) == [found]
        for action in (fix, ignore):
            assert action.edit is not None
            (change,) = action.edit.document_changes or ()
            assert isinstance(change, types.TextDocumentEdit)
            assert change.text_document.version == 0
            assert await one.change(_edited(TEXT, change)) == []
            await one.change(TEXT)
        assert await one.actions(0) == []
        assert await one.actions(found.range.start.line, only=["refactor"]) == []

    session(tmp_path, talk)


def test_all_safe_repairs_at_once(tmp_path: Path) -> None:
    text = (ROOT / "compose" / "scenarios" / "S02-inter-broker-loopback" / "kraft.broken.yml").read_text()

    async def talk(one: Session) -> None:
        before = await one.open(text)
        (action,) = await one.actions(0, only=["source.fixAll"])
        assert action.kind == "source.fixAll.netdiag"
        assert action.edit is not None
        (change,) = action.edit.document_changes or ()
        assert isinstance(change, types.TextDocumentEdit)
        assert len(await one.change(_edited(text, change))) < len(before)

    session(tmp_path, talk)


def test_rule_pages_are_linked_where_a_site_is_known(tmp_path: Path) -> None:
    text = f"# netdiag: ignore-file[{RULE}] known\n{TEXT}"

    async def talk(one: Session) -> tuple[list[Any], list[Any]]:
        await one.open(text)
        links = await one.client.text_document_document_link_async(
            types.DocumentLinkParams(text_document=one.document())
        )
        diagnostics = await one.change(TEXT)
        return [link.target for link in links or ()], [d.code_description for d in diagnostics]

    page = f"https://example.org/rules/{RULE}"
    found = session(tmp_path, talk, options={"rulePages": "https://example.org/rules/"})
    assert found == ([page], [types.CodeDescription(href=page)])
    assert session(tmp_path, talk, options={"rulePages": "javascript:x"}) == ([], [None])


def test_a_change_on_disk_is_seen(tmp_path: Path) -> None:
    async def talk(one: Session) -> None:
        assert len(await one.open(TEXT)) == 1
        (tmp_path / "netdiag.toml").write_text(f'ignore = ["{RULE}"]\n')
        change = types.FileEvent(uri=one.uri("netdiag.toml"), type=types.FileChangeType.Created)
        one.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(changes=[change]))
        assert await one.published() == []

    session(tmp_path, talk)


def test_what_is_no_file_is_left_alone(tmp_path: Path) -> None:
    async def talk(one: Session) -> None:
        item = types.TextDocumentItem(uri="untitled:Untitled-1", language_id="yaml", version=0, text=TEXT)
        one.client.text_document_did_open(types.DidOpenTextDocumentParams(text_document=item))
        unnamed = types.TextDocumentIdentifier(uri="untitled:Untitled-1")
        here = types.Position(line=0, character=0)
        hover = await one.client.text_document_hover_async(types.HoverParams(text_document=unnamed, position=here))
        assert hover is None
        assert len(await one.open(TEXT)) == 1

    session(tmp_path, talk)


def test_the_session_ends_where_something_is_started_or_connected_to() -> None:
    for act in ("import socket; socket.create_connection(('127.0.0.1', 9))", "import os; os.system('true')"):
        sealed = SEALED.replace("from netdiag.cli.main import run", act)
        done = subprocess.run([sys.executable, "-c", sealed], stdin=subprocess.DEVNULL, check=False)
        assert done.returncode == 70


def test_without_its_library_one_line_says_how_to_install_it(tmp_path: Path) -> None:
    blocked = "import sys; sys.modules['pygls'] = None; from netdiag.cli.main import run; sys.argv[1:] = ['lsp']; run()"
    done = subprocess.run([sys.executable, "-c", blocked], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    (line,) = done.stderr.splitlines()
    assert line.startswith("netdiag: netdiag lsp needs pygls, which is not installed: ")
    assert line.endswith("pip install '.[lsp]'")


def _edited(text: str, change: types.TextDocumentEdit) -> str:
    """A document after edits whose columns are characters of the basic plane."""
    lines = text.splitlines(keepends=True)

    def index(place: types.Position) -> int:
        return sum(map(len, lines[: place.line])) + place.character

    for edit in sorted(change.edits, key=lambda one: index(one.range.start), reverse=True):
        assert isinstance(edit, types.TextEdit)
        text = text[: index(edit.range.start)] + edit.new_text + text[index(edit.range.end) :]
    return text
