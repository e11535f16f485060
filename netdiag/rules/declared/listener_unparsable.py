"""An entry of a listener list is not NAME://host:port.

Why: The broker parses each entry with one regular expression and exits at the first that does not match.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://9092  # <- here
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092

Seen: Error creating broker listeners from 'PLAINTEXT://9092': Unable to parse PLAINTEXT://9092 to a broker endpoint

Sources: SocketServerConfigs.listenerListToEndPoints (3.9, 4.x), EndPoint (3.8 and older).
"""

from collections.abc import Iterator

from netdiag.deployment.misread_settings import misread_values, placeholder_in
from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.deployment.repairs import replace_text
from netdiag.digits import number_of
from netdiag.findings import Applicability, Edit, Finding, Severity
from netdiag.kafka.images.settings import Provenance
from netdiag.kafka.listeners import MalformedEntry

ID = "listener-unparsable"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every entry of either list that the broker cannot parse."""
    for broker in deployment.configured:
        lists = (
            ("listeners", broker.config.listener_entries),
            ("advertised.listeners", broker.config.advertised_entries),
        )
        for name, entries in lists:
            if name == "listeners" and _repeats_the_advertised(broker):
                continue
            said = misread_values(broker, name)
            for entry in entries:
                if name == "advertised.listeners" and placeholder_in(entry.text):
                    continue
                if isinstance(entry, MalformedEntry) and not any(f.start <= entry.start < f.end for f in said):
                    yield Finding(
                        rule=ID,
                        severity=SEVERITY,
                        message=f'"{entry.text}" in {name} of {broker.name} is not NAME://host:port',
                        location=broker.place(name, entry.start, entry.end),
                        why="the broker exits at the first entry that it cannot parse",
                        hint=_hint(entry.text),
                        service=broker.name,
                        edits=_edits(broker, name, entry),
                        broker_prints=f"Unable to parse {entry.text} to a broker endpoint",
                    )


def _repeats_the_advertised(broker: Broker) -> bool:
    """Whether the list is derived from advertised entries that cannot be parsed themselves."""
    setting = broker.config.settings.get("listeners")
    derived = setting is not None and setting.provenance is Provenance.DERIVED
    return derived and any(isinstance(entry, MalformedEntry) for entry in broker.config.advertised_entries)


def _hint(text: str) -> str:
    name, slashes, rest = text.partition("://")
    if slashes and number_of(rest) is not None:
        return f'write "{name}://:{rest}" to bind port {rest} on all addresses'
    if not slashes and ":" in text:
        return f'put a listener name in front: "PLAINTEXT://{text}"'
    return "write NAME://host:port, with commas between entries and without quotes or a path"


def _edits(broker: Broker, name: str, entry: MalformedEntry) -> tuple[Edit, ...]:
    """The probable meaning: a port without a colon, a slash at the end, a missing name if only one is possible."""
    listener, slashes, rest = entry.text.partition("://")
    if slashes and number_of(rest) is not None and name == "listeners":
        return replace_text(broker, name, entry.start, entry.end, f"{listener}://:{rest}", Applicability.SAFE)
    if slashes and rest.endswith("/") and number_of(rest.strip("/").rpartition(":")[2]) is not None:
        return replace_text(broker, name, entry.start, entry.end, entry.text.rstrip("/"), Applicability.SAFE)
    alone = len(broker.config.listener_entries) == 1 == len(broker.config.advertised_entries)
    if not slashes and alone and number_of(entry.text.rpartition(":")[2]) is not None and ":" in entry.text:
        return replace_text(broker, name, entry.start, entry.start, "PLAINTEXT://")
    return ()
