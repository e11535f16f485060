"""Every form of interpolation, nested and broken, its value and what each of its characters stands for."""

# ruff: noqa: E501

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

# ruff: noqa: E501
from netdiag.compose.dotenv import load_dotenv, load_entries
from netdiag.compose.interpolate import interpolate
from netdiag.compose.positions import Source, Text, assemble, literal
from netdiag.compose.problems import ComposeError, Problems
from netdiag.compose.values import Entry, FieldReader, Mapping, Scalar, Scope, go_float, is_null, plain_kind, scoped
from tests.compose.test_merge import tree
from tests.compose.test_oracle import ask_compose
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


# ruff: noqa: E501


# plain scalar -> kind, spelling
KINDS = {
    "": ("null", ""), "~": ("null", ""), "null": ("null", ""), "NULL": ("null", ""), "nUll": ("str", "nUll"),
    "true": ("bool", "true"), "False": ("bool", "false"), "yes": ("str", "yes"), "on": ("str", "on"), "y": ("str", "y"),
    "0": ("int", "0"), "12": ("int", "12"), "-12": ("int", "-12"), "+12": ("int", "12"), "010": ("int", "8"),
    "0o10": ("int", "8"), "0x1f": ("int", "31"), "0b11": ("int", "3"), "1_000": ("int", "1000"), "08": ("float", "8"),
    "18446744073709551615": ("int", "18446744073709551615"), "18446744073709551616": ("float", "1.8446744073709552e+19"),
    "1.5": ("float", "1.5"), "1.50": ("float", "1.5"), "5.": ("float", "5"), ".5": ("float", "0.5"), "1e3": ("float", "1000"),
    "1e6": ("float", "1e+06"), "-.5e-9": ("float", "-5e-10"), ".inf": ("float", "+Inf"), "-.INF": ("float", "-Inf"),
    ".nan": ("float", "NaN"), "1.2.3": ("str", "1.2.3"), "1:30": ("str", "1:30"), "-": ("str", "-"), "0x": ("str", "0x"),
    "1 2": ("str", "1 2"), "2020-01-02": ("time", "2020-01-02 00:00:00 +0000 UTC"),
    "2020-13-02": ("str", "2020-13-02"), "2020-01-02T03:04:05Z": ("time", "2020-01-02 03:04:05 +0000 UTC"),
    "2020-1-2 3:4:5.60": ("time", "2020-01-02 03:04:05.6 +0000 UTC"), "a": ("str", "a"), "-a": ("str", "-a"),
    "1--2": ("str", "1--2"), "0x-1": ("str", "0x-1"), "\u0661": ("str", "\u0661"),
}  # fmt: skip


@each(("written", "kind"), KINDS.items())
def test_plain_scalars(written: str, kind: tuple[str, str]) -> None:
    assert plain_kind(written) == kind


FLOATS = {
    0.0: "0", 1.0: "1", 100000.0: "100000", 1000000.0: "1e+06", 1234567.5: "1.2345675e+06",
    123456.78: "123456.78", 0.0001: "0.0001", 0.00001: "1e-05", 1e21: "1e+21", -2.5e-7: "-2.5e-07", 0.5: "0.5",
}  # fmt: skip


@pytest.mark.parametrize(("number", "spelling"), FLOATS.items())
def test_floats(number: float, spelling: str) -> None:
    assert go_float(number) == spelling


def test_minus_zero() -> None:
    assert go_float(-0.0) == "-0"


def test_paths_are_seen_from_the_project() -> None:
    inside = Scope(folder="d/e", lookup=lambda name: None)
    assert [inside.path(path) for path in ("x", "./x", "../x", "/x")] == ["d/e/x", "d/e/x", "d/x", "/x"]
    assert Scope(folder="", lookup=lambda name: None).path("./x") == "./x"
    assert scoped(Scalar(kind="str", text=literal("x"), scope=inside)) == "d/e/x"
    assert scoped(Scalar(kind="str", text=literal("x"))) == "x"


def test_entries_span_key_and_value() -> None:
    source = Source("f", "k: v")
    key, value = literal("k", path="f"), Scalar(kind="str", text=literal("v", path="f", column=4, start=3))
    entry = Entry(key=key, value=value)
    assert entry.span == source.span(0, 4)
    assert Mapping(entries={"k": entry}, span=entry.span).get("nope") is None
    assert is_null(Scalar(kind="null", text=literal("")))
    assert not is_null(value)


def test_fields_of_the_right_type() -> None:
    problems = Problems()
    reading, fields = (
        FieldReader(problems, "unit"),
        tree("s: a\nn: 12\nt: on\nf: 'false'\nl: [a, b, a]\nm: {k: v}\nz: ~\n"),
    )
    assert str(reading.text(fields, "s")) == "a"
    assert str(reading.text(fields, "n")) == "12"
    assert reading.integer(fields, "n") == 12
    assert (reading.boolean(fields, "t"), reading.boolean(fields, "f"), reading.boolean(fields, "no", True)) == (
        True,
        False,
        True,
    )
    assert [text.value for text in reading.texts(fields, "l")] == ["a", "b", "a"]
    assert [text.value for text in reading.unique_texts(fields, "l")] == ["a", "b"]
    assert [text.value for text in reading.texts(fields, "s")] == ["a"]
    assert reading.mapping(fields, "m") is not None
    assert reading.sequence(fields, "l") is not None
    for read in (reading.text, reading.integer, reading.mapping, reading.sequence):
        assert read(fields, "z") is None
        assert read(fields, "absent") is None
    assert [(name, str(text)) for name, _, text, _, _ in reading.pairs(fields, "m")] == [("k", "v")]
    assert not problems.all()


def test_fields_of_the_wrong_type_are_problems() -> None:
    problems = Problems()
    reading, fields = FieldReader(problems, "unit", service="a"), tree("l: [a]\nm: {k: [v]}\ns: word\nn: 1.5\n")
    assert reading.text(fields, "l") is None
    assert reading.integer(fields, "n") is None
    assert reading.boolean(fields, "s") is False
    assert reading.mapping(fields, "s") is None
    assert reading.texts(fields, "m") == ()
    assert list(reading.pairs(fields, "m")) == []
    found = problems.all()
    assert {problem.message for problem in found} >= {
        "unit.l must be a string", "unit.n must be an integer", "unit.s must be true or false",
        "unit.m must be a list", "unit.m.k must be a string, a number or null",
    }  # fmt: skip
    assert {problem.service for problem in found} == {"a"}


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
