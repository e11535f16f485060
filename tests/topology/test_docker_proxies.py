"""What docker-proxies say of themselves."""

import pytest

from netdiag.linux.process import Process
from netdiag.topology.docker_proxies import DockerProxy, docker_proxies, parse_proxy
from netdiag.topology.known import Known
from tests.topology.machine import Machine
from tests.topology.spaces import ROOT

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
    assert docker_proxies(Known(inventory=inventory, containers={}, host=ROOT)) == (PROXY,)
    assert docker_proxies(Known(inventory=inventory, containers={}, host=None)) == ()
