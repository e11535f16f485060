"""Published ports: asked for and in force, by DNAT and by docker-proxy, up to the socket."""

from dataclasses import replace

import pytest

from netdiag.engine.container import PortBinding, Status
from netdiag.linux.procfs import Process
from netdiag.linux.ruleset import Chain, FilterRule, Origin, Ruleset, Table
from netdiag.topology.graph import Published, PublishedBy, Topology
from netdiag.topology.join import join
from netdiag.topology.places import JoinIndex
from netdiag.topology.published_ports import DnatRule, DockerProxy, dnat_rules, docker_proxies, parse_proxy
from tests.topology.five_brokers import machine
from tests.topology.machine import Machine
from tests.topology.namespaces import ROOT


def web(host_ip: str = "", *, listens: tuple[int, ...] = (80,), userland_proxy: bool = True) -> Machine:
    made = Machine(userland_proxy=userland_proxy)
    made.network("net", "172.18.0.0/16")
    made.container("web", networks=("net",), ports=((host_ip, 8080, 80),), listens=listens, command=("web",))
    return made


def by_key(topology: Topology) -> dict[str, Published]:
    return {port.key: port for port in topology.published}


def test_from_the_request_to_the_socket() -> None:
    ports = by_key(web().topology())
    assert list(ports) == ["0.0.0.0:8080/tcp", "[::]:8080/tcp"]
    port = ports["0.0.0.0:8080/tcp"]
    assert port.by == (PublishedBy.DNAT, PublishedBy.PROXY)
    assert port.dnat == (
        "-A DOCKER ! -i br-010101010101 -p tcp -m tcp --dport 8080 -j DNAT --to-destination 172.18.0.2:80",
    )
    assert (port.to_address, port.proxies, port.pids) == ("172.18.0.2", (900,), (5010,))
    assert (port.asked, port.in_force, port.target) == (True, True, 80)
    six = ports["[::]:8080/tcp"]
    assert (six.by, six.to_address, six.pids) == ((PublishedBy.PROXY,), "172.18.0.2", (5010,))


def test_without_proxies() -> None:
    (port,) = web(userland_proxy=False).topology().published
    assert port.by == (PublishedBy.DNAT,)


def test_one_address_of_the_host() -> None:
    (port,) = web("127.0.0.1").topology().published
    assert (port.key, port.by) == ("127.0.0.1:8080/tcp", (PublishedBy.DNAT, PublishedBy.PROXY))


@pytest.mark.parametrize(("address", "pids"), [("0.0.0.0", (5010,)), ("172.18.0.2", (5010,)), ("127.0.0.1", ())])
def test_only_a_socket_that_can_be_reached_from_outside_counts(address: str, pids: tuple[int, ...]) -> None:
    made = web(listens=())
    made.spaces[made.processes[5010].netns or 0].listen(80, pids=[5010], address=address)
    assert {port.pids for port in made.topology().published} == {pids}


def test_a_proxy_that_was_killed() -> None:
    made = web()
    del made.processes[900]
    port = by_key(made.topology())["0.0.0.0:8080/tcp"]
    assert (port.by, port.proxies) == ((PublishedBy.DNAT,), ())
    assert made.topology().unmatched == ()


def test_a_rule_that_was_deleted() -> None:
    made = web()
    made.nat = [line for line in made.nat if "DNAT" not in line]
    assert by_key(made.topology())["0.0.0.0:8080/tcp"].by == (PublishedBy.PROXY,)


def test_a_port_that_nothing_serves() -> None:
    made = web(userland_proxy=False)
    made.nat = [line for line in made.nat if "DNAT" not in line]
    topology = made.topology()
    (port,) = topology.published
    assert (port.by, port.to_address, port.in_force) == ((), "", True)
    (unmatched,) = topology.unmatched
    assert unmatched.subject == "published port 0.0.0.0:8080/tcp of container web"
    assert unmatched.because == "no DNAT rule and no docker-proxy leads to the container"


