"""Where compose exists: row by row, templates and dotenv files mean what compose says, and the same are refused."""

import json
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from netdiag.compose.dotenv import load_dotenv
from netdiag.compose.interpolate import interpolate
from netdiag.compose.positions import Source, literal
from netdiag.compose.problems import ComposeError
from tests.compose.test_oracle import ask_compose, surroundings
from tests.figures import Report as Figure

# ruff: noqa: E501

VARIABLES = {
    "SET": "value", "EMPTY": "", "ONE": "1", "DOLLAR": "a$b", "TWICE": "a$$b", "BRACE": "a}b", "BLANK": "a b",
    "NESTED": "${SET}", "COLON": "a:b", "QUOTE": "a\"b", "_U": "under", "a1": "digit", "lower": "low", "PORT": "9092",
    "HOST": "kafka", "LONG": "x" * 300, "UMLAUT": "Käse", "HASH": "a #b", "NEW": "a\nb", "BACK": "a\\nb",
}  # fmt: skip

TEMPLATES = {
    "substitute": (
        "$SET", "${SET}", "a$SET", "a${SET}b", "$SET$SET", "${SET}${ONE}", "$SET.b", "$SET-b", "$SET_b", "$SET/b",
        "$SET:b", "${_U}", "$_U", "$a1", "${a1}", "$lower", "$LOWER", "${HOST}:${PORT}", "PLAINTEXT://$HOST:$PORT",
        "PLAINTEXT://${HOST}:${PORT},B://${HOST}:1", "${LONG}", "${UMLAUT}", "é$SET", "$SETé", "${SET}é",
    ),
    "unset and empty": (
        "$UNSET", "${UNSET}", "a$UNSET.b", "${EMPTY}", "$EMPTY", "a${UNSET}b${EMPTY}c", "$UNSET$SET",
    ),
    "escapes": (
        "$$", "$$SET", "$${SET}", "$$$SET", "$$$$SET", "$$$$", "a$$b", "$$${SET}", "$${SET:-x}", "$$(SET)", "a$$",
        "${SET}$$", "$$}", "$${", "\\$SET", "\\$$SET",
    ),
    "a dollar alone": ("$", "a$", "a $ b", "$ {SET}", "$-", "$(SET)", "$.", "$/a", "$%", "a$,b", "$\"", "$1", "$1SET", "$9", "$é"),
    "default": (
        "${UNSET:-d}", "${EMPTY:-d}", "${SET:-d}", "${UNSET-d}", "${EMPTY-d}", "${SET-d}", "${UNSET:-}", "${UNSET-}",
        "${EMPTY:-}", "${UNSET:-a b}", "${UNSET:-a:b}", "${UNSET:-a-b}", "${UNSET:--}", "${UNSET:-:-}", "${UNSET--d}",
        "${UNSET:-/path}", "${UNSET:-'q'}", "${UNSET:-\"q\"}", "${UNSET:-a,b}", "${UNSET:-a=b}", "${UNSET:-d}e",
        "${UNSET:-PLAINTEXT://localhost:9092}", "${UNSET-+x}", "${UNSET:-?x}", "${UNSET:-${SET}}", "${UNSET- }",
        "${UNSET:- d }", "${UNSET:-é}", "${DOLLAR:-d}", "${BRACE:-d}", "${BLANK:-d}", "${NESTED:-d}", "${COLON:-d}",
    ),
    "nested default": (
        "${UNSET:-$SET}", "${UNSET:-${EMPTY:-d}}", "${UNSET:-${EMPTY-d}}", "${UNSET-${EMPTY:-${SET:-d}}}",
        "${UNSET:-a${SET}b}", "${UNSET:-a${UNSET:-b}c}", "${UNSET:-${A:-${B:-${C:-deep}}}}", "${SET:-${UNSET:?no}}",
        "${UNSET:-${SET}${ONE}}", "${UNSET:-${SET}-${ONE}}", "${UNSET:-$$SET}", "${UNSET:-$${SET}}", "${UNSET:-{a}}",
        "${UNSET:-{}}", "${UNSET:-a{b}c}", "${UNSET:-${SET:+x}}", "${UNSET:-${SET}}/${UNSET:-b}", "${UNSET:-a}}",
        "${UNSET:-a}b}", "${UNSET:-$}", "${UNSET:-a$}", "${UNSET:-$UNSET}", "${A:-${B}}", "${A:-${B:-}}",
        "${SET:-$1}", "{${SET}}", "{{${SET}}}", "${UNSET:-http://${HOST:-h}:${PORT:-1}/p}",
    ),
    "alternative": (
        "${SET:+r}", "${EMPTY:+r}", "${UNSET:+r}", "${SET+r}", "${EMPTY+r}", "${UNSET+r}", "${SET:+}", "${SET+}",
        "${SET:+$ONE}", "${SET:+${ONE}}", "${SET:+a${ONE}b}", "${SET:+${UNSET:-d}}", "${UNSET:+${SET}}x",
        "${SET:+a-b}", "${SET:+a:-b}", "${SET:++}", "${EMPTY:+}", "${SET:+${SET:+deep}}", "${ONE:+-p ${PORT}}",
    ),
    "required": (
        "${SET:?m}", "${SET?m}", "${EMPTY?m}", "${EMPTY:?m}", "${UNSET:?m}", "${UNSET?m}", "${UNSET?}", "${UNSET:?}",
        "${SET:?}", "${UNSET:?m ${SET}}", "${SET:?${UNSET:?n}}", "${UNSET?a-b}", "${UNSET:-${EMPTY:?m}}",
        "${SET:-${EMPTY:?m}}", "${UNSET:+${EMPTY:?m}}",
    ),
    "which operator is first": (
        "${UNSET-a:-b}", "${UNSET:-a?b}", "${UNSET?a:-b}", "${UNSET+a:-b}", "${SET+a:-b}", "${SET:-a+b}", "${UNSET-a+b}",
        "${UNSET:-a:?b}", "${SET:?a:-b}", "${UNSET-:-b}", "${EMPTY-a:-b}", "${EMPTY:-a-b}",
    ),
    "invalid": (
        "${", "${}", "${ }", "${ SET}", "${SET }", "${1}", "${1SET}", "${-d}", "${:-d}", "${SET", "a${SET", "${SET:}",
        "${SET:d}", "${SET=d}", "${SET:=d}", "${SET/a/b}", "${SET//}", "${SET%x}", "${SET#x}", "${#SET}", "${!SET}",
        "${SET^^}", "${SET,,}", "${SET:1}", "${SET:1:2}", "${SET@Q}", "${SET[0]}", "${SET.a}", "${é}", "${UNSET:-${}}",
        "${UNSET:-${1}}", "${UNSET:-${SET}", "${SET:-${}}", "${SET}${", "${$SET}", "${${SET}}", "${SET\n}", "$${", "${SET;}",
    ),
    "values are not read again": ("$DOLLAR", "${DOLLAR}", "$TWICE", "$NESTED", "${UNSET:-$NESTED}", "${NESTED}", "$BRACE", "${UNSET:-$BRACE}", "$NEW", "$BACK", "$QUOTE"),
}  # fmt: skip

