"""Matches and targets of iptables, one by one."""

from dataclasses import replace

from netdiag.linux.filtering.packet import ConnectionState, Decision, Evaluation, NamespaceView, Packet
from netdiag.linux.filtering.xtables import in_network, step
from netdiag.linux.rtnetlink import Detail
from netdiag.linux.ruleset import Expression
from tests.each import each

PACKET = Packet(
    family=4,
    protocol="tcp",
    source="10.0.0.1",
    destination="10.0.0.2",
    destination_port=80,
    in_link="eth0",
    out_link="br0",
    in_port="veth1",
    mark=0x15,
)
HERE = NamespaceView(is_local=lambda address: address == "10.0.0.2")


def run(name: str, fields: dict[str, Detail], packet: Packet = PACKET, hook: str = "prerouting") -> object:
    return step(Expression(name=name, fields=fields), Evaluation(packet=packet, hook=hook, namespace=HERE))


@each(
    ("name", "fields", "answer"),
    [
        ("ip", {}, True),
        ("ip", {"source": "10.0.0.0/24", "in": "eth+", "out": "br0", "protocol": "tcp"}, True),
        ("ip", {"source": "10.0.0.0/24", "not": ["source"]}, False),
        ("ip", {"destination": "0.0.0.2/0.0.0.255"}, True),
        ("ip", {"in": "eth", "not": ["in"]}, True),
        ("ip", {"protocol": "udp"}, False),
        ("ip", {"protocol": "mystery"}, None),
        ("ip", {"fragment": True}, False),
        ("xt:comment", {"comment": "x"}, True),
        ("xt:tcp", {"destination_ports": [80, 90]}, True),
        ("xt:tcp", {"destination_ports": [80, 90], "not": ["destination_ports"]}, False),
        ("xt:tcp", {"source_ports": [80, 90]}, None),
        ("xt:tcp", {"flags_mask": 0x17, "flags_compare": 2}, True),
        ("xt:tcp", {"flags_mask": 0x17, "flags_compare": 4}, False),
        ("xt:tcp", {"option": 2}, None),
        ("xt:multiport", {"which": "destinations", "ports": [[22, 22], [70, 80]]}, True),
        ("xt:multiport", {"which": "destinations", "ports": [[22, 22]], "not": True}, True),
        ("xt:multiport", {"which": "ports", "ports": [[22, 22]]}, None),
        ("xt:addrtype", {"destination": 4}, True),
        ("xt:addrtype", {"destination": 4, "not": ["destination"]}, False),
        ("xt:addrtype", {"source": 4}, False),
        ("xt:addrtype", {"source": 4, "limit_in": True}, None),
        ("xt:conntrack", {"states": ["NEW", "INVALID"]}, True),
        ("xt:conntrack", {"states": ["RELATED"], "not": ["states"]}, True),
        ("xt:conntrack", {"states": ["DNAT"]}, False),
        ("xt:conntrack", {"original_destination": "10.0.0.2/32", "original_destination_ports": [80, 80]}, True),
        ("xt:conntrack", {"direction": "REPLY"}, False),
        ("xt:conntrack", {"status": ["CONFIRMED"]}, None),
        ("xt:state", {"states": ["ESTABLISHED"]}, False),
        ("xt:mark", {"mark": 5, "mask": 0xF}, True),
        ("xt:connmark", {"mark": 5, "mask": 0xF, "not": True}, True),
        ("xt:physdev", {"in": "veth+", "is_in": True}, True),
        ("xt:physdev", {"is_bridged": True}, False),
        ("xt:icmp", {"type": 8}, None),
        ("xt:iprange", {"source": ["10.0.0.0", "10.0.0.9"]}, True),
        ("xt:iprange", {"destination": ["10.0.0.5", "10.0.0.9"]}, False),
        ("xt:pkttype", {"type": "multicast"}, False),
        ("xt:mystery", {}, None),
    ],
)
def test_matches(name: str, fields: dict[str, Detail], answer: bool | None) -> None:
    assert run(name, fields) is answer


def test_the_kind_of_an_icmp_packet() -> None:
    ping = replace(PACKET, protocol="icmp")
    assert run("xt:icmp", {"type": 8, "first_code": 0, "last_code": 255}, ping) is True
    assert run("xt:icmp", {"type": 3, "not": ["type"]}, ping) is True


def test_targets() -> None:
    assert run("xt:REJECT", {"kind": "tcp reset"}) == Decision(word="reject", kind="tcp reset")
    assert run("xt:LOG", {}) is True
    assert run("xt:NFQUEUE", {}) == Decision(word="unknown", because="target NFQUEUE is not known")
    for name, fields in (
        ("xt:DNAT", {"first": "1.2.3.4", "ports": [1, 1]}),
        ("xt:SNAT", {"first": "1.2.3.4"}),
        ("xt:MASQUERADE", {}),
        ("xt:NETMAP", {"network": "1.2.3.0/24"}),
    ):
        assert run(name, fields) == Decision(word="accept")  # type: ignore[arg-type]
    assert run("xt:REDIRECT", {"ports": [9, 9]}, hook="output") == Decision(word="accept")


def test_marks() -> None:
    evaluation = Evaluation(packet=PACKET, hook="prerouting", namespace=HERE)
    for name, fields in (
        ("xt:MARK", {"mark": 0x100, "mask": 0xF00}),
        ("xt:CONNMARK", {"mode": "save", "mask": 0xFFFFFFFF}),
        ("xt:MARK", {"mark": 0, "mask": 0xFFFFFFFF}),
        ("xt:CONNMARK", {"mode": "restore", "mask": 0xFFFFFFFF}),
    ):
        assert step(Expression(name=name, fields=fields), evaluation) is True  # type: ignore[arg-type]
    assert (evaluation.packet.mark, evaluation.packet.connection_mark) == (0x115, 0x115)


def test_states_of_a_known_connection() -> None:
    known = replace(PACKET, state=ConnectionState.ESTABLISHED, reply=True, original_destination="10.9.9.9")
    assert run("xt:conntrack", {"states": ["RELATED", "ESTABLISHED"]}, known) is True
    assert run("xt:conntrack", {"states": ["DNAT"], "direction": "REPLY"}, known) is True


def test_networks() -> None:
    assert in_network("fd00::1", "fd00::/8") is True
    assert in_network("10.0.0.1", "fd00::/8") is False
    assert in_network("", "10.0.0.0/8") is None