def test_rules_that_could_not_be_read_are_not_missing() -> None:
    made = web(userland_proxy=False)
    whole = made.inventory()
    docker_host = replace(whole.namespaces[ROOT], ruleset=Ruleset(unread=("nf_tables: operation not permitted",)))
    partial = replace(whole, namespaces={**whole.namespaces, ROOT: docker_host})
    topology = join(partial, containers=made.containers.values(), networks=made.networks.values(), docker_host=ROOT)
    assert topology.published[0].by == ()
    assert topology.unmatched == ()


def test_what_is_asked_for_and_not_in_force() -> None:
    """As the engine does for a container on an internal network only, and after a disconnect."""
    made = web()
    (container,) = made.containers.values()
    made.containers[container.id] = replace(container, ports=())
    (port,) = made.topology().published
    assert (port.key, port.asked, port.in_force, port.by) == ("0.0.0.0:8080/tcp", True, False, ())


def test_any_port_and_all_ports() -> None:
    made = web()
    (container,) = made.containers.values()
    any_port = replace(container.requested_ports[0], published=None)
    made.containers[container.id] = replace(container, requested_ports=(any_port,))
    assert {(p.asked, p.in_force) for p in made.topology().published} == {(True, True)}
    made.containers[container.id] = replace(container, requested_ports=(), publish_all=True)
    assert {(p.asked, p.in_force) for p in made.topology().published} == {(True, True)}
    made.containers[container.id] = replace(container, requested_ports=())
    assert {(p.asked, p.in_force) for p in made.topology().published} == {(False, True)}


def test_two_containers_that_ask_for_one_port() -> None:
    made = web()
    made.container("late", networks=("net",), ports=(("0.0.0.0", 8080, 80),), status=Status.CREATED)
    assert [(p.key, p.in_force) for p in made.topology().published] == [
        ("0.0.0.0:8080/tcp", True),
        ("[::]:8080/tcp", True),
        ("0.0.0.0:8080/tcp (late)", False),
    ]


def test_udp_and_sctp() -> None:
    made = web()
    (container,) = made.containers.values()
    ports = tuple(PortBinding(target=80, protocol=p, host_ip="0.0.0.0", published=8080) for p in ("tcp", "udp", "sctp"))
    made.containers[container.id] = replace(container, ports=ports, requested_ports=ports)
    found = {port.protocol: port for port in made.topology().published}
    assert (found["tcp"].pids, found["udp"].pids, found["sctp"].pids) == ((5010,), (), None)
    assert found["udp"].by == found["sctp"].by == ()


def test_a_rule_or_proxy_for_another_container_is_not_its_own() -> None:
    made = machine()
    topology = made.topology()
    for port in topology.published:
        (address,) = (e.ipv4_address for e in topology.containers[port.container].networks)
        assert port.to_address == address
        assert all(address in rule for rule in port.dnat)


def test_ports_of_a_container_that_ended_meanwhile() -> None:
    made = web(userland_proxy=False)
    made.nat = [line for line in made.nat if "DNAT" not in line]
    inode = made.processes.pop(5010).netns
    assert inode is not None
    del made.spaces[inode]
    for index in list(made.host.ends):
        del made.host.ends[index]
        del made.host.links[index]
    assert [one.because for one in made.topology().unmatched] == ["its process 5010 has exited in the meantime"]


def ruleset(*texts: str, origin: Origin = Origin.IPTABLES_NFT, family: str = "ip") -> Ruleset:
    rules = tuple(
        FilterRule(number=number, handle=number, expressions=(), text=text) for number, text in enumerate(texts, 1)
    )
    return Ruleset(
        tables=(Table(family=family, name="nat", origin=origin, chains=(Chain(name="DOCKER", rules=rules),)),)
    )


def only(text: str, *, origin: Origin = Origin.IPTABLES_NFT) -> DnatRule:
    (rule,) = dnat_rules(ruleset(text, origin=origin))
    return rule