DOTENV = {
    "plain": ("A=1", "A=1\n", "A=1\nB=2\n", "A=1\r\nB=2\r\n", "\n\nA=1\n\n", " A=1", "A =1", "A= 1", "A = 1 ", "A=a b", "\tA=1", "A=1\t", "A=", "A=\nB=2", "A=a=b", "A==b", "\ufeffA=1"),
    "comments": ("# c\nA=1", "A=1 # c", "A=1# c", "A=1 #c", "A=#c", "A= #c", "A='1' # c", "A=\"1\" # c", "A='1'#c", "  # c\nA=1", "A=a#b", "A=\"a # b\"", "A='a # b'", "A=1\n#B=2", "#", "A=1 \t# c"),
    "quotes": ("A='1'", "A=\"1\"", "A=''", "A=\"\"", "A='a b'", "A='a\"b'", "A=\"a'b\"", "A='a\\'b'", "A=\"a\\\"b\"", "A='it''s'", "A='1'2", "A=\"1\"2", "A=1'2'", "A=a\"b\"", "A='", "A=\"", "A='a", "A=\"a\nB=2", "A=' a '", "A='a'\nB=2", "A='a'  \nB=2", "A=\"a\" B=2"),
    "escapes": ("A=\"a\\nb\"", "A='a\\nb'", "A=a\\nb", "A=\"a\\tb\"", "A=\"a\\\\b\"", "A=\"a\\$b\"", "A=\"\\$SET\"", "A='\\$SET'", "A=\\$SET", "A=\"a\\qb\"", "A=\"\\u0041\"", "A=\"a\\rb\"", "A=\"\\0101\"", "A='a\\\\b'", "A=a\\b", "A=\"\\\\n\"", "A=\"a\\", "A='a\\"),
    "many lines": ("A='a\nb'", "A=\"a\nb\"\nB=2", "A='a\n# b\nc'", "A=\"a\n\n b\"", "A='a\r\nb'", "A=a\\\nB=2"),
    "expansion": ("A=$SET", "A=${SET}", "A='$SET'", "A=\"$SET\"", "A=\"${SET}\"", "A=$UNSET", "A=${UNSET:-d}", "A=${UNSET-d}", "A=${EMPTY:-d}", "A=${EMPTY-d}", "A=${SET:+r}", "A=${UNSET:?m}", "A=$$SET", "A=\"$$SET\"", "A=1\nB=$A", "A=1\nB='$A'", "A=1\nB=${A}2\nC=$B", "B=$A\nA=1", "SET=own\nB=$SET", "A=${", "A=${UNSET:-${SET}}", "A=$1", "A=a$", "A=${UNSET:-a b}", "A=\"${UNSET:-a # b}\"", "A=${UNSET:-a # b}", "A=$DOLLAR", "A=$NESTED"),
    "names": ("export A=1", "export  A=1", "export A", "exported=1", "export=1", "A.B=1", "A-B=1", "A_B=1", "A[0]=1", "1A=1", "a=1", "Ä=1", "A B=1", "A,B=1", "A+B=1", "=1", "A", "SET", "SET\nB=1", "UNSET\nB=1", "A\nB", "export SET", "A/B=1", "A@=1", "\"A\"=1", "'A'=1", "$A=1"),
    "yaml style": ("A: 1", "A:1", "A : 1", "A: '1'", "A: a:b", "A=a:b", "A: b=c", "A:", "export A: 1"),
    "twice": ("A=1\nA=2", "A=1\nA=${A}2", "A=1\nA"),
    "odd": ("", "\n", "   ", "A=1\0", "A=1;B=2", "A=1,B=2", "A=[1, 2]", "A={\"a\": 1}", "A=`x`", "A=$(x)", "A=(x)", "A=1\x0bB=2", "A=\u00a01", "A=1\u00a0", "A=\u2028", "A=é"),
}  # fmt: skip


