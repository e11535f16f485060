"""Every rule: the written-out lists, what the protocol promises, the docstring as a page."""

from pathlib import Path
from types import ModuleType

import pytest

from netdiag.deployment.observation.live_view import LiveView
from netdiag.findings import FileLocation, Severity, WireLocation
from netdiag.rules import ci, compose, declared, kubernetes, observed, topology, wire
from netdiag.rules.all_rules import ALL
from netdiag.rules.declared import DECLARED, check_deployment, failing_to_start
from netdiag.rules.observed import check_live
from netdiag.rules.observed.live_config_crash import STARTUP_ERRORS, explain
from netdiag.rules.rule import DeclaredRule, Rule, rule_page
from netdiag.rules.wire_findings import during, finding, request, several, size, times, who
from netdiag.traffic.facts import Sighting
from tests.cli.test_main import loaded
from tests.deployment.stacks import deployment_of, five_brokers
from tests.each import each

KINDS: tuple[tuple[ModuleType, tuple[Rule, ...]], ...] = (
    (compose, compose.COMPOSE),
    (declared, declared.DECLARED),
    (ci, ci.CI),
    (kubernetes, kubernetes.KUBERNETES),
    (observed, observed.OBSERVED),
    (wire, wire.WIRE),
    (topology, topology.TOPOLOGY),
)


@pytest.mark.parametrize(("folder", "rules"), KINDS)
def test_the_lists_hold_every_rule_file_under_its_name(folder: ModuleType, rules: tuple[Rule, ...]) -> None:
    paths = sorted(Path(folder.__path__[0]).glob("*.py"))
    files = [path.stem.replace("_", "-") for path in paths if path.stem != "__init__"]
    assert [rule.ID.replace(".", "-") for rule in rules] == files


def test_no_id_stands_twice() -> None:
    assert len({rule.ID for rule in ALL}) == len(ALL) == sum(len(rules) for _, rules in KINDS)


@pytest.mark.parametrize(
    ("module", "not_loaded"),
    [
        ("rules.compose", ("rules.declared", "rules.observed", "topology", "traffic")),
        (
            "rules.declared",
            ("rules.observed", "rules.wire", "rules.topology", "topology", "traffic", "deployment.live"),
        ),
        ("rules.topology", ("rules.compose", "rules.declared", "rules.wire", "deployment", "traffic")),
        ("rules.wire", ("rules.compose", "rules.declared", "rules.topology", "deployment", "topology")),
        ("rules.selection", ("rules.all_rules", "compose", "deployment", "topology", "traffic")),
    ],
)
def test_the_rules_of_one_kind_load_nothing_of_another(
    module: str, not_loaded: tuple[str, ...], tmp_path: Path
) -> None:
    modules = loaded("-c", f"import netdiag.{module}", cwd=tmp_path)
    assert f"netdiag.{module}" in modules
    assert not {name for name in modules if name.startswith(tuple(f"netdiag.{each}" for each in not_loaded))}


NOTHING = deployment_of("name: empty\nservices: {}\n")


@each("rule", DECLARED, ids=lambda rule: rule.ID)
def test_shape(rule: DeclaredRule) -> None:
    assert isinstance(rule.SEVERITY, Severity)
    assert rule.__doc__
    assert list(rule.check(NOTHING)) == []


PAGE = """Title of it.

Why: because
it is.

Bad:
    a: 1
    b: 2  # <- here

Good:
    a: 1

Seen: a line

Sources: KIP-103.
"""


def test_sections() -> None:
    page = rule_page(PAGE)
    assert page.title == "Title of it."
    assert page.why == "because\nit is."
    assert page.bad == "a: 1\nb: 2  # <- here\n"
    assert page.bad_lines == (2,)
    assert page.good == "a: 1\n"
    assert (page.seen, page.sources) == ("a line", "KIP-103.")


@pytest.mark.parametrize("section", ["Why", "Bad", "Good", "Seen", "Sources"])
def test_a_page_without_a_section_is_refused(section: str) -> None:
    with pytest.raises(ValueError, match=f"no section {section}"):
        rule_page(PAGE.replace(f"{section}:", "Else:"))


def test_findings_stand_in_the_order_of_the_file() -> None:
    findings = check_deployment(deployment_of(five_brokers(bind="127.0.0.1", external="10.0.0.1")))
    lines = [f.location.line for f in findings if isinstance(f.location, FileLocation)]
    assert len(lines) == 10
    assert lines == sorted(lines)
    assert check_deployment(deployment_of(five_brokers(bind="127.0.0.1", external="10.0.0.1"))) == findings


