"""Compose's dotenv grammar: what each line means, where it stands, and what is refused."""

# ruff: noqa: E501

from pathlib import Path

import pytest

from netdiag.compose.dotenv import load_dotenv, load_entries
from netdiag.compose.positions import Source
from netdiag.compose.problems import ComposeError
from tests.compose.oracle import ask_compose
from tests.compose.tracing import assert_traced, cut
from tests.each import each

ENVIRON = {"SHELL_VAR": "shell", "EMPTY": ""}

# text -> variables, None where it is refused
FILES: dict[str, dict[str, str] | None] = {
    "": {}, "\n\n": {}, "# only\n": {}, "   # indented\n": {},
    "A=1": {"A": "1"}, "A=1\n": {"A": "1"}, "A=1\nB=2\n": {"A": "1", "B": "2"}, "A=1\r\nB=2\r\n": {"A": "1", "B": "2"},
    "A=\n": {"A": ""}, "A=\nB=1\n": {"A": "", "B": "1"}, "A=  \n": {"A": ""}, "A=''\n": {"A": ""}, 'A=""\n': {"A": ""},
    "  A=1\n": {"A": "1"}, "A = 1\n": {"A": "1"}, "A= 1 \n": {"A": "1"}, "A=a b\n": {"A": "a b"},
    "export A=1\n": {"A": "1"}, "export  A = 1\n": {"A": "1"}, "exportA=1\n": {"exportA": "1"},
    "A: 1\n": {"A": "1"}, "A:1\n": {"A": "1"}, "A: 'x y'\n": {"A": "x y"}, "A:\n": {"A": ""},
    "A.b-c[0]_=1\n": {"A.b-c[0]_": "1"}, "1A=1\n": {"1A": "1"}, "\u00e9=1\n": {"\u00e9": "1"},
    "A=1 # c\n": {"A": "1"}, "A=1#c\n": {"A": "1#c"}, "A=#c\n": {"A": "#c"}, "A= #c\n": {"A": "#c"},
    "A='1' # c\n": {"A": "1"}, "A='1 # c'\n": {"A": "1 # c"}, 'A="1 # c" # d\n': {"A": "1 # c"},
    "A='1'\nB=2\n": {"A": "1", "B": "2"}, "A='a\nb'\nB=2\n": {"A": "a\nb", "B": "2"}, 'A="a\nb"\n': {"A": "a\nb"},
    "A='a\\nb'\n": {"A": "a\\nb"}, 'A="a\\nb"\n': {"A": "a\nb"}, 'A="a\\tb"\n': {"A": "a\tb"}, "A=a\\nb\n": {"A": "a\\nb"},
    "A='it\\'s'\n": {"A": "it's"}, 'A="say \\"x\\""\n': {"A": 'say "x"'}, 'A="a\\\\b"\n': {"A": "a\\b"},
    "A='a\\\\b'\n": {"A": "a\\\\b"}, 'A="a\\zb"\n': {"A": "a\\zb"}, 'A="\\$B"\n': {"A": "$B"}, 'A="\\0101"\n': {"A": "A"},
    "A='$B'\n": {"A": "$B"}, "B=1\nA=$B\n": {"B": "1", "A": "1"}, "B=1\nA=${B}x\n": {"B": "1", "A": "1x"},
    'B=1\nA="$B"\n': {"B": "1", "A": "1"}, "A=$B\nB=1\n": {"A": "", "B": "1"}, "A=${B:-d}\n": {"A": "d"},
    "A=${SHELL_VAR}\n": {"A": "shell"}, "SHELL_VAR=own\nA=$SHELL_VAR\n": {"SHELL_VAR": "own", "A": "shell"},
    "A=$$B\n": {"A": "$B"}, "A=a$\n": {"A": "a$"}, "A=${EMPTY:-d}\n": {"A": "d"}, "A=${EMPTY-d}\n": {"A": ""},
    "SHELL_VAR\n": {"SHELL_VAR": "shell"}, "NOPE\n": {}, "NOPE\nA=1\n": {"A": "1"}, "SHELL_VAR\nA=1\n": {"SHELL_VAR": "shell", "A": "1"},
    "A=1\nA=2\n": {"A": "2"}, "A=a=b=c\n": {"A": "a=b=c"}, "A=http://x:80/?q=1\n": {"A": "http://x:80/?q=1"},
    "\ufeffA=1\n": {"A": "1"}, "A=\u00e9\u4e2d\n": {"A": "\u00e9\u4e2d"}, "A=1\n\n\n# c\nB=2": {"A": "1", "B": "2"},
    "A='1' B=2\n": {"A": "1", "B": "2"}, "A=\"x'y\"\n": {"A": "x'y"}, "A='x\"y'\n": {"A": 'x"y'}, "A=x'y'\n": {"A": "x'y'"},
    "A=\tx\t\n": {"A": "x"}, "A=[1, 2]\n": {"A": "[1, 2]"}, "A=\\\n": {"A": "\\"}, "A=a\\\nB=b\n": {"A": "a\\", "B": "b"},
    "A B=1\n": None, "A!=1\n": None, "A='1\n": None, 'A="1\n': None, "A=${\n": None, "A=${B:?m}\n": None,
    "!\n": None, "A=1\n=2\nB=3\n": {"A": "1", "B": "3"},
}  # fmt: skip