Answer = Mapping[str, str | None] | None


@pytest.mark.bar("loader")
def test_templates(compose_v2: Path, tmp_path: Path, figure: Figure) -> None:
    rows = [row for topic in TEMPLATES.values() for row in topic]
    environ = {**surroundings(tmp_path), **VARIABLES}
    ours: list[Answer] = []
    for row in rows:
        text, faults = interpolate(literal(row), environ.get)
        ours.append(None if faults else {"K": text.value})
    wrong = _wrong(rows, ours, [f"environment: {{K: {json.dumps(row)}}}" for row in rows], compose_v2, tmp_path)
    figure("interpolation rows as compose", f"{len(rows) - len(wrong)} of {len(rows)}", "rows")
    assert wrong == {}


@pytest.mark.bar("loader")
def test_dotenv_files(compose_v2: Path, tmp_path: Path, figure: Figure) -> None:
    rows = [row for topic in DOTENV.values() for row in topic]
    environ = {**surroundings(tmp_path), **VARIABLES}
    ours: list[Answer] = []
    for number, row in enumerate(rows):
        (tmp_path / f"{number}.env").write_bytes(row.encode())
        try:
            ours.append({name: text.value for name, text in load_dotenv(Source("e", row), environ).items()})
        except ComposeError:
            ours.append(None)
    fields = [f"env_file: {tmp_path}/{number}.env" for number in range(len(rows))]
    wrong = _wrong(rows, ours, fields, compose_v2, tmp_path)
    figure("dotenv rows as compose", f"{len(rows) - len(wrong)} of {len(rows)}", "rows")
    assert wrong == {}


def _wrong(
    rows: list[str], ours: list[Answer], fields: list[str], compose: Path, folder: Path
) -> dict[str, tuple[Answer, Answer]]:
    """The rows that compose answers differently: its answer and ours."""
    accepted = [number for number, answer in enumerate(ours) if answer is not None]
    alone = [number for number, answer in enumerate(ours) if answer is None]
    theirs = _answers(accepted, fields, compose, folder / "all")
    if theirs is None:
        # One of them is refused: each for itself tells which.
        alone, theirs = list(range(len(rows))), {}
    with ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda n: (n, _answers([n], fields, compose, folder / str(n))), alone)
        single = {number: None if answer is None else answer[number] for number, answer in found}
    return {rows[n]: (answer, ours[n]) for n, answer in {**theirs, **single}.items() if answer != ours[n]}


def _answers(
    numbers: Iterable[int], fields: list[str], compose: Path, folder: Path
) -> dict[int, Mapping[str, str | None]] | None:
    """What compose says of a project with a service for each of these rows; None when it refuses."""
    folder.mkdir()
    services = "".join(f"  s{number}: {{image: x, {fields[number]}}}\n" for number in numbers)
    (folder / "compose.yaml").write_text(f"services:\n{services}", encoding="utf-8")
    verdict = ask_compose(compose, folder, ("compose.yaml",), VARIABLES)
    if verdict.model is None:
        return None
    held = {name: service.get("environment") or {} for name, service in verdict.model["services"].items()}
    # `config` doubles the dollars, so that its output can be read again; a variable without a name reaches nobody.
    return {int(name[1:]): {k: v and v.replace("$$", "$") for k, v in env.items() if k} for name, env in held.items()}
