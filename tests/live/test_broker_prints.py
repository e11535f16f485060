"""What a rule says the broker will print is what the real broker prints: every such Bad example is started."""

import re
import time
from pathlib import Path

import pytest

from netdiag.rules.all_rules import DECLARED
from netdiag.rules.document import rule_page
from netdiag.rules.rule import DeclaredRule
from tests.deployment.stacks import deployment_of
from tests.figures import Report
from tests.lab.lab import Lab
from tests.lab.stack import Stack

# Brokers in ZooKeeper mode are started only once their ZooKeeper answers.
ZOOKEEPER = """\
  zookeeper:
    image: confluentinc/cp-zookeeper:7.9.2
    environment: {ZOOKEEPER_CLIENT_PORT: 2181, KAFKA_HEAP_OPTS: -Xmx128m}
"""


CP_KAFKA, CP_ZOOKEEPER = "confluentinc/cp-kafka:7.9.2", "confluentinc/cp-zookeeper:7.9.2"
KRAFT_3, KRAFT_4 = "apache/kafka:3.9.1", "apache/kafka:4.3.1"


def images(text: str) -> set[str]:
    """The images that a compose file names."""
    return set(re.findall(r"image: (\S+)", text))


def bad_example(rule: DeclaredRule, image: str | None) -> str:
    """The rule's Bad example, on `image` instead of the apache/kafka it names where one is given."""
    text = rule_page(rule.__doc__ or "").bad
    return text.replace(KRAFT_3, image) if image else text


def sentences(rule: DeclaredRule, image: str | None = None) -> dict[str, str]:
    """What the rule foretells of its own Bad example, by service."""
    found = rule.check(deployment_of(bad_example(rule, image)))
    return {f.service: f.broker_prints for f in found if f.service and f.broker_prints}


FORETELLING = tuple(rule for rule in DECLARED if sentences(rule))
# The images that the lab can stand in for: a sentence of another version is read in its source, not run.
IN_THE_LAB = {CP_KAFKA, CP_ZOOKEEPER, KRAFT_3, KRAFT_4}
CASES = tuple(
    (rule, image)
    for rule in FORETELLING
    for image in (None, KRAFT_4)
    if (image is None or KRAFT_3 in bad_example(rule, None)) and images(bad_example(rule, image)) <= IN_THE_LAB
)


def stack_of(rule: DeclaredRule, image: str | None = None) -> str:
    """The Bad example, with the ZooKeeper that it names."""
    text = f"name: prints\n{bad_example(rule, image)}"
    return text.replace("services:\n", f"services:\n{ZOOKEEPER}", 1) if "zookeeper:2181" in text else text


def has_ended(stack: Stack, service: str, *, within: float = 90) -> bool:
    """Whether the container of a service ends within so many seconds."""
    deadline = time.monotonic() + within
    while stack.state(service).is_running and time.monotonic() < deadline:
        time.sleep(0.2)
    return not stack.state(service).is_running


def test_what_cannot_be_run_here_is_known() -> None:
    run = {rule.ID for rule, _ in CASES}
    assert {rule.ID for rule in FORETELLING} - run == {
        "bitnami-legacy-switches",
        "controller-wildcard-on-3.9.0",
        "image-env-alias-ignored",
        "image-version-breaks-mode",
        "kraft-controller-advertised",
        "wurstmeister-listeners-missing",
    }
    assert len(run) >= 20


@pytest.mark.bar("broker-prints")
@pytest.mark.parametrize(("rule", "image"), CASES, ids=[f"{rule.ID} {image or ''}".strip() for rule, image in CASES])
def test_the_real_broker_prints_it(
    lab: Lab, tmp_path: Path, rule: DeclaredRule, image: str | None, figure: Report
) -> None:
    file = tmp_path / "compose.yml"
    file.write_text(stack_of(rule, image), encoding="utf-8")
    foretold = sentences(rule, image)
    with lab.up(file, wait="none") as stack:
        for service, sentence in foretold.items():
            assert has_ended(stack, service), f"{service} still runs: {stack.logs(service)[-2000:]}"
            assert sentence in stack.logs(service)
    figure(f"{rule.ID}: sentences found in the log of a real broker", len(foretold))
