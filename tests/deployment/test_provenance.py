"""Findings tell how their value came to where it counts."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from netdiag.compose.positions import Span
from netdiag.compose.problems import Origin
from netdiag.deployment.sources.compose_text import OriginIndex
from netdiag.findings import FileLocation, Finding
from tests.app.checks import report_of
from tests.cli.shell import BROKEN, CLEAN

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


def span_of_bytes(start: int, end: int) -> Span:
    """A stretch of a file of one line."""
    return Span(path="f", start=start, end=end, line=1, column=start + 1, end_line=1, end_column=end + 1)


SPANS = st.tuples(st.integers(0, 30), st.integers(0, 8)).map(lambda p: span_of_bytes(p[0], p[0] + p[1]))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(SPANS, max_size=12), SPANS)
def test_the_variables_at_a_place_are_those_that_touch_it(areas: list[Span], place: Span) -> None:
    origins = [Origin(area=area, by=area, how="variable", name=str(n)) for n, area in enumerate(areas)]
    assert OriginIndex(origins).given(place) == [origin for origin in origins if origin.covers(place)]
