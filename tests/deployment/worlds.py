"""A small world for rows of the decision table: brokers on every kind of network, and where to stand in it."""

from netdiag.config import Facts
from netdiag.deployment.model.deployment import Deployment, Platform
from netdiag.deployment.model.vantage import Vantage, VantageKind
from netdiag.deployment.sources.compose import from_compose
from tests.deployment.stacks import project_of

LAN_ADDRESS = "192.168.8.133"

# Each broker is a cluster of its own, so that its answer names itself alone.
_BROKER = """\
  {name}:
    image: confluentinc/cp-kafka:7.9.2
    {place}
    environment:
      KAFKA_NODE_ID: 1
      KAFKA_PROCESS_ROLES: broker,controller
      KAFKA_CONTROLLER_QUORUM_VOTERS: 1@localhost:9999
      KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
      KAFKA_LISTENERS: {listeners},CONTROLLER://localhost:9999
      KAFKA_ADVERTISED_LISTENERS: {advertised}
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: ALL:PLAINTEXT,LO:PLAINTEXT,OWN:PLAINTEXT,CONTROLLER:PLAINTEXT
      KAFKA_INTER_BROKER_LISTENER_NAME: {first}
"""


def broker(name: str, place: str, *listeners: str) -> str:
    """A service: `place` is its YAML about networks and ports, each listener NAME://host:port."""
    told = listeners or ("ALL://0.0.0.0:9092",)
    advertised = ",".join(f"{text.partition('://')[0]}://localhost:{text.rpartition(':')[2]}" for text in told)
    first = told[0].partition("://")[0]
    return _BROKER.format(name=name, place=place, listeners=",".join(told), advertised=advertised, first=first)


def world(services: str, networks: str = "", platform: Platform | None = None) -> Deployment:
    """The deployment of these services on a docker host with one LAN address, whose resolvers know no other names."""
    text = f"name: w\nservices:\n{services}" + (f"networks:\n{networks}" if networks else "")
    facts = Facts(resolves={"*": ""})
    return from_compose(project_of(text), host_addresses=(LAN_ADDRESS,), facts=facts, platform=platform)


def at(deployment: Deployment, place: str) -> Vantage:
    """`host`, `lan`, `elsewhere`, or a service's name."""
    match place:
        case "host":
            return Vantage(kind=VantageKind.DOCKER_HOST, label=place)
        case "lan":
            return Vantage(kind=VantageKind.LAN, label=place)
        case "elsewhere":
            return Vantage(kind=VantageKind.OTHER_NETWORK, label=place)
    member = deployment.by_name[place]
    networks = tuple(a.network for a in member.attachments)
    return Vantage(kind=VantageKind.CONTAINER, label=place, member=place, networks=networks)
