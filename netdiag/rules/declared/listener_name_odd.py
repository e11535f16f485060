"""A listener name contains a separator, a blank or a second scheme.

Why: Commas separate the entries of a list, and everything before :// is the name, blanks included. With a semicolon, a
blank or a second scheme, the broker reads a name that has no security protocol. Lower case is allowed: the broker reads
names in upper case.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: INTERNAL://:29092;OTHER://:9092  # <- here
          KAFKA_ADVERTISED_LISTENERS: INTERNAL://kafka:29092,OTHER://kafka:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INTERNAL:PLAINTEXT,OTHER:PLAINTEXT
          KAFKA_INTER_BROKER_LISTENER_NAME: INTERNAL

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: INTERNAL://:29092,OTHER://:9092
          KAFKA_ADVERTISED_LISTENERS: INTERNAL://kafka:29092,OTHER://kafka:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INTERNAL:PLAINTEXT,OTHER:PLAINTEXT
          KAFKA_INTER_BROKER_LISTENER_NAME: INTERNAL

Seen: Error creating broker listeners from '...': No security protocol defined for listener INTERNAL://:29092;OTHER

Sources: SocketServerConfigs.listenerListToEndPoints, ListenerName.normalised.
"""

import re
from collections.abc import Iterator

from netdiag.deployment.misread_settings import is_quoted
from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.findings import Edit, Finding, Severity
from netdiag.kafka.images.settings import Provenance
from netdiag.kafka.listeners import ListenerEntry, is_odd_name, well_formed
from netdiag.patterns import regex

ID = "listener-name-odd"
SEVERITY = Severity.ERROR
# What stands between two entries instead of a comma, and a scheme after the name's own.
_SEPARATOR = regex(r"\s*;\s*|\s+(?=[^\s:/]+://)")
_SCHEME = regex(r"(?<=://)(?:https?|tcp|kafka)://", re.IGNORECASE)


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every entry with such a name, in the lists that the files set."""
    for broker in deployment.configured:
        mapped = broker.config.protocol_map
        for name, entries in (
            ("listeners", broker.config.listener_entries),
            ("advertised.listeners", broker.config.advertised_entries),
        ):
            setting = broker.config.settings.get(name)
            if setting is None or setting.provenance is Provenance.DERIVED or is_quoted(setting.value or ""):
                continue
            for entry in well_formed(entries):
                if is_odd_name(entry.endpoint.listener) and entry.endpoint.listener not in mapped:
                    yield _finding(broker, name, entry)


def _finding(broker: Broker, name: str, entry: ListenerEntry) -> Finding:
    listener = entry.endpoint.listener
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f'{broker.name} reads "{listener}" as a listener name',
        location=broker.place(name, entry.start, entry.end),
        why="a name extends to the last :// of its entry, blanks and semicolons included",
        hint=_hint(listener),
        service=broker.name,
        listener=listener,
        edits=_edits(broker, name, entry),
        broker_prints=f"No security protocol defined for listener {listener}",
    )


def _hint(listener: str) -> str:
    if _SEPARATOR.search(f"{listener}://"):
        return "separate the entries with commas"
    if "://" in listener:
        return "write NAME://host:port, with only one ://"
    return "remove the blanks from the name"


def _edits(broker: Broker, name: str, entry: ListenerEntry) -> tuple[Edit, ...]:
    """Replace a wrong separator with a comma, remove a second scheme or the blanks after the name."""
    found = list(_SEPARATOR.finditer(entry.text))
    if found:
        edits = [broker.edit(name, entry.start + m.start(), entry.start + m.end(), ",") for m in found]
    elif scheme := _SCHEME.search(entry.text):
        edits = [broker.edit(name, entry.start + scheme.start(), entry.start + scheme.end(), "")]
    else:
        end = entry.start + entry.text.index("://")
        blanks = len(entry.text[: end - entry.start]) - len(entry.text[: end - entry.start].rstrip())
        edits = [broker.edit(name, end - blanks, end, "")] if blanks else []
    return tuple(edit for made in edits for edit in made) if all(edits) else ()
