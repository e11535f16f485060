"""Values of compose files as written: places, edits, and how a value came to where it counts."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from netdiag.compose.load import load
from netdiag.compose.positions import Source, Text, concatenated, literal, substituted
from netdiag.compose.problems import Origin
from netdiag.deployment.model.deployment import Member, MemberEditor
from netdiag.deployment.sources.compose import from_compose
from netdiag.deployment.sources.compose_text import ComposeValue, OriginIndex, ScatteredValue, comma_list
from netdiag.findings import Edit, FileLocation, Finding
from tests.app.checks import report_of
from tests.cli.shell import BROKEN, CLEAN

A = literal("a://h:1", "compose.yml", line=3, column=5, start=40)
B = literal("b://k:22", "compose.yml", line=4, column=7, start=60)


def test_one_text_alone_is_itself() -> None:
    value = comma_list("--kafka-addr", [A])
    assert isinstance(value, ComposeValue)
    assert (value.variable, value.value) == ("--kafka-addr", "a://h:1")
    assert value.at(4, 5) == A.span_of(4, 5)


def test_a_list_of_texts_is_one_value() -> None:
    value = comma_list("--kafka-addr", [A, B])
    assert value.value == "a://h:1,b://k:22"
    assert value.at(8, 16) == B.span
    assert value.at(12, 13) == B.span_of(4, 5)
    whole = value.at()
    assert isinstance(whole, FileLocation)
    assert (whole.start, whole.end, whole.line, whole.end_line) == (40, 68, 3, 4)


def test_edits_stay_inside_one_piece() -> None:
    value = comma_list("--kafka-addr", [A, B])
    assert value.edit(14, 16, "33") == Edit(path="compose.yml", start=66, end=68, replacement="33")
    assert value.edit(4, 12, "x") is None
    assert value.edit(7, 8, ";") is None  # the comma is nobody's
    assert value.edit(16, 16, "0") == Edit(path="compose.yml", start=68, end=68, replacement="0")


def test_pieces_of_other_files_point_at_the_first() -> None:
    other = literal("c://m:3", "other.yml", line=1, column=1, start=2)
    value = ScatteredValue(variable="v", value="a://h:1,c://m:3", pieces=[(0, A), (8, other)])
    assert value.at().path == "compose.yml"
    assert value.at(8, 9).path == "other.yml"
    assert value.blanks == ()


def test_texts_set_end_to_end() -> None:
    text = concatenated([A, B])
    assert text.value == "a://h:1b://k:22"
    assert text.span_of(0, 7).start == 40
    assert text.span_of(7, 15).start == 60
    span = text.edit_span(13, 15)
    assert span is not None
    assert (span.start, span.end) == (66, 68)
    assert text.edit_span(5, 9) is None


def test_an_expanded_variable_is_shown_where_it_is_used_and_edited_where_it_is_set() -> None:
    place = literal("$L", "compose.yml", line=9, column=3, start=100)
    text = substituted(place.span, A, "L", place.source)
    assert text.value == A.value
    assert text.span_of(4, 5).line == 9
    span = text.edit_span(4, 5)
    assert span is not None
    assert (span.start, span.end) == (44, 45)


def test_an_expanded_variable_of_nowhere_cannot_be_edited() -> None:
    made = Text(value="x", span=A.span)
    assert substituted(B.span, made, "L", B.source).edit_span(0, 1) is None


BASE = "services:\n  k:\n    image: i\n    environment:\n      A: 1\n"


def member(base: str, override: str | None = None) -> Member:
    overrides = () if override is None else (Source("o.yml", override),)
    return from_compose(load(Source("c.yml", base), overrides=overrides, default_name="t")).by_name["k"]


def written(base: str, override: str | None = None) -> MemberEditor:
    found = member(base, override).editor
    assert found is not None
    return found


def test_a_variable_goes_beside_its_neighbour_into_the_file_that_has_it() -> None:
    override = "services:\n  k:\n    environment:\n      B: 2\n"
    first = written(BASE, override).add_variable("X", "1", "A")
    second = written(BASE, override).add_variable("X", "1", "B")
    assert first == Edit(path="c.yml", start=len(BASE) - 1, end=len(BASE) - 1, replacement="\n      X: 1")
    assert second == Edit(path="o.yml", start=len(override) - 1, end=len(override) - 1, replacement="\n      X: 1")


def test_a_variable_with_two_places_is_not_taken_away() -> None:
    override = "services:\n  k:\n    environment:\n      A: 2\n      B: 3\n"
    assert written(BASE, override).remove_variable("A") is None
    assert written(BASE, override).remove_variable("B") is not None


def test_what_a_merge_key_brings_is_not_taken_away_but_can_be_renamed() -> None:
    text = "x: &x\n  A: 1\nservices:\n  k:\n    image: i\n    environment:\n      <<: *x\n      B: 2\n      C: 3\n"
    assert written(text).remove_variable("A") is None
    assert written(text).rename_variable("A", "Z") == Edit(path="c.yml", start=8, end=9, replacement="Z")
    added = written(text).add_variable("X", "1", "A")
    assert added is not None
    assert added.start == len(text) - 1


def test_a_number_out_of_a_variable_is_left_alone() -> None:
    for entry in ('"${P:-9092}:9092"', '"9092-9093:9092-9093"'):
        text = f"services:\n  k:\n    image: i\n    ports: [{entry}]\n"
        service = member(text)
        assert service.editor is not None
        assert service.editor.change_port(service.published[0], published=1) is None


def test_ports_that_come_from_elsewhere_get_no_second_list() -> None:
    text = "services:\n  b:\n    image: i\n    ports: ['1:1']\n  k:\n    extends: b\n    environment: {A: 1}\n"
    assert written(text).add_port(2, 2) is None


RULE = "listener-bound-to-foreign-address"
LISTENERS = "      KAFKA_LISTENERS: EXTERNAL://1.2.3.4:9092  # why\n"
REST = BROKEN.replace(LISTENERS, "")
MOVED = REST.replace("    environment:", "    env_file: kafka.env\n    environment:")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path


def found(*chain: str, **files: str) -> tuple[Finding, dict[str, bytes]]:
    """The one finding on these files (`_` for `.`), and the sources that may be shown."""
    for name, text in files.items():
        Path(name.replace("_", ".")).write_text(text, encoding="utf-8")
    report = report_of(project_files=chain or ("compose.yaml",))
    (finding,) = (f for f in report.findings if f.rule == RULE)
    return finding, dict(report.sources)


def places(finding: Finding) -> list[tuple[str, int, str]]:
    """Where the finding is, and its steps; the rule's own related place, the port, is left out."""
    steps = [related for related in finding.related if "through this port" not in related.message]
    said = [(finding.location, "")] + [(related.location, related.message) for related in steps]
    return [(at.path, at.line, text) for at, text in said if isinstance(at, FileLocation)]


