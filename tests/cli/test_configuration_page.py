"""docs/configuration.md, executed: its files are written, its commands print what it shows, its options exist."""

import re
import tomllib
from pathlib import Path

from netdiag.config.parse import KEYS, parse
from netdiag.rules.selection import expanded
from tests.cli.shell import environment, netdiag
from tests.config.test_parse import validator
from tests.house.examples import differs, execute, shown
from tests.house.tree import ROOT

PAGE = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
FILES = {
    match["name"]: match["text"]
    for match in re.finditer(r"^```\w+ (?P<name>\S+)\n(?P<text>.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
}
# netdiag of this very tree, under its name.
AS_A_COMMAND = 'netdiag() { python -c "from netdiag.cli.main import run; run()" "$@"; }'


def known(pattern: str) -> None:
    expanded(pattern)


def test_the_commands_print_what_is_shown(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    status = 0
    for one in shown(PAGE):
        command = f"{AS_A_COMMAND}\n(exit {status})\n{one.command}"
        output, status = execute(command, tmp_path, last_status=status, more={"PYTHONPATH": str(ROOT)})
        assert not differs(one.output, output), f"line {one.line}: {one.command} prints:\n{output}"


def test_the_example_is_accepted_by_parser_and_schema_and_shows_the_keys() -> None:
    text = FILES["netdiag.toml"]
    assert parse("netdiag.toml", text.encode(), known) is not None
    document = tomllib.loads(text)
    validator().validate(document)
    assert set(KEYS) - set(document) == {"select"}


def test_the_options_exist(tmp_path: Path) -> None:
    help_text = netdiag("check-listeners", "--help", cwd=tmp_path, env=environment({"COLUMNS": "200"})).stdout.decode()
    named = set(re.findall(r"`(--[a-z-]+)", PAGE)) - {"--install-completion"}
    assert {"--select", "--baseline", "--watch"} <= named
    assert {option for option in named if option not in help_text} == set()


def test_the_words_for_findings_are_ids() -> None:
    for word in ("unused-ignore", "stale-baseline"):
        assert f"`{word}`" in PAGE
        expanded(word)
