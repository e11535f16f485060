"""What `docker stack deploy` refuses in a Compose file; in the bar, `docker stack config` judges."""

import subprocess
from functools import cache
from pathlib import Path

import pytest

from netdiag.compose.positions import Source
from netdiag.compose.version_three import refusals
from tests.debian import find

_K = "services:\n  k:\n    image: x\n"
# text -> what is refused, as docker/cli 28.2 does
_CASES = {
    _K: (),
    f"{_K}    x-b: 2\nx-a: 1\n": (),
    f"name: shop\n{_K}": ("name",),
    f"include: [a.yml]\n{_K}": ("include",),
    f"version: '3.8'\n{_K}": (),
    f"version: 3.8\n{_K}": ("version as a number",),
    f"version: '2.4'\n{_K}": ("version 2.4",),
    f"{_K}    ports: [{{target: 9094, published: 9094, mode: host}}]\n": (),
    f"{_K}    ports: [{{target: 9094, published: '9094'}}]\n": ("k: ports[0].published as a text",),
    f"{_K}    ports: [{{target: 9094, published: '${{P:-9094}}'}}]\n": (),
    f"{_K}    ports: ['9094:9094', {{target: 1, host_ip: '::', name: a}}]\n": (
        "k: ports[1].host_ip",
        "k: ports[1].name",
    ),
    f"{_K}    ports: ['127.0.0.1:9094:9094', 80, '1-3:1-3/udp']\n": (),
    f"{_K}    depends_on: {{z: {{condition: service_started}}}}\n  z: {{image: y}}\n": ("k: depends_on as a mapping",),
    f"{_K}    depends_on: [z]\n  z: {{image: y}}\n": (),
    f"{_K}    networks: {{a: {{priority: 1}}}}\nnetworks: {{a: }}\n": ("k: networks.a.priority",),
    f"{_K}    networks: {{a: {{aliases: [b]}}, c: }}\nnetworks: {{a: {{}}, c: }}\n": (),
    f"{_K}    networks: [a]\nnetworks: {{a: {{enable_ipv6: true}}}}\n": ("networks.a.enable_ipv6",),
    f"{_K}    networks: [a]\nnetworks: {{a: {{ipam: {{config: [{{subnet: 10.0.0.0/8, gateway: 10.0.0.1}}]}}}}}}\n": (
        "networks.a.ipam.config[0].gateway",
    ),
    f"{_K}    env_file: [{{path: a.env, required: false}}]\n": ("k: env_file[0] as a mapping",),
    f"{_K}    container_name: a\n    deploy: {{replicas: 3}}\n": (),
    f"{_K}    scale: 2\n    runtime: runc\n    profiles: [a]\n": ("k: scale", "k: runtime", "k: profiles"),
    f"{_K}    mem_limit: 1g\n    volumes_from: [z]\n    extends: {{service: z}}\n  z: {{image: y}}\n": (
        "k: mem_limit",
        "k: volumes_from",
        "k: extends",
    ),
    f"{_K}    environment: {{A: true, B: 1, C: , D: 1.5}}\n": ("k: environment.A as true or false",),
    f"{_K}    environment: [A=1]\n    labels: {{a: b}}\n": (),
    f"{_K}    healthcheck: {{test: a, start_interval: 1s}}\n    init: true\n    build: .\n    network_mode: host\n": (),
    f"{_K}    deploy: {{mode: global, endpoint_mode: dnsrr, placement: {{constraints: [a==b]}}}}\n": (),
    f"{_K}    deploy: {{replicas: 2, replicas_x: 1}}\n": ("k: deploy.replicas_x",),
    f"{_K}    deploy: {{replicas: '2'}}\n": ("k: deploy.replicas as a text",),
    f"{_K}    volumes: ['v:/a']\nvolumes: {{v: {{driver: local}}}}\n": (),
    f"{_K}configs: {{c: {{content: abc}}}}\n": ("configs.c.content",),
    "x-k: &k {image: x, scale: 1}\nservices:\n  k:\n    <<: *k\n": ("k: scale",),
}


@pytest.mark.parametrize("text", _CASES)
def test_what_is_refused(text: str) -> None:
    found = [f"{service}: {what}" if service else what for service, what in refusals(Source("stack.yml", text))]
    assert sorted(found) == sorted(_CASES[text])


# Debian's docker command has no `stack config`, which came with release 25.
@pytest.mark.bar("swarm", long=True)
@pytest.mark.parametrize("text", _CASES)
def test_the_command_refuses_the_same(text: str, tmp_path: Path) -> None:
    docker = _docker()
    assert docker is not None, "install a docker command of release 25 or later"
    (tmp_path / "stack.yml").write_text(text, encoding="utf-8")
    done = subprocess.run(
        [docker, "stack", "config", "-c", "stack.yml"], cwd=tmp_path, capture_output=True, check=False
    )
    assert (done.returncode != 0) == bool(_CASES[text]), done.stderr


@cache
def _docker() -> str | None:
    docker = find("docker")
    if docker is None:
        return None
    done = subprocess.run([docker, "stack", "config", "--help"], capture_output=True, text=True, check=False)
    return docker if "--compose-file" in done.stdout else None


@pytest.mark.parametrize(
    "text", ["", "[]", "a", "services: [", "services: 7", "services: {k: }", "? [a]\n: b", "&a *a"]
)
def test_what_is_no_stack_ends_without_an_error(text: str) -> None:
    assert len(list(refusals(Source("stack.yml", text)))) < 3