Said = tuple[str, str, range, str, int | None]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "-A DOCKER ! -i br-1 -p tcp -m tcp --dport 9091 -j DNAT --to-destination 172.18.0.2:29092",
            ("tcp", "", range(9091, 9092), "172.18.0.2", 29092),
            id="engine-20-to-29",
        ),
        pytest.param(
            "-A DOCKER -d 127.0.0.1/32 -p udp -m udp --dport 53 -j DNAT --to-destination 10.0.0.9:5353",
            ("udp", "127.0.0.1", range(53, 54), "10.0.0.9", 5353),
            id="loopback-without-proxy",
        ),
        pytest.param(
            "-A DOCKER -d 0.0.0.0/0 -p tcp -m tcp --dport 80 -j DNAT --to-destination 10.0.0.9:80",
            ("tcp", "", range(80, 81), "10.0.0.9", 80),
            id="everywhere-written-out",
        ),
        pytest.param(
            "-A DOCKER ! -i br-1 -p tcp -m tcp --dport 80 -j DNAT --to-destination [fd00::2]:80",
            ("tcp", "", range(80, 81), "fd00::2", 80),
            id="ipv6",
        ),
        pytest.param(
            "-A X -i eth0 -p sctp -m sctp --dport 7000:7002 -j DNAT --to-destination 10.0.0.9",
            ("sctp", "", range(7000, 7003), "10.0.0.9", None),
            id="a-range-that-keeps-its-ports",
        ),
        pytest.param(
            '-A X -p tcp -m comment --comment "-j DROP -d 1.1.1.1 \\" --dport 5" -m tcp --dport 80 -j DNAT '
            "--to-destination 10.0.0.9:80",
            ("tcp", "", range(80, 81), "10.0.0.9", 80),
            id="a-comment-that-pretends",
        ),
    ],
)
def test_iptables(text: str, expected: Said) -> None:
    rule = only(text)
    assert (rule.protocol, rule.host_ip, rule.ports, rule.to_address, rule.to_port) == expected
    assert rule.address.text == text
    assert str(rule.address) == "iptables-nft ip nat DOCKER #1"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            'iifname != "br-1" tcp dport 9091 counter packets 0 bytes 0 dnat to 172.18.0.2:29092 comment "DNAT"',
            ("tcp", "", range(9091, 9092), "172.18.0.2", 29092),
            id="engine-29",
        ),
        pytest.param(
            "ip daddr 127.0.0.1 udp dport 53 counter packets 3 bytes 9 dnat to 10.0.0.9:5353",
            ("udp", "127.0.0.1", range(53, 54), "10.0.0.9", 5353),
            id="one-address",
        ),
        pytest.param(
            "tcp dport 80 dnat ip6 to [fd00::2]:80",
            ("tcp", "", range(80, 81), "fd00::2", 80),
            id="ipv6-in-inet",
        ),
        pytest.param("tcp dport 7000-7002 dnat to fd00::2", ("tcp", "", range(7000, 7003), "fd00::2", None), id="bare"),
    ],
)
def test_nftables(text: str, expected: Said) -> None:
    rule = only(text, origin=Origin.NFTABLES)
    assert (rule.protocol, rule.host_ip, rule.ports, rule.to_address, rule.to_port) == expected


@pytest.mark.parametrize(
    "text",
    [
        "-A DOCKER -i br-1 -j RETURN",
        "-A X -p tcp -m tcp --dport 80 -j REDIRECT --to-ports 8080",
        "-A X -p tcp -j DNAT --to-destination 10.0.0.9",
        "-A X -p tcp -m tcp ! --dport 80 -j DNAT --to-destination 10.0.0.9:80",
        "-A X ! -d 10.0.0.1/32 -p tcp -m tcp --dport 80 -j DNAT --to-destination 10.0.0.9:80",
        "-A X -p tcp -m tcp --dport 80 -j DNAT --to-destination 10.0.0.2-10.0.0.9:80",
        "-A X -p tcp -m tcp --dport 80 -j DNAT --to-destination",
        "-A X -p tcp -m tcp --dport -j DNAT --to-destination 10.0.0.9:80",
        '-A X -p tcp -m comment --comment "-j DNAT --to-destination 10.0.0.9:80 --dport 80"',
        "",
    ],
)
def test_what_rewrites_to_no_single_place_is_passed_over(text: str) -> None:
    assert not list(dnat_rules(ruleset(text)))


