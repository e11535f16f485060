"""The URLs of services beside the brokers, as text and as JSON: what fails first, prediction beside observation."""

import json
from dataclasses import replace

import jsonschema
import pytest

from netdiag.deployment.model.verdict import Address, Answered, Contact, Failed, Mechanism, Reason, Unknown
from netdiag.deployment.neighbours import UrlCell
from netdiag.findings import ContainerLocation
from netdiag.render.formats.json import render as render_json
from netdiag.render.formats.text import render
from netdiag.render.report import Input, Report, UrlRow
from netdiag.render.screen import Screen
from tests.render.schemas import strict_schema

OK = Answered(node_id=None, cluster_id=None, because="registry answers there", member="registry")
REFUSED = Failed(
    reason=Reason.REFUSED, because="registry port 8085 has no listener", mechanism=Mechanism.NOBODY_LISTENS
)
SCHEMA = strict_schema("check-listeners.v1.json")


def cell(port: int, predicted: Contact, observed: Contact | None = None, *, setting: str = "REGISTRY_URL") -> UrlCell:
    return UrlCell(
        source="console",
        setting=setting,
        scheme="http",
        address=Address(host="registry", port=port),
        target="registry",
        where=ContainerLocation(container="console", part="REGISTRY_URL"),
        predicted=predicted,
        observed=observed,
    )


def report(*cells: UrlCell) -> Report:
    return Report(
        inputs=(Input(name="c.yml", brokers=("kafka",)),), urls=tuple(UrlRow(input="c.yml", cell=one) for one in cells)
    )


def test_text_has_what_fails_first() -> None:
    cells = (cell(8081, OK), cell(8082, Unknown(because="nobody knows")), cell(8085, REFUSED))
    text = render(report(*cells), Screen(width=100))
    assert text.splitlines()[:6] == [
        "URLs of services beside the brokers  (predicted)",
        "  console → http://registry:8085 (REGISTRY_URL)  refused",
        "    registry port 8085 has no listener",
        "  console → http://registry:8082 (REGISTRY_URL)  unknown",
        "    nobody knows",
        "  console → http://registry:8081 (REGISTRY_URL)  ok",
    ]
    assert "URLs" not in render(report(*cells), Screen(width=100), matrix=False)


def test_text_shows_a_prediction_that_was_wrong() -> None:
    other = replace(OK, member="web", because="web answers there")
    cells = (cell(8081, OK, REFUSED), cell(8085, REFUSED, OK), cell(8083, OK, other, setting=""))
    text = render(report(*cells), Screen(width=100))
    assert text.splitlines()[:7] == [
        "URLs of services beside the brokers  (observed)",
        "  console → http://registry:8081 (REGISTRY_URL)  refused",
        "    registry port 8085 has no listener; predicted: ok",
        "  console → http://registry:8083 (advertised by registry)  wrong-service",
        "    web answers there; predicted: ok",
        "  console → http://registry:8085 (REGISTRY_URL)  ok; predicted: refused",
        "",
    ]


def test_long_lists_are_cut() -> None:
    lines = render(report(*(cell(port, OK) for port in range(1, 100))), Screen(width=100)).splitlines()
    assert lines[41] == "  59 more; --format json has all"


@pytest.mark.parametrize(
    ("predicted", "observed", "agrees"),
    [(OK, OK, True), (OK, REFUSED, False), (REFUSED, None, None), (Unknown(because="?"), OK, None)],
)
def test_json(predicted: Contact, observed: Contact | None, agrees: bool | None) -> None:
    value = json.loads(render_json(report(cell(8081, predicted, observed))))
    jsonschema.validate(value, SCHEMA)
    (url,) = value["urls"]
    assert (url["source"], url["url"], url["setting"], url["agrees"]) == (
        "console",
        "http://registry:8081",
        "REGISTRY_URL",
        agrees,
    )


def test_what_is_foreign_is_escaped() -> None:
    hostile = replace(cell(8081, REFUSED), source="con\x1b[2Jsole", setting="A\nB")
    assert "\x1b" not in render(report(hostile), Screen(width=100))