@each(("text", "variables"), FILES.items())
def test_a_file(text: str, variables: dict[str, str] | None) -> None:
    data = text.encode()
    if variables is None:
        with pytest.raises(ComposeError) as caught:
            load_dotenv(Source(".env", data), ENVIRON)
        assert caught.value.span is not None
        cut(data, caught.value.span)
        return
    entries = load_entries(Source(".env", data), ENVIRON)
    assert {name: entry.value.value for name, entry in entries.items()} == variables
    for name, entry in entries.items():
        assert cut(data, entry.key.span) == name
        assert_traced(entry.value, {".env": data})


def test_compose_reads_the_same(compose_v2: Path, tmp_path: Path) -> None:
    accepted = {f"s{number}": text for number, text in enumerate(FILES) if FILES[text] is not None}
    for name, text in accepted.items():
        (tmp_path / f"{name}.env").write_bytes(text.encode())
    services = "".join(f"  {name}: {{image: x, env_file: {name}.env}}\n" for name in accepted)
    (tmp_path / "compose.yaml").write_text("services:\n" + services)
    verdict = ask_compose(compose_v2, tmp_path, ("compose.yaml",), ENVIRON)
    assert verdict.model is not None, verdict.message
    for name, text in accepted.items():
        said = verdict.model["services"][name].get("environment") or {}
        assert {key: value.replace("$$", "$") for key, value in said.items() if key} == FILES[text], repr(text)
    for number, text in enumerate(text for text, variables in FILES.items() if variables is None):
        (tmp_path / "bad.env").write_bytes(text.encode())
        (tmp_path / f"bad{number}.yaml").write_text("services: {a: {image: x, env_file: bad.env}}\n")
        assert ask_compose(compose_v2, tmp_path, (f"bad{number}.yaml",), ENVIRON).model is None, repr(text)


def test_raw_values_are_taken_as_they_are() -> None:
    data = b"A='1' # no\nB=$SHELL_VAR\nC= x \r\n"
    found = load_dotenv(Source("f", data), ENVIRON, raw=True)
    assert {name: text.value for name, text in found.items()} == {"A": "'1' # no", "B": "$SHELL_VAR", "C": "x "}


def test_earlier_files_are_seen_and_kept() -> None:
    first = load_dotenv(Source("one", b"A=1\nB=2\n"), {})
    both = load_dotenv(Source("two", b"B=3\nC=$A$B\n"), {}, first)
    assert {name: text.value for name, text in both.items()} == {"A": "1", "B": "3", "C": "13"}
    span = both["C"].edit_span(0, 1)
    assert span is not None
    assert span.path == "one"


def test_escapes_are_traced_one_by_one() -> None:
    data = b'A="x\\ty\\"z"\n'
    value = load_dotenv(Source("f", data), {})["A"]
    assert value.value == 'x\ty"z'
    assert [cut(data, value.span_of(i, i + 1)) for i in range(5)] == ["x", "\\t", "y", '\\"', "z"]
    assert [value.edit_span(i, i + 1) is not None for i in range(5)] == [True, False, True, False, True]
    assert cut(data, value.span) == '"x\\ty\\"z"'


def test_bytes_that_are_no_utf8_are_refused() -> None:
    with pytest.raises(ComposeError, match="not UTF-8") as caught:
        load_dotenv(Source("f", b"A=1\nB=\xff\n"), {})
    assert caught.value.span is not None
    assert (caught.value.span.line, caught.value.span.column) == (2, 3)


def test_values_that_double_are_bounded() -> None:
    lines = ["A0=xxxxxxxxxx", *(f"A{n}={'$A' + str(n - 1)}{'${A' + str(n - 1) + '}'}" for n in range(1, 60))]
    with pytest.raises(ComposeError, match=r"longer than|excessive size"):
        load_dotenv(Source("f", "\n".join(lines)), {})
    many = "A=" + "x" * 50_000 + "\n" + "B=$A\n" * 200
    with pytest.raises(ComposeError, match="excessive size"):
        load_dotenv(Source("f", many), {})
