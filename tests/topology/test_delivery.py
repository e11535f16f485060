"""Which socket answers, and whom a docker-proxy connects to."""

import pytest

from netdiag.linux.process import Process
from netdiag.linux.socket import Listener, Protocol
from netdiag.topology.delivery import Proxied, described, find_listener, proxied
from netdiag.topology.terrain import Place
from tests.topology.wires import Wires


def place(*listeners: tuple[str, str]) -> Place:
    """Sockets on port 9092: address and "v6only", a device's index or nothing."""
    from dataclasses import replace

    made = tuple(
        Listener(
            protocol=Protocol.TCP,
            family=6 if ":" in address else 4,
            address=address,
            port=9092,
            inode=number,
            v6only=more == "v6only",
            ifindex=int(more) if more.isdecimal() else None,
        )
        for number, (address, more) in enumerate(listeners, 1)
    )
    return Place(replace(Wires().space("a").facts(), listeners=made))


@pytest.mark.parametrize(
    ("listeners", "address", "inode"),
    [
        ([("0.0.0.0", "")], "10.0.0.1", 1),
        ([("0.0.0.0", ""), ("10.0.0.1", "")], "10.0.0.1", 2),
        ([("127.0.0.1", "")], "10.0.0.1", None),
        ([("::", "")], "10.0.0.1", 1),
        ([("::", "v6only")], "10.0.0.1", None),
        ([("::", ""), ("0.0.0.0", "")], "10.0.0.1", 2),
        ([("::ffff:10.0.0.1", "")], "10.0.0.1", 1),
        ([("0.0.0.0", "")], "fd00::1", None),
        ([("::", "v6only")], "fd00::1", 1),
        ([("::", ""), ("fd00::1", "")], "fd00::1", 2),
        ([("::1", "")], "fd00::1", None),
        ([("0.0.0.0", "5")], "10.0.0.1", None),
        ([("0.0.0.0", ""), ("0.0.0.0", "2")], "10.0.0.1", 2),
    ],
)
def test_the_closest_socket_answers(listeners: list[tuple[str, str]], address: str, inode: int | None) -> None:
    found = find_listener(place(*listeners), "tcp", address, 9092, 2)
    assert (found.inode if found else None) == inode
    assert find_listener(place(*listeners), "udp", address, 9092, 2) is None
    assert find_listener(place(*listeners), "tcp", address, 9093, 2) is None


@pytest.mark.parametrize(
    "argv",
    [
        ("docker-proxy", "-proto", "tcp", "-container-ip", "172.18.0.2", "-container-port", "9092"),
        ("docker-proxy", "--container-ip=172.18.0.2", "--container-port=9092", "-use-listen-fd"),
    ],
)
def test_a_docker_proxy_says_where_it_connects_to(argv: tuple[str, ...]) -> None:
    made = Wires()
    made.processes[7] = Process(pid=7, comm="docker-proxy", started=1, netns=5, argv=argv)
    listener = Listener(protocol=Protocol.TCP, family=4, address="0.0.0.0", port=9092, inode=1, pids=(7,))
    assert proxied(made.inventory, listener) == Proxied(pid=7, netns=5, address="172.18.0.2", port=9092)
    assert described(made.inventory, listener) == "docker-proxy (pid 7) on 0.0.0.0:9092"


def test_others_are_no_proxies() -> None:
    made = Wires()
    made.processes[7] = Process(pid=7, comm="java", started=1, netns=5)
    made.processes[8] = Process(pid=8, comm="docker-proxy", started=1, netns=5, argv=("docker-proxy", "-container-ip"))
    for pid in (7, 8, 9):
        listener = Listener(protocol=Protocol.TCP, family=6, address="::", port=9092, inode=1, pids=(pid,))
        assert proxied(made.inventory, listener) is None
    assert described(made.inventory, listener) == "process 9 on [::]:9092"
    kernel = Listener(protocol=Protocol.TCP, family=4, address="0.0.0.0", port=2049, inode=0)
    assert described(made.inventory, kernel) == "the kernel on 0.0.0.0:2049"
