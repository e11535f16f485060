"""Variables and ports are added and taken away in whatever style a file is written."""

import pytest

from netdiag.compose.load import load
from netdiag.compose.positions import Source
from netdiag.compose.service_edits import ServiceLayout, quotes_around, service_layouts
from netdiag.findings import Edit
from tests.each import each

MAP = "services:\n  k:\n    image: i\n    environment:\n      A: 1  # one\n      B: 'two'\n"
LIST = 'services:\n  k:\n    image: i\n    environment:\n    - A=1 # one\n    -   "B=two"\n'
FLOW = "services: {k: {image: i, environment: {A: 1, 'B': 'two'}, ports: ['1:1']}}\n"
FLOW_LIST = "services: {k: {image: i, environment: [A=1, 'B=two'], ports: []}}\n"


def layout(text: str) -> ServiceLayout:
    (found,) = service_layouts([Source("c.yml", text)], ("services", "k"))
    return found


def changed(text: str, change: Edit | None) -> str:
    assert change is not None
    data = text.encode()
    return (data[: change.start] + change.replacement.encode() + data[change.end :]).decode()


@each(
    ("text", "beside", "expected"),
    [
        (MAP, "A", MAP.replace("# one\n", "# one\n      X: a://:1,b://:2\n")),
        (MAP, "B", MAP + "      X: 'a://:1,b://:2'\n"),
        (MAP, None, MAP + "      X: 'a://:1,b://:2'\n"),
        (MAP[:-1], "B", MAP + "      X: 'a://:1,b://:2'"),
        (LIST, "A", LIST.replace("# one\n", "# one\n    - X=a://:1,b://:2\n")),
        (LIST, "B", LIST + '    -   "X=a://:1,b://:2"\n'),
        (FLOW, "A", FLOW.replace("A: 1", 'A: 1, X: "a://:1,b://:2"')),
        (FLOW, "B", FLOW.replace("'two'", "'two', 'X': 'a://:1,b://:2'")),
        (FLOW_LIST, "A", FLOW_LIST.replace("A=1", 'A=1, "X=a://:1,b://:2"')),
        # behind a block of text no line can be put without becoming part of it
        (
            MAP.replace("'two'", "|\n        two\n"),
            "B",
            MAP.replace("B: 'two'", "X: a://:1,b://:2\n      B: |\n        two\n"),
        ),
        # no environment yet
        (
            "services:\n  k:\n    image: i # why\n",
            None,
            "services:\n  k:\n    image: i # why\n    environment:\n      X: a://:1,b://:2\n",
        ),
    ],
)
@each("line_end", ["\n", "\r\n"])
@each("head", ["", "\ufeff", "# K\u00e4se \U0001f600\n"])
def test_a_variable_more(text: str, beside: str | None, expected: str, line_end: str, head: str) -> None:
    text, expected = ((head + each).replace("\n", line_end) for each in (text, expected))
    after = changed(text, layout(text).add_variable("X", "a://:1,b://:2", beside))
    assert after == expected
    project = load(Source("c.yml", after), default_name="t")
    value = project.services["k"].environment["X"].value
    assert value is not None
    assert value.value == "a://:1,b://:2"


@pytest.mark.parametrize(
    "environment",
    ["*other", "", "{}", "[]", "{<<: *other}"],
)
def test_where_a_variable_cannot_be_put_soundly(environment: str) -> None:
    text = f"x: &other {{A: 1}}\nservices:\n  k:\n    image: i\n    environment: {environment}\n"
    assert layout(text).add_variable("X", "1", None) is None


def test_what_is_not_written_may_come_from_elsewhere() -> None:
    text = "x: &base {environment: {A: 1}}\nservices:\n  k:\n    <<: *base\n    image: i\n"
    assert layout(text).add_variable("X", "1", "A") is None
    assert layout(text).add_port("1:1") is None


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        (MAP, "A", MAP.replace("      A: 1  # one\n", "")),
        (MAP, "B", MAP.replace("      B: 'two'\n", "")),
        (MAP[:-1], "B", MAP.replace("\n      B: 'two'\n", "")),
        (LIST, "A", LIST.replace("    - A=1 # one\n", "")),
        (FLOW, "A", FLOW.replace("A: 1, ", "")),
        (FLOW, "B", FLOW.replace(", 'B': 'two'", "")),
        (FLOW_LIST, "B", FLOW_LIST.replace(", 'B=two'", "")),
    ],
)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_variable_less(text: str, name: str, expected: str, line_end: str) -> None:
    text, expected = text.replace("\n", line_end), expected.replace("\n", line_end)
    assert changed(text, layout(text).remove_variable(name)) == expected


def test_the_only_variable_stays() -> None:
    assert layout("services: {k: {environment: {A: 1}}}").remove_variable("A") is None
    assert layout("services: {k: {environment: {A: 1}}}").remove_variable("B") is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (FLOW, FLOW.replace("'1:1'", "'1:1', '2:3'")),
        (FLOW_LIST, FLOW_LIST.replace("ports: []", 'ports: ["2:3"]')),
        (MAP, MAP.replace("image: i\n", 'image: i\n    ports: ["2:3"]\n')),
        (MAP + "    ports:\n      - 1:1\n", MAP + '    ports:\n      - 1:1\n      - "2:3"\n'),
        (MAP + "    ports:\n    - '1:1'", MAP + "    ports:\n    - '1:1'\n    - '2:3'"),
        (
            MAP + "    ports:\n      - target: 1\n        published: 1\n",
            MAP + '    ports:\n      - target: 1\n        published: 1\n      - "2:3"\n',
        ),
    ],
)
def test_a_port_more(text: str, expected: str) -> None:
    after = changed(text, layout(text).add_port("2:3"))
    assert after == expected
    assert (2, 3) in [
        (port.published, port.target) for port in load(Source("c.yml", after), default_name="t").services["k"].ports
    ]


def test_a_plain_scalar_in_braces_needs_quotes_for_a_comma() -> None:
    source = Source("c.yml", "services: {k: {environment: {A: x://y}}}\n")
    start = source.text.index("x://")
    found = quotes_around(source, start)
    assert found is not None
    assert [(change.start, change.replacement) for change in found] == [(start, '"'), (start + 5, '"')]
    assert quotes_around(Source("c.yml", MAP), MAP.index("1  #")) is None
    assert quotes_around(Source("c.yml", FLOW), FLOW.index("'two'")) is None
