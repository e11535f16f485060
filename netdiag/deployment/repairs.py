"""The repairs that several rules ask for, by what they do; each gives the edits, none where it cannot be made."""

from netdiag.deployment.clients import Attempt, usable_address
from netdiag.deployment.member import Broker, Deployment, Member, PublishedPort
from netdiag.deployment.rewriting import BrokerRewriting, Rewriting
from netdiag.findings import Applicability, Edit
from netdiag.kafka.listeners import ListenerEntry, MalformedEntry

_MAP = "listener.security.protocol.map"
_ADVERTISED = "advertised.listeners"


def rewrite(
    broker: Broker,
    name: str,
    start: int,
    end: int,
    text: str,
    applicability: Applicability = Applicability.UNSAFE,
) -> tuple[Edit, ...]:
    """Other characters in a property."""
    return BrokerRewriting(broker).stretch(name, start, end, text).edits(applicability)


def put(broker: Broker, name: str, value: str, beside: str = _ADVERTISED) -> tuple[Edit, ...]:
    """A property set, or set anew."""
    return BrokerRewriting(broker).put(name, value, beside).edits()


def append(broker: Broker, name: str, item: str) -> tuple[Edit, ...]:
    """One item more in a list that is written."""
    return BrokerRewriting(broker).append(name, item).edits()


def drop(broker: Broker, name: str) -> tuple[Edit, ...]:
    """A property taken away."""
    return BrokerRewriting(broker).drop(name).edits()


def drop_variable(member: Member, name: str) -> tuple[Edit, ...]:
    """A variable taken away."""
    return Rewriting(member).remove_variable(name).edits()


def rename_variable(member: Member, name: str, new: str) -> tuple[Edit, ...]:
    """A variable called otherwise."""
    return Rewriting(member).rename_variable(name, new).edits()


def publish(deployment: Deployment, member: Member, published: int, target: int) -> tuple[Edit, ...]:
    """A port published, where nobody has the number on the docker host."""
    if published in deployment.publishing or not 0 < published < 65536:
        return ()
    return Rewriting(member).publish(published, target).edits()


def lead(member: Member, port: PublishedPort, target: int) -> tuple[Edit, ...]:
    """A published port led to another container port."""
    return Rewriting(member).change_port(port, target=target).edits()


def own_name(broker: Broker) -> str:
    """What other containers call the broker."""
    return broker.member.service or broker.name


def advertise(broker: Broker, entry: ListenerEntry, host: str, port: int | None = None) -> tuple[Edit, ...]:
    """Another host, and another port where one is given, for one advertised entry.

    A broker that advertises what it binds is given a list of its own.
    """
    port = entry.endpoint.port if port is None else port
    if broker.config.value(_ADVERTISED):
        rewriting = BrokerRewriting(broker)
        if entry.endpoint.host != host:
            start = entry.host_start
            # The brackets of an IPv6 literal are no part of the host.
            bracketed = entry.text[start - entry.start - 1 : start - entry.start] == "["
            rewriting.stretch(_ADVERTISED, start - bracketed, entry.host_end + bracketed, host)
        if port != entry.endpoint.port:
            rewriting.stretch(_ADVERTISED, entry.port_start, entry.port_end, str(port))
        return rewriting.edits()
    told = [
        f"{e.endpoint.listener}://{host}:{port if e is entry else e.endpoint.port}"
        for e in broker.config.advertised_listeners
    ]
    return BrokerRewriting(broker).put(_ADVERTISED, ",".join(told), beside="listeners").edits() if told else ()


def map_listener(broker: Broker, listener: str) -> tuple[Edit, ...]:
    """A listener mapped to PLAINTEXT, unless its name speaks of another protocol.

    A map that is new must name every listener: one that is set replaces the names known by themselves.
    """
    config = broker.config
    if "SSL" in listener or "SASL" in listener or "TLS" in listener:
        return ()
    if config.value(_MAP):
        return append(broker, _MAP, f"{listener}:PLAINTEXT")
    names = dict.fromkeys(
        (*(e.endpoint.listener for e in config.listeners), *(n.strip() for n in config.controller_names), listener)
    )
    if any(n not in config.protocol_map and ("SSL" in n or "SASL" in n) for n in names):
        return ()
    return put(broker, _MAP, ",".join(f"{n}:{config.protocol_map.get(n, 'PLAINTEXT')}" for n in names))


def without(
    broker: Broker,
    name: str,
    entries: tuple[ListenerEntry | MalformedEntry, ...],
    entry: ListenerEntry,
    applicability: Applicability = Applicability.UNSAFE,
) -> tuple[Edit, ...]:
    """A listener list without one entry and its comma; none where nothing would be left."""
    before = [other for other in entries if other.end <= entry.start]
    after = [other for other in entries if other.start >= entry.end]
    if before:
        return rewrite(broker, name, before[-1].end, entry.end, "", applicability)
    return rewrite(broker, name, entry.start, after[0].start, "", applicability) if after else ()


def point(deployment: Deployment, attempt: Attempt, brokers: tuple[Broker, ...] = ()) -> tuple[Edit, ...]:
    """A client's bootstrap address replaced by one that works from where the client is."""
    better = usable_address(deployment, attempt, brokers)
    if better is None:
        return ()
    declared, told = attempt.dependent.declared, attempt.told
    scheme = declared.value[told.start : told.end].rpartition("://")
    start = told.start + len(scheme[0]) + len(scheme[1])
    others = [a for a in attempt.dependent.bootstraps if (a.host, a.port) == (better.host, better.port)]
    if others:
        # It would stand in the list twice: which of them is meant to go is not for us to say.
        return ()
    return Rewriting(attempt.client).replace(declared, start, told.end, str(better)).edits()
