"""Every form of interpolation, nested and broken, its value and what each of its characters stands for."""

# ruff: noqa: E501

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netdiag.compose.interpolate import interpolate
from netdiag.compose.positions import Source, Text, assemble, literal
from tests.compose.oracle import ask_compose
from tests.compose.tracing import assert_traced, cut
from tests.each import each
from tests.growth import grows_linearly

VARIABLES = {"SET": "value", "EMPTY": "", "N": "1", "_u": "under", "BRACE": "a}b", "DOLLAR": "$SET", "lower": "low"}

# template -> value
VALUES = {
    "": "", "plain": "plain", "a b": "a b", "5%": "5%", "}": "}", "{SET}": "{SET}",
    "$SET": "value", "${SET}": "value", "$UNSET": "", "${UNSET}": "", "$EMPTY": "", "${EMPTY}": "",
    "a$SET": "avalue", "${SET}b": "valueb", "a${SET}b": "avalueb", "$SET$N": "value1", "${SET}${N}": "value1",
    "$SET-x": "value-x", "$SETx": "", "${SET}x": "valuex", "$SET.x": "value.x", "$SET:9092": "value:9092",
    "$_u": "under", "${_u}": "under", "$lower": "low", "$LOWER": "", "$N1": "", "${N}1": "11",
    "$$": "$", "$$SET": "$SET", "$$$SET": "$value", "$$$$": "$$", "$${SET}": "${SET}", "a$$b": "a$b", "$$$$SET": "$$SET",
    "$": "$", "a$": "a$", "$ SET": "$ SET", "$1": "$1", "$1a": "$1a", "$-": "$-", "$.": "$.", "$(SET)": "$(SET)",
    "a$ b": "a$ b", "$\"": "$\"", "$%": "$%", "$?": "$?", "$\u00e9": "$\u00e9",
    "${SET:-d}": "value", "${EMPTY:-d}": "d", "${UNSET:-d}": "d",
    "${SET-d}": "value", "${EMPTY-d}": "", "${UNSET-d}": "d",
    "${SET:+r}": "r", "${EMPTY:+r}": "", "${UNSET:+r}": "",
    "${SET+r}": "r", "${EMPTY+r}": "r", "${UNSET+r}": "",
    "${SET:?m}": "value", "${SET?m}": "value", "${EMPTY?m}": "", "${SET:?}": "value", "${SET?}": "value",
    "${UNSET:-}": "", "${UNSET-}": "", "${SET:+}": "", "${SET+}": "", "${UNSET:-}x": "x",
    "${UNSET:-a b}": "a b", "${UNSET:-a:b}": "a:b", "${UNSET:-a-b}": "a-b", "${UNSET-a:-b}": "a:-b",
    "${UNSET:-a?b}": "a?b", "${UNSET:-a+b}": "a+b", "${UNSET-:-b}": ":-b", "${UNSET:--1}": "-1", "${UNSET--}": "-",
    "${UNSET:-/a/b}": "/a/b", "${UNSET:-'q'}": "'q'", "${UNSET:-\"q\"}": "\"q\"", "${UNSET:-a\\b}": "a\\b",
    "${UNSET:-PLAINTEXT://localhost:9092}": "PLAINTEXT://localhost:9092", "${UNSET:-\u00e9}": "\u00e9",
    "${UNSET:-$SET}": "value", "${UNSET:-${SET}}": "value", "${UNSET:-a${SET}b}": "avalueb", "${UNSET:-$N$N}": "11",
    "${UNSET:-${UNSET:-d}}": "d", "${UNSET:-${EMPTY:-${SET}}}": "value", "${UNSET-${EMPTY-d}}": "",
    "${SET:+${N}}": "1", "${SET:+${UNSET:-d}}": "d", "${SET+$SET}": "value", "${UNSET:+${SET}}": "",
    "${UNSET:-${UNSET2:-${UNSET3:-deep}}}": "deep", "${UNSET:-$$}": "$", "${UNSET:-$$SET}": "$SET",
    "${UNSET:-a}${SET}": "avalue", "${UNSET:-a}-${UNSET:-b}": "a-b", "${SET:-a}-${UNSET:-b}": "value-b",
    "${UNSET:-a}:${UNSET-b}:${SET:+c}": "a:b:c", "${UNSET:-a} ${UNSET:-b} ${UNSET:-c}": "a b c",
    "${UNSET:-a}}": "a}", "${SET}}": "value}", "{${SET}}": "{value}", "{$SET}": "{value}", "${UNSET:-{a}}": "{a}",
    "${UNSET:-{\"k\": 1}}": "{\"k\": 1}", "${UNSET:-a}{b}": "a{b}", "${UNSET:-a}$": "a$", "${UNSET:-a}$$": "a$",
    "${BRACE}": "a}b", "${BRACE:-d}": "a}b", "$DOLLAR": "$SET", "${DOLLAR:-d}": "$SET", "${UNSET:-$DOLLAR}": "$SET",
    "${SET:-${UNSET:?never}x}": None, "${SET:-$UNSET}": "value",
    "${UNSET:?}": None, "${UNSET?}": None, "${UNSET:?m}": None, "${EMPTY:?m}": None, "${UNSET?m}": None,
    "${UNSET:?needs $SET}": None, "${UNSET:-${UNSET:?m}}": None, "a${UNSET:?m}b": None,
    "${": None, "${}": None, "${ }": None, "${SET": None, "a${SET": None, "${ SET}": None, "${SET }": None,
    "${1}": None, "${1:-a}": None, "${SET!}": None, "${SET/a/b}": None, "${#SET}": None, "${!SET}": None,
    "${SET:-a": None, "${SET:}": None, "${SET=a}": None, "${SET:=a}": None, "${SET.x}": None, "${UNSET:-${}}": None,
    "${SET}${": None, "$${SET}${": None, "${-}": None, "${UNSET:-${SET}": None, "${$SET}": None,
    "http://${SET}:${N}/$EMPTY?q=$$1": "http://value:1/?q=$1", "${N}${N:-2}${UNSET:-3}": "113",
    "PLAINTEXT://$SET:9092,EXTERNAL://${UNSET:-localhost}:1909${N}": "PLAINTEXT://value:9092,EXTERNAL://localhost:19091",
    "${UNSET:-}${EMPTY:-}${SET:+}": "", "$SET ${SET} $$SET": "value value $SET", "tab\t$SET": "tab\tvalue",
    "-${N}": "-1", "${SET}:${N}": "value:1", "'$SET'": "'value'", "%${SET}%": "%value%",
}  # fmt: skip


