"""Checking a deployment: the order of findings, which brokers fail to start, and from a line of a log to its rule."""

from netdiag.deployment.observation.live_view import LiveView
from netdiag.findings import FileLocation
from netdiag.rules.declared import DECLARED, check_deployment, failing_to_start
from netdiag.rules.observed import check_live
from netdiag.rules.observed.live_config_crash import STARTUP_ERRORS, explain
from netdiag.rules.rule import DeclaredRule, rule_page
from tests.deployment.stacks import deployment_of, five_brokers
from tests.each import each


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
