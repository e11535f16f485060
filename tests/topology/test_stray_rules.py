"""Rules and proxies that lead to nobody."""

from dataclasses import replace

from netdiag.topology.graph import Topology
from tests.topology.test_published import web


def told(topology: Topology) -> list[tuple[str, str]]:
    return [(one.subject, one.because) for one in topology.unmatched]


def test_a_rule_to_an_address_that_no_container_has() -> None:
    made = web()
    text = "-A DOCKER -p tcp -m tcp --dport 9 -j DNAT --to-destination 172.18.0.77:9"
    made.nat.append(text)
    assert told(made.topology()) == [
        (
            "DNAT rule iptables-nft ip nat DOCKER #2 of host",
            f"it leads to 172.18.0.77, an address that no container has: {text}",
        )
    ]


def test_somebody_elses_rule_is_none_of_ours() -> None:
    made = web()
    made.nat.append("-A DOCKER -p tcp -m tcp --dport 9 -j DNAT --to-destination 10.1.2.3:9")
    assert told(made.topology()) == []


def test_a_proxy_for_an_address_that_no_container_has() -> None:
    made = web()
    argv = "docker-proxy -proto tcp -host-ip :: -host-port 9 -container-ip 172.18.0.77 -container-port 9"
    made.process(990, "docker-proxy", made.host, argv=tuple(argv.split()))
    assert told(made.topology()) == [
        ("docker-proxy 990", "it serves port 9/tcp for 172.18.0.77, an address that no container has")
    ]


def test_a_subnet_that_is_none() -> None:
    made = web()
    made.networks["net"] = replace(made.networks["net"], subnets=("nonsense", "172.18.0.0/16"))
    assert told(made.topology()) == []


def test_who_is_on_the_gateway_bridge_of_a_swarm_is_not_known() -> None:
    made = web()
    made.network("docker_gwbridge", "172.30.0.0/16", bridge="docker_gwbridge")
    made.nat.append("-A DOCKER-INGRESS -p tcp -m tcp --dport 9 -j DNAT --to-destination 172.30.0.2:9")
    made.host.links[2] = replace(made.host.links[2], master=next(reversed(made.host.links)))
    assert told(made.topology()) == []
