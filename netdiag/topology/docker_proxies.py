"""docker-proxy processes: the arguments tell which published port each of them serves, and whom it connects to."""

from collections.abc import Iterator
from dataclasses import dataclass

from netdiag.linux.process import Process
from netdiag.topology.known import Known, plain

NAME = "docker-proxy"


@dataclass(frozen=True, slots=True, kw_only=True)
class DockerProxy:
    """One of them: it listens on `host_ip` and connects to `container_ip`. Source: moby, cmd/docker-proxy."""

    pid: int
    protocol: str
    host_ip: str
    host_port: int
    container_ip: str
    container_port: int


def docker_proxies(known: Known) -> tuple[DockerProxy, ...]:
    """Those of the docker host, by pid; other engines of this machine have proxies of their own."""
    return tuple(_found(known))


def parse_proxy(process: Process) -> DockerProxy | None:
    """The proxy that a process is by its arguments; None for one that does not tell."""
    given = _options(process.argv[1:])
    host_port, container_port = given.get("host-port", ""), given.get("container-port", "")
    if not host_port.isdecimal() or not container_port.isdecimal():
        return None
    return DockerProxy(
        pid=process.pid,
        protocol=given.get("proto", "tcp"),
        host_ip=plain(given.get("host-ip", "")),
        host_port=int(host_port),
        container_ip=plain(given.get("container-ip", "")),
        container_port=int(container_port),
    )


def _found(known: Known) -> Iterator[DockerProxy]:
    if known.host is None:
        return
    for _, process in sorted(known.inventory.processes.items()):
        if process.comm == NAME and process.netns == known.host:
            proxy = parse_proxy(process)
            if proxy is not None:
                yield proxy


def _options(words: tuple[str, ...]) -> dict[str, str]:
    """Flags as Go's package flag takes them: one dash or two, the value behind a blank or an equals sign."""
    found: dict[str, str] = {}
    name = ""
    for word in words:
        if word.startswith("-") and len(word) > 1 and not word.lstrip("-").isdecimal():
            name, equals, value = word.lstrip("-").partition("=")
            found[name] = value
            if equals:
                name = ""
        elif name:
            found[name] = word
            name = ""
    return found