@each(("template", "value"), VALUES.items())
def test_the_value(template: str, value: str | None) -> None:
    data = template.encode()
    text, faults = interpolate(literal(template), VARIABLES.get)
    assert bool(faults) == (value is None)
    for fault in faults:
        assert cut(data, fault.span) in template
    if value is not None:
        assert text.value == value
    assert_traced(text, {"": data})


def test_compose_gives_the_same_values(compose_v2: Path, tmp_path: Path) -> None:
    rows = {f"K{number}": template for number, template in enumerate(VALUES) if VALUES[template] is not None}
    (tmp_path / "compose.yaml").write_text(_yaml(rows), encoding="utf-8")
    model = ask_compose(compose_v2, tmp_path, ("compose.yaml",), VARIABLES).model
    assert model is not None
    said = {key: value.replace("$$", "$") for key, value in model["services"]["a"]["environment"].items()}
    assert said == {key: VALUES[template] for key, template in rows.items()}
    for number, template in enumerate(template for template, value in VALUES.items() if value is None):
        name = f"refused{number}.yaml"
        (tmp_path / name).write_text(_yaml({"K": template}), encoding="utf-8")
        assert ask_compose(compose_v2, tmp_path, (name,), VARIABLES).model is None, template


def _yaml(values: dict[str, str]) -> str:
    def quoted(text: str) -> str:
        return "'" + text.replace("'", "''") + "'"

    return "services:\n  a:\n    image: x\n    environment:\n" + "".join(
        f"      {key}: {quoted(value)}\n" for key, value in values.items()
    )


def test_faults_point_at_the_expression() -> None:
    template = "a ${UNSET:?because of $SET} b ${"
    text, faults = interpolate(literal(template), VARIABLES.get)
    assert [fault.required for fault in faults] == [True, False]
    assert faults[0].message == "required variable UNSET is missing a value: because of value"
    assert cut(template.encode(), faults[0].span) == "${UNSET:?because of $SET}"
    assert text.value == "a  b ${"


# template, the unset variables
UNSET = [
    ("$A", ("A",)),
    ("${A}${B}$A", ("A", "B")),
    ("${A:-x}", ()),
    ("${A:-}", ()),
    ("${A-$B}", ("B",)),
    ("${A+x}", ()),
    ("${SET:-$B}", ()),
    ("${A:?x}", ("A",)),
    ("$EMPTY$SET", ()),
]


@pytest.mark.parametrize(("template", "names"), UNSET)
def test_unset_variables_are_named(template: str, names: tuple[str, ...]) -> None:
    assert interpolate(literal(template), VARIABLES.get)[0].unset == names


def test_a_slice_keeps_the_variables_at_its_edges() -> None:
    text, _ = interpolate(literal("$A:9092,$B"), VARIABLES.get)
    assert text.slice(0, 0).unset == ("A",)
    assert text.slice(0, 5).unset == ("A",)
    assert text.slice(6, 6).unset == ("B",)
    assert text.slice(1, 5).unset == ()


