"""What the schema of version 3 refuses in a Compose file, which `docker stack deploy` still reads.

The tables are those of docker/cli, cli/compose/schema/data/config_schema_v3.13.json, the newest: a line for each place,
a word for each field there, its name and the kinds that it may have, written as letters (s string, n number, b boolean,
l list, m mapping, 0 null). Older releases of the command know less: 20.10 takes a file without `version` for one of
version 1.
"""

from collections.abc import Iterator

from netdiag.compose.merge import expand
from netdiag.compose.positions import Source
from netdiag.compose.problems import ComposeError, Problems
from netdiag.compose.values import Mapping, Scalar, Scope, Sequence, Value
from netdiag.compose.yaml_tree import load_nodes

_LETTERS = {"null": "0", "bool": "b", "int": "n", "float": "n", "str": "s", "time": "s"}
_WORDS = {"s": "a text", "n": "a number", "b": "true or false", "l": "a list", "m": "a mapping", "0": "nothing"}
_VERSIONS = frozenset({"", "3", *(f"3.{minor}" for minor in range(14))})
_TABLES = {
    "": "configs:m networks:m secrets:m services:m version:s volumes:m",
    "services.*": (
        "build:ms cap_add:l cap_drop:l cgroup_parent:s cgroupns_mode:s command:ls configs:l container_name:s"
        " credential_spec:m depends_on:l deploy:0m devices:l dns:ls dns_search:ls domainname:s entrypoint:ls"
        " env_file:ls environment:lm expose:l external_links:l extra_hosts:lm healthcheck:m hostname:s image:s init:b"
        " ipc:s isolation:s labels:lm links:l logging:m mac_address:s network_mode:s networks:lm oom_score_adj:n pid:0s"
        " ports:l privileged:b read_only:b restart:s secrets:l security_opt:l shm_size:ns stdin_open:b"
        " stop_grace_period:s stop_signal:s sysctls:lm tmpfs:ls tty:b ulimits:m user:s userns_mode:s volumes:l"
        " working_dir:s"
    ),
    "services.*.deploy": (
        "endpoint_mode:s labels:lm mode:s placement:m replicas:n resources:m restart_policy:m rollback_config:m"
        " update_config:m"
    ),
    "services.*.deploy.placement": "constraints:l max_replicas_per_node:n preferences:l",
    "services.*.depends_on": "[]:s",
    "services.*.env_file": "[]:s",
    "services.*.environment": "*:sn0 []:s",
    "services.*.extra_hosts": "*:sn0 []:s",
    "services.*.labels": "*:sn0 []:s",
    "services.*.healthcheck": "disable:b interval:s retries:n start_interval:s start_period:s test:ls timeout:s",
    "services.*.networks": "*:0m []:s",
    "services.*.networks.*": "aliases:l driver_opts:m ipv4_address:s ipv6_address:s",
    "services.*.ports": "[]:mns",
    "services.*.ports[]": "mode:s protocol:s published:n target:n",
    "networks": "*:0m",
    "networks.*": "attachable:b driver:s driver_opts:m external:bm internal:b ipam:m labels:lm name:s",
    "networks.*.ipam": "config:l driver:s",
    "networks.*.ipam.config": "[]:m",
    "networks.*.ipam.config[]": "subnet:s",
    "volumes": "*:0m",
    "volumes.*": "driver:s driver_opts:m external:bm labels:lm name:s x-cluster-spec:m",
    "secrets.*": "driver:s driver_opts:m external:bm file:s labels:lm name:s template_driver:s",
    "configs.*": "external:bm file:s labels:lm name:s template_driver:s",
}
_SHAPES = {where: dict(word.rsplit(":", 1) for word in text.split()) for where, text in _TABLES.items()}
# Below these, names are anybody's.
_OPEN = frozenset({"services", "networks", "volumes", "secrets", "configs"})


def refusals(source: Source) -> Iterator[tuple[str, str]]:
    """Each field that the schema refuses: the service ("" for what stands outside of services), and what it has."""
    try:
        (node, *_) = load_nodes(source)
        top = expand(source, node, Scope(folder="", lookup=lambda _: None, substitutes=False), Problems()).value
    except (ComposeError, ValueError):
        # Whoever loads the project says so.
        return
    if not isinstance(top, Mapping):
        return
    version = top.get("version")
    if isinstance(version, Scalar) and version.kind == "str" and version.value not in _VERSIONS:
        yield "", f"version {version.value}"
    yield from _below(top, "", "", "")


def _below(value: Value, pattern: str, said: str, service: str) -> Iterator[tuple[str, str]]:
    shape = _SHAPES.get(pattern, {})
    if isinstance(value, Sequence):
        for index, item in enumerate(value.items):
            yield from _field(item, shape.get("[]", ""), f"{pattern}[]", f"{said}[{index}]", service)
        return
    for name, entry in value.entries.items() if isinstance(value, Mapping) else ():
        if pattern == "services":
            yield from _field(entry.value, "m", "services.*", "", name)
            continue
        is_open = pattern in _OPEN or "*" in shape
        here = f"{said}.{name}" if said else name
        allowed = shape.get(name, shape.get("*", ""))
        if not is_open and shape and name not in shape:
            if not name.startswith("x-"):
                yield service, here
            continue
        below = "*" if is_open else name
        yield from _field(entry.value, allowed, f"{pattern}.{below}" if pattern else below, here, service)


def _field(value: Value, allowed: str, pattern: str, said: str, service: str) -> Iterator[tuple[str, str]]:
    """One value: of a kind that is not allowed ("" allows all), or with such values below it."""
    letter = _letter(value)
    # A variable's value gets the kind that the field wants.
    if allowed and letter not in allowed and not (isinstance(value, Scalar) and "$" in value.value):
        yield service, f"{said or 'a service'} as {_WORDS[letter]}"
    elif not isinstance(value, Scalar):
        yield from _below(value, pattern, said, service)


def _letter(value: Value) -> str:
    match value:
        case Scalar():
            return _LETTERS[value.kind]
        case Sequence():
            return "l"
        case Mapping():
            return "m"