@pytest.mark.parametrize(
    "text",
    [
        "tcp dport { 80, 81 } dnat to 10.0.0.9:80",
        "tcp dport != 80 dnat to 10.0.0.9:80",
        "dnat to tcp dport map { 80 : 10.0.0.9 }",
        "tcp dport 80 dnat to 10.0.0.2-10.0.0.9:80",
        'tcp dport 80 accept comment "dnat to 10.0.0.9:80"',
        "",
    ],
)
def test_what_nft_rewrites_to_no_single_place_is_passed_over(text: str) -> None:
    assert not list(dnat_rules(ruleset(text, origin=Origin.NFTABLES)))


def published(host_ip: str = "127.0.0.1", **other: object) -> Published:
    port = Published(
        key="", host_ip=host_ip, published=80, protocol="tcp", container="", target=8080, asked=True, in_force=True
    )
    return replace(port, **other)  # type: ignore[arg-type]


def test_which_port_a_rule_serves() -> None:
    rule = only("-A X -d 127.0.0.1/32 -p tcp -m tcp --dport 80 -j DNAT --to-destination 10.0.0.9:8080")
    assert rule.serves(published())
    assert not rule.serves(published(protocol="udp"))
    assert not rule.serves(published("127.0.0.2"))
    assert not rule.serves(published("0.0.0.0"))
    assert not rule.serves(published(published=81))
    assert not rule.serves(published(target=8081))
    everywhere = only("-A X -p tcp -m tcp --dport 80 -j DNAT --to-destination 10.0.0.9:8080")
    assert everywhere.serves(published("0.0.0.0"))
    assert not everywhere.serves(published("::"))
    assert not everywhere.serves(published())


PROXY = DockerProxy(
    pid=9, protocol="tcp", host_ip="0.0.0.0", host_port=9091, container_ip="172.18.0.2", container_port=29092
)
ARGV = "-proto tcp -host-ip 0.0.0.0 -host-port 9091 -container-ip 172.18.0.2 -container-port 29092"


@pytest.mark.parametrize(
    "words",
    [
        ARGV,
        f"{ARGV} -use-listen-fd",
        ARGV.replace(" -", " --").replace("-proto", "--proto"),
        "-proto=tcp -host-ip=0.0.0.0 -host-port=9091 -container-ip=172.18.0.2 -container-port=29092",
        f"-debug {ARGV}",
    ],
)
def test_arguments(words: str) -> None:
    argv = ("/usr/bin/docker-proxy", *words.split())
    assert parse_proxy(Process(pid=9, comm="docker-proxy", started=1, netns=ROOT, argv=argv)) == PROXY


@pytest.mark.parametrize(
    "words", ["", "-host-port x -container-port 1", "-host-port 1", "-host-port -container-port 1"]
)
def test_one_that_does_not_tell(words: str) -> None:
    argv = ("docker-proxy", *words.split())
    assert parse_proxy(Process(pid=9, comm="docker-proxy", started=1, netns=ROOT, argv=argv)) is None


def test_only_those_of_the_docker_host() -> None:
    made = Machine()
    argv = ("docker-proxy", *ARGV.split())
    made.process(9, "docker-proxy", made.host, argv=argv)
    made.process(10, "docker-proxy", made.space(names=("other",)), argv=argv)
    made.process(11, "docker-proxy", made.host)
    made.process(12, "java", made.host, argv=argv)
    inventory = made.inventory()
    assert list(docker_proxies(JoinIndex(inventory=inventory, containers={}, docker_host=ROOT))) == [PROXY]
    assert not list(docker_proxies(JoinIndex(inventory=inventory, containers={}, docker_host=None)))


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
