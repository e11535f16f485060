"""Command lines taken apart: compose's text form, shell scripts with variables, and every word at its place."""

import pytest

from netdiag.compose.load import load
from netdiag.compose.positions import Source
from netdiag.deployment.sources.startup import Line, command_lines

TEXT = """\
services:
  a:
    image: x
    environment: {{LISTENERS: "A://:9092"}}
    {command}
"""


def lines(command: str) -> tuple[Line, ...]:
    project = load(Source("compose.yml", TEXT.format(command=command.replace("\n", "\n    "))))
    return command_lines(project.services["a"])


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("x: 1", []),
        ("command: a b  c", [["a", "b", "c"]]),
        ("command: [a, b c]", [["a", "b c"]]),
        ("""command: a 'b c' "d e"f g\\ h""", [["a", "b c", "d ef", "g h"]]),
        ("command: a '' b", [["a", "", "b"]]),
        # Compose expands nothing and knows no end of a command
        ("command: a $$B; c", [["a", "$B;", "c"]]),
        ("entrypoint: a\ncommand: b", [["a", "b"]]),
        ("entrypoint: [sh, -c]\ncommand: ['a b; c && d | e']", [["a", "b"], ["c"], ["d"], ["e"]]),
        ("command: [tini, --, /bin/bash, -ec, 'a b']", [["a", "b"]]),
        ("command: [tini, a, b, c, /bin/bash, -ec, 'a b']", [["tini", "a", "b", "c", "/bin/bash", "-ec", "a b"]]),
        ("command: [bash, run.sh, -c, x]", [["bash", "run.sh", "-c", "x"]]),
        ("command:\n  - bash\n  - -c\n  - |\n    # note\n    a \\\\\n    b 'c # d' # e\n    f",
         [["a", "b", "c # d"], ["f"]]),
        ("command: [sh, -c, 'a --l=$$LISTENERS $${LISTENERS}x']", [["a", "--l=A://:9092", "A://:9092x"]]),
        ("command: [sh, -c, \"a '$$LISTENERS'\"]", [["a", "$LISTENERS"]]),
    ],
)  # fmt: skip
def test_words(command: str, expected: list[list[str]]) -> None:
    if command == "x: 1":
        command = "tty: true"
    assert [[word.value for word in line] for line in lines(command.replace("\\\\\n", "\\\n"))] == expected


def test_flags_behind_a_substitution_are_still_there() -> None:
    ((_, flag, last),) = lines("command: [sh, -c, 'a --x=$$(hostname -i | cut -d\" \" -f1):1 --y']")
    assert flag.is_open
    assert last.value == "--y"


@pytest.mark.parametrize("word", ["$$HOST:1", "$${HOST}", "$$(hostname):1", "`hostname`", "$${HOST:-x}"])
def test_what_only_a_shell_knows_leaves_the_word_open(word: str) -> None:
    ((first, second),) = lines(f"command: [sh, -c, 'a \"{word}\"']")
    assert not first.is_open
    assert second.is_open


def test_a_word_knows_its_place_and_an_expanded_one_where_its_value_is() -> None:
    ((_, flag),) = lines("command: [sh, -c, 'run --l=$$LISTENERS']")
    value = flag.slice(4, len(flag.value))
    assert value.value == "A://:9092"
    assert value.text.span_of(0, 9).line == 5
    edit = value.text.edit_span(0, 1)
    assert edit is not None
    assert edit.line == 4


def test_a_program_is_not_taken_apart() -> None:
    assert lines("command: [sh, -c, '" + "a " * 40000 + "']") == ()
