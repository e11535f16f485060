"""Which fields compose knows and what may stand in them: unknown or ill-typed ones make it refuse the project.

The tables are compose-spec's, one word per field: its name and the kinds allowed there, written as letters
(s string, n number, b boolean, l list, m mapping, 0 null).
"""

from netdiag.compose.problems import Problems
from netdiag.compose.values import Mapping, Scalar, Sequence, Value

_LETTERS = {"null": "0", "bool": "b", "int": "n", "float": "n", "str": "s", "time": "t"}
_WORDS = {"s": "a string", "n": "a number", "b": "true or false", "l": "a list", "m": "a mapping", "0": "empty"}


def _table(text: str) -> dict[str, str]:
    return dict(word.split(":") for word in text.split())


_TOP = _table("configs:m include:l models:m name:s networks:m secrets:m services:m version:s volumes:m")
_SERVICE = _table(
    "annotations:lm attach:bs blkio_config:m build:ms cap_add:l cap_drop:l cgroup:s cgroup_parent:s command:0ls"
    " configs:l container_name:s cpu_count:ns cpu_percent:ns cpu_period:ns cpu_quota:ns cpu_rt_period:ns"
    " cpu_rt_runtime:ns cpu_shares:ns cpus:ns cpuset:s credential_spec:m depends_on:lm deploy:m0 develop:m0"
    " device_cgroup_rules:l devices:l dns:ls dns_opt:l dns_search:ls domainname:s entrypoint:0ls env_file:ls"
    " environment:lm expose:l extends:ms external_links:l extra_hosts:lm gpus:ls group_add:l healthcheck:m"
    " hostname:s image:s init:bs ipc:s isolation:s label_file:ls labels:lm links:l logging:m mac_address:s"
    " mem_limit:ns mem_reservation:ns mem_swappiness:ns memswap_limit:ns models:lm network_mode:s networks:lm"
    " oom_kill_disable:bs oom_score_adj:ns pid:0s pids_limit:ns platform:s ports:l post_start:l pre_stop:l"
    " privileged:bs profiles:l provider:m pull_policy:s pull_refresh_after:s read_only:bs restart:s runtime:s"
    " scale:ns secrets:l security_opt:l shm_size:ns stdin_open:bs stop_grace_period:s stop_signal:s storage_opt:m"
    " sysctls:lm tmpfs:ls tty:bs ulimits:m use_api_socket:b user:s userns_mode:s uts:s volumes:l volumes_from:l"
    " working_dir:s"
)
_PORT = _table("app_protocol:s host_ip:s mode:s name:s protocol:s published:ns target:ns")
_ATTACHMENT = _table(
    "aliases:l driver_opts:m gw_priority:n interface_name:s ipv4_address:s ipv6_address:s link_local_ips:l"
    " mac_address:s priority:n"
)
_NETWORK = _table(
    "attachable:bs driver:s driver_opts:m enable_ipv4:bs enable_ipv6:bs external:bms internal:bs ipam:m"
    " labels:lm name:s"
)
_HEALTHCHECK = _table("disable:bs interval:s retries:ns start_interval:s start_period:s test:ls timeout:s")
_DEPENDENCY = _table("condition:s required:b restart:bs")


def check_schema(top: Mapping, problems: Problems) -> None:
    """Adds a problem for every field that compose does not know or whose value is of the wrong kind."""
    _check(top, _TOP, "", problems, None)
    for name, service in _entries(top.get("services")):
        if isinstance(service, Mapping):
            _check_service(name, service, problems)
    for name, network in _entries(top.get("networks")):
        if isinstance(network, Mapping):
            _check(network, _NETWORK, f"networks.{name}.", problems, None)


def _check_service(name: str, service: Mapping, problems: Problems) -> None:
    where = f"services.{name}."
    _check(service, _SERVICE, where, problems, name)
    for network, attachment in _entries(service.get("networks")):
        if isinstance(attachment, Mapping):
            _check(attachment, _ATTACHMENT, f"{where}networks.{network}.", problems, name)
    for other, dependency in _entries(service.get("depends_on")):
        if isinstance(dependency, Mapping):
            _check(dependency, _DEPENDENCY, f"{where}depends_on.{other}.", problems, name)
    healthcheck = service.get("healthcheck")
    if isinstance(healthcheck, Mapping):
        _check(healthcheck, _HEALTHCHECK, f"{where}healthcheck.", problems, name)
    ports = service.get("ports")
    for port in ports.items if isinstance(ports, Sequence) else ():
        if isinstance(port, Mapping):
            _check(port, _PORT, f"{where}ports[].", problems, name)


def _entries(value: Value | None) -> list[tuple[str, Value]]:
    return [(key, entry.value) for key, entry in value.entries.items()] if isinstance(value, Mapping) else []


def _check(mapping: Mapping, table: dict[str, str], where: str, problems: Problems, service: str | None) -> None:
    for field, entry in mapping.entries.items():
        allowed = table.get(field)
        if allowed is None:
            if not field.startswith("x-"):
                message = f"additional property {where}{field} is not allowed"
                problems.error("schema", message, entry.key.span, service=service)
        elif _letter(entry.value) not in allowed:
            wanted = " or ".join(_WORDS[letter] for letter in sorted(allowed) if letter != "0")
            place = entry.value.span if entry.value.span.start < entry.value.span.end else entry.key.span
            problems.error("schema", f"{where}{field} must be {wanted}", place, service=service)


def _letter(value: Value) -> str:
    match value:
        case Scalar():
            return _LETTERS[value.kind]
        case Sequence():
            return "l"
        case Mapping():
            return "m"
