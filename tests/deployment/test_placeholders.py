"""Which hosts stand for an address and are none."""

import pytest

from netdiag.deployment.misread_settings import is_placeholder, placeholder_in

PLACEHOLDERS = (
    "MY_EXTERNAL_IP YOUR_HOST HOST_IP DOCKER_HOST_IP your-ip your.server.com YOURIP MYIP x.x.x.x XXX.XXX.XXX.XXX "
    "changeme change-me Your_Host"
)
HOSTS = (
    "kafka my-kafka my-host KAFKA kafka_1 host.docker.internal localhost 10.0.0.1 BROKER_1 example.com server "
    "ip-10-0-0-1"
)


@pytest.mark.parametrize("host", PLACEHOLDERS.split())
def test_placeholders(host: str) -> None:
    assert is_placeholder(host)


@pytest.mark.parametrize("host", [*HOSTS.split(), ""])
def test_names_of_hosts(host: str) -> None:
    assert not is_placeholder(host)


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ("PLAINTEXT://<your-ip>:9092", "<your-ip>"),
        ("PLAINTEXT://{{ ansible_host }}:9092", "{{ ansible_host }}"),
        ("PLAINTEXT://[your host]:9092", "[your host]"),
        ("PLAINTEXT://[::1]:9092", None),
        ("PLAINTEXT:/kafka:9092", None),
    ],
)
def test_brackets(entry: str, text: str | None) -> None:
    assert placeholder_in(entry) == text
