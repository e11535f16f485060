"""Splitting a listener that everybody uses: containers keep it, the docker host gets one of its own.

The new listener is bound to a port of its own, which the published port leads to from then on, so that the
bootstrap addresses of both sides stay what they are.
"""

from netdiag.deployment.entrants import listener_of, published_for
from netdiag.deployment.member import Broker, Deployment, NetworkMode
from netdiag.deployment.rewriting import BrokerRewriting
from netdiag.findings import Edit
from netdiag.kafka.listeners import ListenerEntry, bracketed, is_wildcard

_MAP = "listener.security.protocol.map"
_NAMES = ("EXTERNAL", "HOST", "OUTSIDE")
_FIRST_PORT = 29092


def split(deployment: Deployment, broker: Broker, advertised: ListenerEntry) -> tuple[Edit, ...]:
    """The edits that leave `advertised` to containers and lead the docker host to a new listener on localhost.

    None where the listener is not plain, is published on no or several ports, or the broker shares a network
    namespace: then it is a decision.
    """
    config, listener = broker.config, advertised.endpoint.listener
    bound = listener_of(broker, listener)
    name = next((n for n in _NAMES if _is_free(broker, n)), None)
    if bound is None or name is None or broker.member.mode is not NetworkMode.NETWORKS:
        return ()
    if config.protocol_map.get(listener) != "PLAINTEXT" or broker.is_configured_by_file:
        return ()
    ports = published_for(broker, bound)
    if len(ports) != 1 or ports[0].published is None or not (is_wildcard(bound.endpoint.host)):
        return ()
    rewriting = BrokerRewriting(broker)
    _advertise(rewriting, broker, advertised, f"{name}://localhost:{ports[0].published}", bound)
    port = _free_port(deployment, broker)
    _bind(rewriting, broker, f"{name}://{bracketed(bound.endpoint.host)}:{port}")
    _map(rewriting, broker, name)
    if config.inter_broker_listener not in _taken_names(broker):
        rewriting.put("inter.broker.listener.name", listener)
    rewriting.change_port(ports[0], target=port)
    return rewriting.edits()


def _taken_names(broker: Broker) -> set[str]:
    entries = (*broker.config.listeners, *broker.config.advertised_listeners)
    return {entry.endpoint.listener for entry in entries} | set(broker.config.controller_names)


def _is_free(broker: Broker, name: str) -> bool:
    return name not in _taken_names(broker) and broker.config.protocol_map.get(name, "PLAINTEXT") == "PLAINTEXT"


def _free_port(deployment: Deployment, broker: Broker) -> int:
    taken = {port for (_, port) in deployment.listening} | {p.target for p in broker.member.published}
    return next(port for port in range(_FIRST_PORT, 65536) if port not in taken)


def _advertise(
    rewriting: BrokerRewriting, broker: Broker, advertised: ListenerEntry, added: str, bound: ListenerEntry
) -> None:
    """The old entry by the service's name and the port that is bound, the new one behind it."""
    property_name = "advertised.listeners"
    host = broker.member.service or broker.name
    if broker.source_of(property_name) is None:
        others = [e.text for e in broker.config.advertised_listeners if e is not advertised]
        own = f"{advertised.endpoint.listener}://{host}:{bound.endpoint.port}"
        rewriting.put(property_name, ",".join([own, *others, added]), beside="listeners")
        return
    if advertised.endpoint.host not in broker.member.all_names:
        rewriting.stretch(property_name, advertised.host_start, advertised.host_end, host)
    if advertised.endpoint.port != bound.endpoint.port:
        rewriting.stretch(property_name, advertised.port_start, advertised.port_end, str(bound.endpoint.port))
    rewriting.append(property_name, added)


def _bind(rewriting: BrokerRewriting, broker: Broker, entry: str) -> None:
    if broker.source_of("listeners") is not None:
        rewriting.append("listeners", entry)
        return
    bound = ",".join(item.text for item in broker.config.listeners)
    rewriting.put("listeners", f"{bound},{entry}")


def _map(rewriting: BrokerRewriting, broker: Broker, name: str) -> None:
    """The new name beside the others; a map that is new must name them all."""
    mapped = broker.config.protocol_map
    if name in mapped:
        return
    if broker.source_of(_MAP) is not None:
        rewriting.append(_MAP, f"{name}:PLAINTEXT")
        return
    used = [e.endpoint.listener for e in broker.config.listeners]
    names = dict.fromkeys((*used, *broker.config.controller_names))
    pairs = [f"{n}:{mapped.get(n, 'PLAINTEXT')}" for n in names]
    rewriting.put(_MAP, ",".join((*pairs, f"{name}:PLAINTEXT")))
