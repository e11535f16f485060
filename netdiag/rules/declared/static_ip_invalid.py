"""A container has a fixed address that its network cannot assign.

Why: The engine refuses to start a container whose address is outside the network's subnets, belongs to another
container or to the gateway, or is set on a network without a configured subnet. The finding is a warning if the address
is only probably the gateway's. External networks are not checked, because their subnets are defined elsewhere.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        networks:
          net:  # <- here
            ipv4_address: 10.78.0.5
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
    networks:
      net:
        ipam:
          config:
            - subnet: 172.20.0.0/16

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        networks:
          net:
            ipv4_address: 172.20.0.5
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
    networks:
      net:
        ipam:
          config:
            - subnet: 172.20.0.0/16

Seen: Invalid address 10.78.0.5: It does not belong to any of this network's subnets

Sources: libnetwork's address management; compose-spec, ipv4_address and ipam.
"""

import ipaddress
from collections.abc import Iterator

from netdiag.deployment.model.deployment import Attachment, Deployment, Member, Network, NetworkKind, State
from netdiag.findings import Finding, Related, Severity

ID = "static-ip-invalid"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every fixed address that the engine refuses, in files that define a broker."""
    if not deployment.brokers:
        return
    taken: dict[tuple[str, str], str] = {}
    declared = (member for member in deployment.members if member.state is State.DECLARED)
    for member in declared:
        for attachment in member.attachments:
            network = deployment.networks.get(attachment.network)
            if network is None or network.external or network.kind is not NetworkKind.USER_BRIDGE:
                continue
            for address in attachment.addresses:
                owner = taken.setdefault((network.key, address), member.name)
                reason = f"{owner} already has it" if owner != member.name else _refusal(network, address)
                if reason is not None:
                    yield _finding(member, attachment, network, address, reason)
                elif _usual_gateway(network, address):
                    reason = "the engine uses it for the gateway"
                    yield _finding(member, attachment, network, address, reason, Severity.WARNING)


def _refusal(network: Network, address: str) -> str | None:
    """Why the engine refuses an address on a network; None if it does not, or if a text is not an address."""
    try:
        number = ipaddress.ip_address(address)
        subnets = [ipaddress.ip_network(subnet, strict=False) for subnet in network.subnets]
    except ValueError:
        return None
    own = [subnet for subnet in subnets if subnet.version == number.version]
    if not own:
        return "the network has no configured subnet, which a fixed address needs"
    if not any(number in subnet for subnet in own):
        return f"the subnet of the network is {', '.join(map(str, own))}"
    if address in network.gateways:
        return "it is the gateway's"
    edges = {edge for subnet in own if subnet.num_addresses > 2 for edge in (subnet[0], subnet[-1])}
    if number.version == 4 and number in edges:
        return "the first and last addresses of a subnet are reserved"
    return None


def _usual_gateway(network: Network, address: str) -> bool:
    if network.gateways:
        return False
    try:
        return any(address == str(ipaddress.ip_network(subnet, strict=False)[1]) for subnet in network.subnets)
    except (ValueError, IndexError):
        return False


def _finding(
    member: Member,
    attachment: Attachment,
    network: Network,
    address: str,
    reason: str,
    severity: Severity = SEVERITY,
) -> Finding:
    return Finding(
        rule=ID,
        severity=severity,
        message=f'{member.name} cannot have address "{address}" on {network.key}: {reason}',
        location=attachment.where or member.where,
        related=(Related(location=network.where, message="the network's definition"),) if network.where else (),
        why="the engine refuses to start a container with an address that its network cannot assign",
        hint="use a free address of the subnet, or remove the address and use names",
        service=member.name,
    )