def test_only_brokers_that_will_print_a_refusal_are_condemned() -> None:
    text = five_brokers().replace("EXTERNAL://0.0.0.0:9093", "EXTERNAL://10.0.0.1:9093")
    deployment = deployment_of(text)
    assert failing_to_start(check_deployment(deployment), deployment) == {"broker-3"}
    loopback = deployment_of(five_brokers(bind="127.0.0.1"))
    assert failing_to_start(check_deployment(loopback), loopback) == frozenset()


def test_a_broker_whose_address_the_engine_refuses_is_condemned() -> None:
    text = """\
services:
  kafka:
    image: apache/kafka:3.9.1
    networks:
      kafka:
        ipv4_address: 10.6.0.3
networks:
  kafka:
    ipam:
      config: [{subnet: 10.5.0.0/16}]
"""
    deployment = deployment_of(text)
    assert failing_to_start(check_deployment(deployment), deployment) == {"kafka"}


def test_the_reference_cluster_is_silent() -> None:
    assert check_deployment(deployment_of(five_brokers())) == ()


def test_a_log_that_says_what_was_predicted_confirms_the_finding_instead_of_adding_one() -> None:
    deployment = deployment_of(five_brokers(external="10.0.0.1"))
    line = "not running, exit 1: Socket server failed to bind to 10.0.0.1:9091: Cannot assign requested address."
    (first, *_) = check_live(LiveView(deployment=deployment, stopped={"broker-1": line}))
    assert first.rule == "listener-bound-to-foreign-address"
    assert first.related[-1].message == f"the log confirms it: {line}"


def test_a_log_that_says_something_else_is_a_finding_beside_it() -> None:
    deployment = deployment_of(five_brokers(external="10.0.0.1"))
    found = check_live(LiveView(deployment=deployment, stopped={"broker-1": "not running, exit 137: out of memory"}))
    assert [f.rule for f in found if f.service == "broker-1"] == [
        "live-config-crash",
        "listener-bound-to-foreign-address",
    ]


def _predicted(rule: DeclaredRule) -> list[str]:
    found = rule.check(deployment_of(rule_page(rule.__doc__ or "").bad))
    return [finding.broker_prints for finding in found if finding.broker_prints]


PREDICTING = [rule for rule in DECLARED if _predicted(rule)]


@each("rule", PREDICTING, ids=lambda rule: rule.ID)
def test_every_sentence_that_a_rule_predicts_leads_back_to_it(rule: DeclaredRule) -> None:
    for sentence in _predicted(rule):
        explained = explain(("[main] started", f"java.lang.IllegalArgumentException: requirement failed: {sentence} x"))
        assert explained is not None, sentence
        assert rule.ID in explained.rules


def test_it_knows_no_rule_that_is_not_there() -> None:
    assert {rule for refusal in STARTUP_ERRORS for rule in refusal.rules} <= {rule.ID for rule in DECLARED}
    assert len(PREDICTING) >= 36


def test_the_variable_that_a_script_names_is_what_is_meant() -> None:
    explained = explain(("KAFKA_SSL_KEYSTORE_FILENAME is required.",))
    assert explained is not None
    assert (explained.setting, explained.rules) == ("KAFKA_SSL_KEYSTORE_FILENAME", ("secrets-by-listener-name",))


def test_what_no_rule_knows_is_not_explained() -> None:
    assert explain(("OutOfMemoryError: Java heap space", "")) is None


SEEN = Sighting(client="10.0.0.9:4000", broker="10.0.0.2:9092", client_id="app", packet=7, file="a.pcap", time=5)


def test_a_finding_names_its_culprit() -> None:
    found = finding("r", Severity.NOTE, SEEN, "m")
    assert found.location == WireLocation(
        file="a.pcap", packet=7, time=5, client="10.0.0.9:4000", broker="10.0.0.2:9092"
    )
    assert (found.service, found.listener) == ("app", "10.0.0.2:9092")
    nameless = finding("r", Severity.NOTE, Sighting(client="10.0.0.9:4000"), "m")
    assert (nameless.service, nameless.listener) == ("10.0.0.9", None)


def test_a_client_is_its_id_and_its_address() -> None:
    assert who(SEEN) == "client app at 10.0.0.9"
    assert who(Sighting(client="10.0.0.9:4000")) == "a client at 10.0.0.9"
    assert who(Sighting()) == "a client at an unknown address"


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.2, "less than a second"), (90, "90 s"), (600, "10 min"), (9000, "2.5 h")]
)
def test_spans(seconds: float, words: str) -> None:
    assert during(seconds) == words


def test_counts_sizes_and_lists() -> None:
    assert [times(count) for count in (1, 2, 3)] == ["once", "twice", "3 times"]
    assert [size(count) for count in (12, 1500, 2e6, 3e9)] == ["12 bytes", "1.5 kB", "2.0 MB", "3.0 GB"]
    assert (several("ab"), several("abcde")) == ("a, b", "a, b, c and 2 more")
    assert (request(3), request(999)) == ("Metadata", "API_KEY(999)")
