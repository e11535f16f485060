"""What helps a broker that Testcontainers has started, in the words of the library that did.

Nobody edits such a container: the code of the tests is to be changed. The spellings are those of testcontainers-java
2.0, -python 4.15, -go 0.45, -node 12.1 and -dotnet 4.13.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.deployment.model.vantage import Vantage
from netdiag.deployment.model.verdict import Word
from netdiag.deployment.observation.live_view import LiveView
from netdiag.engine.testcontainers import Library
from netdiag.findings import Finding
from netdiag.kafka.broker_config import Mode

# What the documentation of these libraries calls it.
_ALIAS = "kafka"
_REDPANDA_ALIAS = "redpanda"
_PORT = 19092
_HIGHEST_PORT = 65535

_ALIASES: Mapping[Library, str] = {
    Library.JAVA: '.withNetworkAliases("{0}")',
    Library.PYTHON: '.with_network_aliases("{0}")',
    Library.GO: 'network.WithNetwork([]string{{"{0}"}}, nw)',
    Library.NODE: '.withNetworkAliases("{0}")',
    Library.DOTNET: '.WithNetworkAliases("{0}")',
}
_REDPANDA_LISTENERS: Mapping[Library, str] = {
    Library.JAVA: '.withListener(() -> "{0}:{1}")',
    Library.GO: 'redpanda.WithListener("{0}:{1}")',
}
_LISTENERS: Mapping[Library, str] = {
    Library.JAVA: '.withListener("{0}:{1}")',
    Library.DOTNET: '.WithListener("{0}:{1}")',
}


def listener_hint(view: LiveView, broker: Broker, vantage: Vantage) -> str:
    """How containers at a vantage get a listener of their own."""
    library = broker.member.started_by or Library.OTHER
    alias = _alias(broker) or (_REDPANDA_ALIAS if broker.config.mode is Mode.REDPANDA else _ALIAS)
    works = next(
        (
            str(cell.bootstrap)
            for cell in view.cells
            if cell.vantage == vantage.label
            and cell.bootstrap.host in broker.member.known_as
            and cell.observed is not None
            and cell.observed.word is Word.OK
        ),
        None,
    )
    spellings = _listeners(broker)
    if library in spellings:
        port = _free_port(broker)
        added = f"add {spellings[library].format(alias, port)} and let containers use {alias}:{port}"
        return f"{added}; without it, {works} works from there" if works else added
    if works:
        return f"let containers use {works}: what that listener advertises works from there"
    if broker.config.mode is Mode.REDPANDA:
        return (
            f"{library.title} gives Redpanda no listener for containers: start it as a generic container with "
            f"--advertise-kafka-addr PLAINTEXT://{alias}:29092"
        )
    if _alias(broker) is None and library in _ALIASES:
        return (
            f"add {_ALIASES[library].format(alias)} on a network of their own, and let containers use {_inside(broker)}"
        )
    return f"let containers use {_inside(broker)}"


def in_words(finding: Finding, deployment: Deployment) -> Finding:
    """The finding, its hint in the words of the library where one started the broker that it is about."""
    broker = deployment.broker(finding.service or "") if finding.rule in _WORDS else None
    if broker is None or broker.member.started_by is None:
        return finding
    hint = _WORDS[finding.rule](broker)
    return finding if hint is None else replace(finding, hint=hint)


def _other_port(broker: Broker) -> str | None:
    """For two listeners on one port."""
    library = broker.member.started_by or Library.OTHER
    if library not in _listeners(broker):
        return None
    taken = ", ".join(
        sorted({str(e.endpoint.port) for e in broker.config.listeners if not _is_added(e.endpoint.listener)})
    )
    listener = _listeners(broker)[library].format(_alias(broker) or _ALIAS, _free_port(broker))
    return f"take another port than {taken}, which the library uses itself: {listener}"


def _one_address(broker: Broker) -> str | None:
    """For the addresses of two networks in one entry."""
    if broker.member.started_by is not Library.PYTHON:
        return None
    return (
        "set kafka_config.limit_broker_to_first_host = True (TC_KAFKA_LIMIT_BROKER_TO_FIRST_HOST=true) before the "
        "container starts, or let it join the second network afterwards"
    )


def _every_address(broker: Broker) -> str | None:
    """For a listener that binds the address of one network."""
    library = broker.member.started_by
    entry = next((e for e in broker.config.advertised_listeners if _is_added(e.endpoint.listener)), None)
    if library is not Library.JAVA or entry is None:
        return None
    told = f"{entry.endpoint.host}:{entry.endpoint.port}"
    return f'bind all addresses: .withListener("0.0.0.0:{entry.endpoint.port}", () -> "{told}")'


def _start_anew(broker: Broker) -> str:
    """For a mapped port that is no longer the one of the first start."""
    return (
        f"start a new one (`docker rm -f {broker.member.container}`): the engine has mapped another port since the "
        "script was written, as it does after a restart, and may do when a container joins another network"
    )


def _other_alias(broker: Broker) -> str | None:
    """For two brokers with one alias."""
    library = broker.member.started_by or Library.OTHER
    if library not in _ALIASES:
        return None
    alias = f"{_alias(broker) or _ALIAS}-2"
    added = next((e.endpoint.port for e in broker.config.listeners if _is_added(e.endpoint.listener)), None)
    spelled = _ALIASES[library].format(alias)
    if library in _listeners(broker) and added is not None:
        spelled = _listeners(broker)[library].format(alias, added)
    return f"give each broker an alias of its own: {spelled}"


_WORDS: Mapping[str, Callable[[Broker], str | None]] = {
    "listener-port-conflict": _other_port,
    "listener-unparsable": _one_address,
    "listener-bound-to-one-network": _every_address,
    "advertised-port-differs-from-published": _start_anew,
    "duplicate-advertised-endpoint": _other_alias,
    "live-ambiguous-name": _other_alias,
}


def _listeners(broker: Broker) -> Mapping[Library, str]:
    """How a listener is added to such a broker."""
    return _REDPANDA_LISTENERS if broker.config.mode is Mode.REDPANDA else _LISTENERS


def _is_added(listener: str) -> bool:
    """Whether the tests have added it: the libraries number these."""
    return listener.startswith("TC-")


def _alias(broker: Broker) -> str | None:
    return next(iter(broker.member.known_as), None)


def _free_port(broker: Broker) -> int:
    taken = {entry.endpoint.port for entry in broker.config.listeners}
    return next(port for port in range(_PORT, _HIGHEST_PORT) if port not in taken)


def _inside(broker: Broker) -> str:
    """The listener that brokers use among themselves, whose advertised address belongs to a network."""
    name = (broker.config.value("inter.broker.listener.name") or "").upper()
    port = next((e.endpoint.port for e in broker.config.listeners if e.endpoint.listener == name), None)
    return f"{_alias(broker) or _ALIAS}:{port}" if port is not None else "the listener between brokers"