def test_a_variable_of_dotenv() -> None:
    finding, _ = found(compose_yaml=BROKEN.replace("1.2.3.4", "${BIND}"), _env="A=1\nBIND=1.2.3.4\n")
    assert places(finding)[-1] == (".env", 2, "the value of BIND")


def test_an_env_file() -> None:
    finding, _ = found(compose_yaml=MOVED, kafka_env="KAFKA_LISTENERS=EXTERNAL://1.2.3.4:9092\n")
    assert places(finding) == [("kafka.env", 1, ""), ("compose.yaml", 5, "loaded by this env_file")]


def test_an_extended_service() -> None:
    text = "services:\n  kafka:\n    extends:\n      file: base.yaml\n      service: kafka\n"
    finding, _ = found(compose_yaml=text, base_yaml=BROKEN)
    assert places(finding) == [("base.yaml", 8, ""), ("compose.yaml", 3, "extended by this service")]


def test_an_included_file() -> None:
    finding, _ = found(compose_yaml="include:\n  - base.yaml\n", base_yaml=BROKEN)
    assert places(finding) == [("base.yaml", 8, ""), ("compose.yaml", 2, "included here")]


def test_an_alias() -> None:
    text = "x-kafka: &kafka\n" + BROKEN.split("  kafka:\n")[1] + "services:\n  kafka: *kafka\n"
    finding, _ = found(compose_yaml=text)
    assert places(finding) == [("compose.yaml", 7, ""), ("compose.yaml", 12, "inserted by this alias")]


def test_an_override() -> None:
    over = "services:\n  kafka:\n    environment:\n      KAFKA_LISTENERS: EXTERNAL://1.2.3.4:9092\n"
    finding, _ = found("compose.yaml", "over.yaml", compose_yaml=CLEAN, over_yaml=over)
    assert places(finding) == [("over.yaml", 4, ""), ("compose.yaml", 8, "this value is overridden")]


def test_what_stands_in_its_service_has_no_way_to_tell() -> None:
    finding, sources = found(compose_yaml=BROKEN)
    assert places(finding) == [("compose.yaml", 8, "")]
    assert set(sources) == {"compose.yaml"}


@pytest.mark.parametrize("name", ["link.env", "../outside.env"])
def test_the_text_of_a_file_out_of_the_tree_is_not_shown(folder: Path, name: str) -> None:
    (folder / "outside.env").write_text("KAFKA_LISTENERS=EXTERNAL://1.2.3.4:9092\n", encoding="utf-8")
    Path("link.env").symlink_to(folder / "outside.env")
    finding, sources = found(compose_yaml=MOVED.replace("kafka.env", name))
    assert places(finding)[0] == (name, 1, "")
    assert set(sources) == {"compose.yaml"}


def span_of_bytes(start: int, end: int) -> FileLocation:
    """A stretch of a file of one line."""
    return FileLocation(path="f", start=start, end=end, line=1, column=start + 1, end_line=1, end_column=end + 1)


SPANS = st.tuples(st.integers(0, 30), st.integers(0, 8)).map(lambda p: span_of_bytes(p[0], p[0] + p[1]))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(SPANS, max_size=12), SPANS)
def test_the_variables_at_a_place_are_those_that_touch_it(areas: list[FileLocation], place: FileLocation) -> None:
    origins = [Origin(area=area, by=area, kind="variable", name=str(n)) for n, area in enumerate(areas)]
    assert OriginIndex(origins).given(place) == [origin for origin in origins if origin.covers(place)]
