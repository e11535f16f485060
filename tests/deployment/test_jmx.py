"""The prediction of both hops of JMX, by vantage, where real clients are not asked (tests/live/test_jmx.py does)."""

from dataclasses import replace

import pytest

from netdiag.config import Facts
from netdiag.deployment.model.deployment import Deployment, HostKind, Platform
from netdiag.deployment.model.jmx import JmxVerdict
from netdiag.deployment.model.verdict import parse_address
from netdiag.deployment.prediction.jmx import jmx_addresses, predict_jmx
from tests.deployment.stacks import deployment_of
from tests.rules.test_edges_jmx import stack
from tests.scenarios.predicted import vantage_of

LOCALHOST = "KAFKA_JMX_PORT: 9101\nKAFKA_JMX_HOSTNAME: localhost"


def deployment(jmx: str, ports: str = "9101:9101", extra: str = "") -> Deployment:
    made = deployment_of(stack(jmx, ports, extra), host_addresses=("192.168.8.133",))
    return replace(made, facts=Facts(resolves={"*": ""}))


def verdict(made: Deployment, vantage: str, registry: str) -> JmxVerdict:
    (cell,) = predict_jmx(made, [vantage_of(vantage, made)], [parse_address(registry)])
    assert cell.predicted is not None
    return cell.predicted


def test_the_addresses_that_people_try() -> None:
    made = deployment(LOCALHOST, "19101:9101")
    assert list(map(str, jmx_addresses(made))) == ["kafka:9101", "localhost:19101", "192.168.8.133:19101"]
    assert jmx_addresses(deployment("KAFKA_HEAP_OPTS: -Xmx1g")) == ()


@pytest.mark.parametrize(
    ("jmx", "word", "because"),
    [
        (f"{LOCALHOST}\nKAFKA_OPTS: -Dcom.sun.management.jmxremote.ssl=true", "unknown", "speaks TLS"),
        (
            f"{LOCALHOST}\nKAFKA_OPTS: -Dcom.sun.management.jmxremote.authenticate=true",
            "unknown",
            "asks for a password",
        ),
        (LOCALHOST, "ok", "the RMI server of kafka answers"),
        (
            "KAFKA_JMX_PORT: 9101\nKAFKA_JMX_HOSTNAME: kafka",
            "stub: unresolved",
            'the docker host does not resolve "kafka"',
        ),
        (
            "KAFKA_JMX_OPTS: -Dcom.sun.management.jmxremote.port=9101 -Djava.rmi.server.hostname=localhost",
            "stub: refused",
            "the docker host",
        ),
        # Another listener of the same broker is where the stub leads.
        (
            "KAFKA_JMX_OPTS: -Dcom.sun.management.jmxremote.port=9101 -Dcom.sun.management.jmxremote.rmi.port=9092 "
            "-Djava.rmi.server.hostname=kafka",
            "stub: unresolved",
            "",
        ),
    ],
)
def test_from_the_docker_host(jmx: str, word: str, because: str) -> None:
    found = verdict(deployment(jmx), "H", "localhost:9101")
    assert str(found) == word
    assert because in found.because


def test_what_is_no_registry() -> None:
    made = deployment(LOCALHOST)
    assert str(verdict(made, "C(default)", "kafka:9092")) == "registry: not-jmx"
    assert verdict(made, "C(default)", "kafka:9092").because == "listener PLAINTEXT of kafka answers there, not JMX"
    two = deployment(
        "KAFKA_JMX_OPTS: -Dcom.sun.management.jmxremote.port=9101 -Dcom.sun.management.jmxremote.rmi.port=9102"
    )
    assert verdict(two, "C(default)", "kafka:9102").because == "the RMI port of kafka has no registry"


def test_a_container_on_two_networks_does_not_know_its_first_address() -> None:
    extra = "    networks: [front, back]\n"
    made = deployment("KAFKA_JMX_PORT: 9101", extra=extra)
    assert str(verdict(made, "H", "localhost:9101")) == "unknown"


def test_desktop() -> None:
    made = replace(deployment("KAFKA_JMX_PORT: 9101"), platform=Platform(kind=HostKind.DESKTOP))
    assert str(verdict(made, "H", "localhost:9101")) == "stub: timeout"


def test_a_bound_address_and_host_mode() -> None:
    options = "-Dcom.sun.management.jmxremote.host=127.0.0.1"
    assert (
        str(verdict(deployment(f"{LOCALHOST}\nKAFKA_OPTS: {options}"), "C(default)", "kafka:9101"))
        == "registry: refused"
    )
    hosted = deployment(LOCALHOST, extra="    network_mode: host\n")
    assert str(verdict(hosted, "H", "localhost:9101")) == "ok"
    assert list(map(str, jmx_addresses(hosted)))[1:] == ["localhost:9101", "192.168.8.133:9101"]
