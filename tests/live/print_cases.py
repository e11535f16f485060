"""What is started to see a broker print what a rule predicts: Bad examples, and defects put into correct stacks."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from netdiag.rules.declared import DECLARED
from netdiag.rules.rule import DeclaredRule, rule_page
from tests.deployment.stacks import deployment_of
from tests.lab.image_set import APACHE_3, APACHE_4, CP_KAFKA, CP_ZOOKEEPER
from tests.live.examples import clients, images, startable, text_of
from tests.mutations.bases import BASES
from tests.mutations.defect import Defect
from tests.mutations.defects import IMAGES, KRAFT, LISTENER_DEFECTS
from tests.mutations.stack import Stack

# The images that the lab can stand in for: a sentence of another version is read in its source, not run.
IN_THE_LAB = {CP_KAFKA, CP_ZOOKEEPER, APACHE_3, APACHE_4}
_RULES = {rule.ID: rule for rule in DECLARED}
# Correct stacks of one broker, and the image that the lab has of that family.
_MUTATED = (
    ("apache-combined-1", APACHE_3),
    ("apache-combined-1", APACHE_4),
    ("confluent-combined-1", CP_KAFKA),
    ("confluent-zookeeper-1", CP_KAFKA),
)
_NAMES = "KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER\n"
_BROKER = "KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092\n      "
_CLUSTER, _OTHER_CLUSTER = "cluster.id=MkU3OEVBNTcwNTJENDM2Qg", "cluster.id=0Qftv9yBTAmf2iDPSlIk7g"


def _as_pem(store: str) -> tuple[str, str]:
    """The end of keystore-unusable's Bad example, and the same with this store, which is configured as PEM."""
    end = '{}\n    volumes: ["./secrets:/secrets:ro"]\nx-certificates:\n  secrets/kafka.pem: {}'
    return (
        end.format("KAFKA_SSL_KEYSTORE_PASSWORD: example", "{names: [kafka]}"),
        end.format("KAFKA_SSL_KEYSTORE_TYPE: PEM", store),
    )


# What else a rule predicts: its Bad example with another text in place of one.
_VARIANTS = (
    ("kraft-controller-listener-missing", "unset", _NAMES, "KAFKA_NUM_PARTITIONS: 1\n"),
    ("kraft-controller-listener-missing", "empty", _NAMES, 'KAFKA_CONTROLLER_LISTENER_NAMES: ""\n'),
    ("kraft-controller-unmapped", "unset", _BROKER + _NAMES, _BROKER + "KAFKA_NUM_PARTITIONS: 1\n"),
    ("kraft-controller-unmapped", "empty", _BROKER + _NAMES, _BROKER + 'KAFKA_CONTROLLER_LISTENER_NAMES: ""\n'),
    ("kraft-voters-loopback", "wildcard", "1@localhost:9093,2@localhost", "1@kafka-1:9093,2@0.0.0.0"),
    ("advertised-placeholder", "brackets", "YOUR_HOST_IP", "<your-ip>"),
    ("stale-data-directory", "node", f"{_OTHER_CLUSTER}\n    node.id=1", f"{_CLUSTER}\n    node.id=2"),
    ("stale-data-directory", "unreadable", "version=1", "version=7"),
    ("keystore-unusable", "password", "kafka.pem", "kafka.p12"),
    ("keystore-unusable", "traditional-key", *_as_pem("{names: [kafka], key: traditional}")),
    ("keystore-unusable", "no-key", *_as_pem("{trusts: [Authority]}")),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintCase:
    """A compose file that the lab can start, and what the rule predicts of it, by service."""

    rule: str
    name: str
    text: str
    predicted: tuple[tuple[str, str], ...]


def bad_example(rule: DeclaredRule) -> str:
    """The rule's Bad example."""
    return rule_page(rule.__doc__ or "").bad


def sentences(rule: DeclaredRule, text: str) -> tuple[tuple[str, str], ...]:
    """What the rule predicts of a file, by service."""
    found = rule.check(deployment_of(text))
    return tuple((f.service, f.broker_prints) for f in found if f.service and f.broker_prints)


@cache
def predicting() -> tuple[DeclaredRule, ...]:
    """The rules that predict a sentence of their own Bad example."""
    return tuple(rule for rule in DECLARED if sentences(rule, bad_example(rule)))


@cache
def of_examples() -> tuple[PrintCase, ...]:
    """Each Bad example on the image that it names, and one for apache/kafka 3.9 on 4.x as well."""
    return tuple(case for case in _examples() if case.predicted)


@cache
def of_mutants() -> tuple[PrintCase, ...]:
    """Each defect of such a rule in a correct stack of one broker of each kind, on the images of the lab."""
    return tuple(case for case in (*_variants(), *_mutants()) if case.predicted)


def _examples() -> Iterator[PrintCase]:
    for rule in predicting():
        written = bad_example(rule)
        for text in dict.fromkeys((written, written.replace(APACHE_3, APACHE_4))):
            if images(text_of(startable(text))) - IN_THE_LAB:
                continue
            name = rule.ID if text == written else f"{rule.ID} {APACHE_4}"
            yield _case(rule, name, text_of(startable(text)))


def _variants() -> Iterator[PrintCase]:
    for rule, name, old, new in _VARIANTS:
        written = bad_example(_RULES[rule])
        assert old in written, f"{rule} {name}: the Bad example has no {old}"
        changed = written.replace(old, new)
        for text in dict.fromkeys((changed, changed.replace(APACHE_3, APACHE_4))):
            label = "" if text == changed else f" {APACHE_4}"
            yield _case(_RULES[rule], f"{rule} {name}{label}", text_of(startable(text)))


def _mutants() -> Iterator[PrintCase]:
    for defect in (*LISTENER_DEFECTS, *KRAFT, *IMAGES):
        for base, image in _MUTATED:
            if not defect.where(BASES[base]):
                continue
            text = _mutant(BASES[base].copy(), defect, image)
            yield _case(_RULES[defect.rule], f"{defect.rule} {defect.name} {base} {image}", text)


def _mutant(stack: Stack, defect: Defect, image: str) -> str:
    """Without its clients and published ports, which have no part in what a broker refuses."""
    list(defect.make(stack))
    compose = startable(stack.render()[0])
    for name in clients(compose):
        del compose["services"][name]
    for service in compose["services"].values():
        service.pop("ports", None)
        if not service["image"].startswith("confluentinc/cp-zookeeper"):
            service["image"] = image
    return text_of(compose)


def _case(rule: DeclaredRule, name: str, text: str) -> PrintCase:
    return PrintCase(rule=rule.ID, name=name, text=text, predicted=sentences(rule, text))
