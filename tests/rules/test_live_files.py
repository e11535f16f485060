"""From a broker that ended back to the rule and to the line of its file."""

from dataclasses import replace

import pytest

from netdiag.findings import ContainerLocation, FileLocation, Finding
from netdiag.rules.live_files import service_of
from netdiag.rules.run import check_live
from tests.rules.recorded import view_of

SOUND = """\
services:
  kafka:
    image: confluentinc/cp-kafka:7.9.2
    environment:
      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
      KAFKA_BROKER_ID: 1
      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
"""
WILDCARD = SOUND.replace("PLAINTEXT://kafka:9092", "PLAINTEXT://0.0.0.0:9092")
SAYS = "requirement failed: advertised.listeners cannot use the nonroutable meta-address 0.0.0.0. Use a routable IP"
ENDED = f"""
x-observed:
  stopped: {{kafka: "not running, exit code 1: {SAYS}"}}
  logs: {{kafka: ["starting", "java.lang.IllegalArgumentException: {SAYS}", "shutting down"]}}
"""


def files(text: str) -> str:
    return "  files:\n" + "".join(f"    {line}\n" for line in text.splitlines())


def places(finding: Finding) -> list[tuple[str, int | str]]:
    return [
        (at.path, at.line) if isinstance(at, FileLocation) else (at.container, at.part)
        for related in finding.related
        if isinstance(at := related.location, FileLocation | ContainerLocation)
    ]


def test_what_the_container_itself_foretells_is_that_finding_with_the_line_of_the_file() -> None:
    (finding,) = check_live(view_of(WILDCARD + ENDED + files(WILDCARD)))
    assert finding.rule == "advertised-wildcard"
    assert "and so it did: not running" in finding.related[-1].message
    # In these tests the container's place is a line of a file as well.
    assert isinstance(finding.location, FileLocation)


def test_what_only_the_file_foretells_leads_to_its_line() -> None:
    findings = check_live(view_of(SOUND + ENDED + files(WILDCARD)))
    crash = next(finding for finding in findings if finding.rule == "live-config-crash")
    assert crash.why.startswith("advertised-wildcard: ")
    assert places(crash) == [("now/compose.yml", 7)]
    assert "live-file-drift" in {finding.rule for finding in findings}


@pytest.mark.parametrize(
    ("declared", "place"),
    [("", [("kafka", "KAFKA_ADVERTISED_LISTENERS")]), (files(SOUND), [("now/compose.yml", 7)])],
)
def test_what_nothing_foretells_is_read_out_of_the_log(declared: str, place: list[tuple[str, int | str]]) -> None:
    (crash,) = check_live(view_of(SOUND + ENDED + declared))
    assert crash.rule == "live-config-crash"
    assert crash.why == (
        "the broker refuses its configuration of advertised.listeners: advertised-wildcard or "
        "controller-wildcard-on-3.9.0"
    )
    assert crash.hint == "see `netdiag explain advertised-wildcard`, then start kafka again"
    assert places(crash) == place


def test_a_variable_that_is_missing_is_missing_at_the_service() -> None:
    text = SOUND + ENDED.replace(SAYS, "KAFKA_SSL_KEYSTORE_FILENAME is required.") + files(SOUND)
    (crash,) = check_live(view_of(text))
    assert places(crash) == [("now/compose.yml", 2)]
    assert crash.related[0].message == "KAFKA_SSL_KEYSTORE_FILENAME is not set here"


def test_the_sentence_may_stand_anywhere_in_the_log() -> None:
    view = view_of(WILDCARD + ENDED)
    view = replace(view, stopped={"kafka": "not running, exit code 1: java.lang.Error: something later"})
    assert [finding.rule for finding in check_live(view)] == ["advertised-wildcard"]


def test_of_two_containers_of_one_service_nothing_is_said() -> None:
    view = view_of(SOUND + "x-observed:\n" + files(SOUND))
    (broker,) = view.deployment.brokers
    assert service_of(view, broker.member) is not None
    twice = replace(view.deployment, others=(replace(broker.member, name="other-kafka-1"),))
    assert service_of(replace(view, deployment=twice), broker.member) is None
