"""The recipes of CONTRIBUTING.md work as they stand: they are carried out in a copy of the tree.

A block ```python PATH is a new file; ```diff PATH adds its `+` lines after the line above them, which must stand in
the file exactly once; ```console is run (see tests/house/examples.py).
"""

import json
import re
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.examples import copy_of_repository, differs, execute, shown
from tests.house.tree import ROOT

_SECTION = re.compile(r"^## ", re.MULTILINE)
_BLOCK = re.compile(r"^```(?P<kind>\w+) ?(?P<path>\S*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)


def recipes(document: str) -> dict[str, str]:
    """The sections of a document by their headings."""
    sections = _SECTION.split(document)[1:]
    return {section.partition("\n")[0]: section for section in sections}


def carry_out(recipe: str, tree: Path) -> Iterator[str]:
    """Do in `tree` what the recipe says; yields every command whose output is not what is shown."""
    status = 0
    for block in _BLOCK.finditer(recipe):
        match block["kind"]:
            case "python":
                (tree / block["path"]).write_text(block["body"], encoding="utf-8")
            case "diff":
                target = tree / block["path"]
                target.write_text(insert(target.read_text(encoding="utf-8"), block["body"]), encoding="utf-8")
            case "console":
                for one in shown(block.group()):
                    more = {"PYTHONPATH": str(tree)}
                    output, status = execute(one.command, tree, last_status=status, more=more)
                    if differs(one.output, output):
                        yield f"$ {one.command}\n{output}"


def insert(text: str, diff: str) -> str:
    """The text with each `+` line behind the line that stands before it in the diff."""
    lines = text.splitlines()
    at = None
    for line in diff.splitlines():
        if line.startswith("+"):
            if at is None:
                raise ValueError("a + line needs a line before it that says where")
            at += 1
            lines.insert(at, line[1:])
        elif lines.count(line[1:]) == 1:
            at = lines.index(line[1:])
        else:
            raise ValueError(f"stands {lines.count(line[1:])} times in the file: {line[1:]!r}")
    return "\n".join(lines) + "\n"


RECIPES = recipes((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))

MESSAGE = {"apiKey": 4711, "type": "request", "name": "HelloRequest", "listeners": ["broker"], "validVersions": "0"}
MESSAGE |= {"flexibleVersions": "0+", "fields": [{"name": "Greeting", "type": "string", "versions": "0+"}]}
HEADERS = {"RequestHeader": "0-2", "ResponseHeader": "0-1"}
DATA = ("ConsumerProtocolAssignment", "ConsumerProtocolSubscription")
USE = """
from netdiag.kafka import protocol
body = {"greeting": "hello"}
raw = protocol.encode(4711, 0, protocol.Direction.REQUEST, body)
print(protocol.decode(4711, 0, protocol.Direction.REQUEST, raw).value)
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the repository that a recipe may change."""
    return copy_of_repository(tmp_path)


def test_the_recipes_are_those_that_are_proven_here() -> None:
    assert set(RECIPES) == {
        "A rule",
        "A Kafka message",
        "A Kafka image",
        "A field in JSON",
        "An output format",
        "A command",
        "A scenario",
        "Figures",
        "The capture engine",
        "Documentation",
        "Dependencies",
        "A release",
    }


@pytest.mark.parametrize("recipe", ["A rule", "A Kafka image", "A command", "A scenario"])
def test_a_recipe_gives_what_it_shows(recipe: str, tree: Path) -> None:
    assert "```console" in RECIPES[recipe]
    assert list(carry_out(RECIPES[recipe], tree)) == []


def test_a_rule_that_is_not_listed_is_noticed(tree: Path) -> None:
    """Half of the recipe is not enough: the file without its line in the list."""
    before, _, after = RECIPES["A rule"].partition("```diff")
    without = before + after.partition("```\n")[2]
    assert list(carry_out(without, tree))


def test_what_a_recipe_writes_passes_lint(tree: Path) -> None:
    written: list[str] = []
    for recipe in ("A rule", "A Kafka image", "A command"):
        list(carry_out(RECIPES[recipe].replace("```console", "```text"), tree))
        written += re.findall(r"^```(?:python|diff) (\S+)$", RECIPES[recipe], re.MULTILINE)
    assert len(written) == 7
    for tool in ("ruff check", "ruff format --check", "mypy --follow-imports=silent"):
        output, status = execute(f"{tool} {' '.join(written)}", tree, last_status=0)
        assert status == 0, output


def test_a_kafka_message_comes_with_a_jar(tree: Path, tmp_path: Path) -> None:
    """A jar like Kafka's with one message that Kafka does not have; the protocol then speaks it."""
    schemas = {
        "HelloRequest": MESSAGE,
        "HelloResponse": {**MESSAGE, "type": "response", "name": "HelloResponse"},
        **{
            name: {"type": "header", "name": name, "validVersions": versions, "flexibleVersions": "1+", "fields": []}
            for name, versions in HEADERS.items()
        },
        **{
            name: {"type": "data", "name": name, "validVersions": "0", "flexibleVersions": "none", "fields": []}
            for name in DATA
        },
    }
    jar = tmp_path / "kafka-clients-9.9.9.jar"
    with zipfile.ZipFile(jar, "w") as archive:
        for name, schema in schemas.items():
            archive.writestr(f"common/message/{name}.json", f"// a comment, as Kafka's have\n{json.dumps(schema)}")
    assert "python tools/generate_protocol_table.py" in RECIPES["A Kafka message"]
    more = {"PYTHONPATH": str(tree)}
    output, status = execute(f"{sys.executable} tools/generate_protocol_table.py {jar}", tree, last_status=0, more=more)
    assert status == 0, output
    output, status = execute(f"{sys.executable} -c '{USE}'", tree, last_status=0, more=more)
    assert output == "{'greeting': 'hello'}\n"


def test_lines_are_put_behind_the_line_before_them() -> None:
    assert insert("a\nb\n", " a\n+x\n+y\n b\n+z\n") == "a\nx\ny\nb\nz\n"
    with pytest.raises(ValueError, match="stands 2 times"):
        insert("a\na\n", " a\n+x\n")
    with pytest.raises(ValueError, match="stands 0 times"):
        insert("a\n", " b\n+x\n")
