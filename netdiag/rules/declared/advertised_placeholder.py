"""An advertised host is a placeholder that was never replaced.

Why: Tutorials write YOUR_HOST, MY_EXTERNAL_IP, HOST_IP or <your-ip> where the reader has to insert an address. No
client resolves such a name, and the broker cannot parse one in angle brackets. The name of a container or an alias does
not count as a placeholder.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://YOUR_HOST_IP:9092  # <- here

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092

Seen: java.net.UnknownHostException: YOUR_HOST_IP

Sources: RFC 952 and RFC 1123 allow neither underscores nor angle brackets in host names.
"""

from collections.abc import Iterator

from netdiag.deployment.clients import is_inactive, members_called
from netdiag.deployment.misread_settings import is_placeholder, placeholder_in
from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.findings import Finding, Severity
from netdiag.kafka.listeners import ListenerEntry, MalformedEntry

ID = "advertised-placeholder"
SEVERITY = Severity.WARNING
_NAME = "advertised.listeners"


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every advertised entry with a placeholder for its host."""
    for broker in deployment.configured:
        printed = False
        for entry in broker.config.advertised_entries if _NAME in broker.config.settings else ():
            if isinstance(entry, MalformedEntry):
                text = placeholder_in(entry.text)
                if text is not None:
                    # The broker exits at the first entry that it cannot parse.
                    prints = None if printed else f"Unable to parse {entry.text} to a broker endpoint"
                    yield _finding(broker, entry, text, prints)
                printed = True
                continue
            host = entry.endpoint.host
            known = members_called(deployment, host) or is_inactive(deployment, host)
            if is_placeholder(host) and not known and host not in broker.member.extra_hosts:
                yield _finding(broker, entry, host, None)


def _finding(broker: Broker, entry: ListenerEntry | MalformedEntry, text: str, prints: str | None) -> Finding:
    start, end = entry.start, entry.end
    if isinstance(entry, ListenerEntry):
        start, end = entry.host_start, entry.host_end
    return Finding(
        rule=ID,
        severity=Severity.ERROR if isinstance(entry, MalformedEntry) else SEVERITY,
        message=f'{broker.name} advertises the placeholder "{text}" instead of an address',
        location=broker.place(_NAME, start, end),
        why="the broker cannot parse angle brackets"
        if isinstance(entry, MalformedEntry)
        else "the broker returns this host to clients, who cannot resolve it",
        hint="replace it with the name or address at which clients reach the docker host, or with a service name for "
        "containers",
        service=broker.name,
        listener=entry.endpoint.listener if isinstance(entry, ListenerEntry) else None,
        broker_prints=prints,
    )
