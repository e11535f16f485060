"""README.md and the pages of docs show what happens: each command is run, its output compared."""

import re
from pathlib import Path

import pytest

from tests.cli.shell import netdiag
from tests.each import each
from tests.house.examples import NOT_FROM_INSIDE, copy_of_repository, differs, documents, execute, shown, update
from tests.house.tree import ROOT, files, name

README = ROOT / "README.md"
DOCUMENTS = documents()


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_every_shown_command_prints_what_is_shown(document: Path, tmp_path: Path) -> None:
    folder = copy_of_repository(tmp_path)
    wrong = []
    status = 0
    for one in shown(document.read_text(encoding="utf-8")):
        if one.command in NOT_FROM_INSIDE:
            continue
        output, status = execute(one.command, folder, last_status=status)
        if differs(one.output, output):
            place = f"{name(document)}:{one.line}: $ {one.command}"
            wrong.append(f"{place}\n--- shown\n" + "\n".join(one.output) + f"\n--- now\n{output}")
    assert not wrong, "\n\n".join(wrong) + "\n(make examples writes the present output)"


def test_the_readme_and_the_guides_show_commands() -> None:
    assert README in DOCUMENTS
    assert len(DOCUMENTS) > 5


# In a code block, or in backquotes within prose.
_COMMAND_LINE = re.compile(
    r"^(?:    |\$ )(?:sudo )?(?:.*\| )?(?:\S*/bin/)?netdiag (?P<command>[a-z][a-z-]+)(?P<words>.*)$"
    r"|`(?:sudo )?netdiag (?P<named>[a-z][a-z-]+)(?P<options>[^`]*)`",
    re.MULTILINE,
)
_OPTION = re.compile(r"(?<!\S)(--?[a-z][a-z-]*)")


def command_lines() -> dict[str, dict[str, str]]:
    """The options of each command that a page of the site or README names, each with the page."""
    found: dict[str, dict[str, str]] = {}
    for page in files():
        if page == README or (page.suffix == ".md" and page.is_relative_to(ROOT / "docs")):
            for match in _COMMAND_LINE.finditer(page.read_text(encoding="utf-8")):
                words = (match["words"] or match["options"] or "").partition("  #")[0]
                options = dict.fromkeys(_OPTION.findall(words), name(page))
                found.setdefault(match["command"] or match["named"], {}).update(options)
    return found


COMMAND_LINES = command_lines()


@pytest.mark.parametrize("command", sorted(COMMAND_LINES))
def test_every_command_and_option_that_a_page_names_exists(command: str, tmp_path: Path) -> None:
    done = netdiag(command, "--help", cwd=tmp_path, env={"COLUMNS": "200"})
    assert done.returncode == 0, f"no command is called {command}"
    known = set(_OPTION.findall(done.stdout.decode().replace(",", " ")))
    assert {option: page for option, page in COMMAND_LINES[command].items() if option not in known} == {}


def test_pages_name_nearly_every_command() -> None:
    assert len(COMMAND_LINES) >= 13


def test_what_cannot_run_inside_a_test_is_a_target_of_make() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for target in NOT_FROM_INSIDE.values():
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)


def test_the_readme_is_short() -> None:
    assert len(README.read_bytes()) <= 10_000


def test_the_readme_names_both_make_commands_and_what_they_need() -> None:
    text = README.read_text(encoding="utf-8")
    for phrase in ("make demo", "make test", "git make python3-venv"):
        assert phrase in text


@each("page", [path for path in files() if path.suffix == ".md"], ids=lambda path: str(path.relative_to(ROOT)))
def test_no_link_to_a_file_is_broken(page: Path) -> None:
    links = re.findall(r"\]\((?!https?://|#|mailto:)([^)#\s]+)", page.read_text(encoding="utf-8"))
    broken = [link for link in links if not (page.parent / link).exists()]
    assert not broken


DOCUMENT = """\
# A tool

```console
$ echo one; echo two
one
two
$ false
$ echo $?
1
```

```sh
not run
```

```console
$ date
...
```
"""


def test_commands_are_taken_from_console_blocks_only() -> None:
    assert [(one.command, one.output, one.line) for one in shown(DOCUMENT)] == [
        ("echo one; echo two", ("one", "two"), 4),
        ("false", (), 7),
        ("echo $?", ("1",), 8),
        ("date", ("...",), 17),
    ]


def test_output_before_any_command_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="line 2"):
        list(shown("```console\nout\n```\n"))


@pytest.mark.parametrize(
    ("expected", "actual", "different"),
    [
        (("a", "b"), "a\nb\n", False),
        (("a", "b"), "a \n\nb\n", True),
        (("a ",), "\na\n\n", False),
        ((), "", False),
        ((), "a\n", True),
        (("a",), "", True),
        (("a", "...", "z"), "a\nb\nc\nz\n", False),
        (("a", "...", "z"), "a\nz\n", False),
        (("a", "..."), "b\n", True),
        (("took … s",), "took 3.1 s\n", False),
        (("took … s",), "took 3.1 m\n", True),
        (("a.c",), "abc\n", True),
    ],
)
def test_comparison(expected: tuple[str, ...], actual: str, different: bool) -> None:
    assert differs(expected, actual) is different


def test_update_writes_the_present_output(tmp_path: Path) -> None:
    stale = DOCUMENT.replace("one\ntwo\n", "old\n").replace("1\n```", "0\n0\n```")
    assert update(stale, tmp_path) == DOCUMENT


def test_update_keeps_a_block_with_a_placeholder(tmp_path: Path) -> None:
    document = "```console\n$ echo took 3 s\ntook … s\n```\n"
    assert update(document, tmp_path) == document