# template, a part of the value, the expression that it stands for, what can be edited
PLACES = [
    ("x://${H}:9092", "9092", "9092", "9092"),
    ("x://${SET}:9092", "value", "${SET}", None),
    ("x://${H:-host}:9092", "host", "${H:-host}", "host"),
    ("x://${H:-host}:9092", "os", "${H:-host}", "os"),
    ("x://${H:-a${I:-bc}}:9", "bc", "${H:-a${I:-bc}}", "bc"),
    ("x://${H:-a${I:-bc}}:9", "abc", "${H:-a${I:-bc}}", None),
    ("x://$SET", "//value", "//$SET", None),
    ("a$$b", "$", "$$", None),
    ("${H:-$$}b", "$", "${H:-$$}", None),
    ("${SET:+alt}", "alt", "${SET:+alt}", "alt"),
    ("\u00e9 ${H:-\u00e8}\u00e0", "\u00e8", "${H:-\u00e8}", "\u00e8"),
    ("\u00e9 ${H:-\u00e8}\u00e0", "\u00e0", "\u00e0", "\u00e0"),
]


@pytest.mark.parametrize(("template", "part", "expression", "editable"), PLACES)
def test_where_a_part_of_the_value_comes_from(template: str, part: str, expression: str, editable: str | None) -> None:
    data = template.encode()
    source = Source("f", data)
    whole = assemble(source, [(template, 0, len(template))], 0, len(template))
    text, _ = interpolate(whole, VARIABLES.get)
    start = text.value.index(part)
    assert cut(data, text.span_of(start, start + len(part))) == expression
    span = text.edit_span(start, start + len(part))
    assert (None if span is None else cut(data, span)) == editable


def test_a_variable_with_a_place_is_edited_there() -> None:
    env = Source(".env", b"H=kafka")
    held = assemble(env, [("kafka", 2, 7)], 2, 7)
    text, _ = interpolate(literal("x://${H}:9092", path="f"), {"H": held}.get)
    span = text.edit_span(4, 9)
    assert span is not None
    assert (span.path, span.start, span.end) == (".env", 2, 7)
    assert text.edit_span(4, 10) is None
    assert text.slice(4, 9).edit_span(1, 3) == env.span(3, 5)


NAMES = st.sampled_from(["SET", "EMPTY", "UNSET", "N"])
PLAIN = st.text(st.sampled_from("ab:/-?+ {}\u00e9\U0001f600"), max_size=4)
EXPRESSION = st.recursive(
    st.builds("${}".replace("{}", "{{{}}}").format, NAMES) | st.just("$$") | st.builds("${}".format, NAMES) | PLAIN,
    lambda inner: st.builds("${{{}{}{}}}".format, NAMES, st.sampled_from([":-", "-", ":+", "+"]), inner),
    max_leaves=4,
)


@settings(deadline=None)
@given(st.lists(EXPRESSION, max_size=6).map("".join))
def test_every_template_is_traced(template: str) -> None:
    data = template.encode()
    source = Source("f", data)
    whole = assemble(source, [(template, 0, len(template))], 0, len(template))
    text, _ = interpolate(whole, VARIABLES.get)
    assert_traced(text, {"f": data})
    for middle in range(0, len(text.value) + 1, 3):
        assert_traced(text.slice(0, middle), {"f": data})
        assert_traced(text.slice(middle, len(text.value)), {"f": data})


def test_deep_nesting_is_bounded() -> None:
    template = "${A:-" * 5000 + "x" + "}" * 5000
    text, faults = interpolate(literal(template), VARIABLES.get)
    assert faults
    assert isinstance(text, Text)


def test_a_template_of_many_faults_is_told_in_few_and_short_words() -> None:
    _, faults = interpolate(literal("${ " * 50_000), lambda name: None)
    assert 1 <= len(faults) <= 20
    assert all(len(fault.message) < 1100 for fault in faults)


@pytest.mark.parametrize("piece", ["${A:-x},", "${A:-", "${A:-${A:-x}},", "${A:-}\n", "$A,", "$$", "${A}{}"])
def test_time_grows_with_the_length(piece: str) -> None:
    def seconds(count: int) -> float:
        text = literal(piece * count)
        begin = time.process_time()
        interpolate(text, lambda name: "y")
        return time.process_time() - begin

    assert grows_linearly(seconds, 5_000, least=0.03)


@pytest.mark.parametrize(
    ("template", "shown"),
    [
        ("hunter2${A:-hunter2", "'${A:-...'"),
        ("password=hunter2${", "'${'"),
        ("${my name:-hunter2}hunter2", "'${my...'"),
        ("${PASSWORD:-hunter2", "'${PASSWORD:-...'"),
    ],
)
def test_faults_show_no_more_than_how_the_expression_begins(template: str, shown: str) -> None:
    faults = interpolate(literal(template), lambda name: None)[1]
    assert [fault.message for fault in faults] == [f"invalid interpolation format: {shown}"]
