"""Where compose exists: it reads every case as netdiag does, and refuses the same ones."""

import json
import os
import posixpath
import subprocess
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from netdiag.compose.dotenv import load_dotenv
from netdiag.compose.load import load
from netdiag.compose.positions import Source
from netdiag.compose.problems import ComposeError
from netdiag.compose.project import Command, Network, Port, Project, Service
from tests.compose.all_cases import ALL, TOPICS
from tests.compose.cases import Case
from tests.figures import Report as Figure

PLAIN_FIELDS = ("image", "container_name", "hostname", "domainname", "network_mode")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What compose says: its model, or why it refuses."""

    model: dict[str, Any] | None
    message: str


def surroundings(folder: Path) -> dict[str, str]:
    """The process environment that both sides get."""
    return {"PATH": os.environ.get("PATH", ""), "HOME": str(folder), "PWD": str(folder)}


def ask_compose(
    compose: Path,
    folder: Path,
    files: tuple[str, ...],
    environ: Mapping[str, str],
    *options: str,
    profiles: tuple[str, ...] = ("*",),
) -> Verdict:
    """`docker compose config`, with every profile unless some are named."""
    named = [word for file in files for word in ("-f", file)]
    named += [word for profile in profiles for word in ("--profile", profile)]
    done = subprocess.run(
        [str(compose), *named, *options, "config", "--format", "json"],
        cwd=folder,
        env={**surroundings(folder), **environ},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if done.returncode:
        return Verdict(model=None, message=done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "")
    return Verdict(model=json.loads(done.stdout), message=done.stderr)


def load_folder(
    folder: Path, files: tuple[str, ...], environ: Mapping[str, str], name: str | None = None
) -> Project | ComposeError:
    """Our reading of the same files, with the same environment."""

    def read(path: str) -> bytes | None:
        try:
            return (folder / path).read_bytes()
        except OSError:
            return None

    try:
        env = read(".env")
        dotenv = load_dotenv(Source(".env", env), environ) if env is not None else {}
        first, *others = (Source(file, (folder / file).read_bytes()) for file in files)
        return load(
            first,
            overrides=tuple(others),
            dotenv=dotenv,
            environ={**surroundings(folder), **environ},
            read=read,
            name=name,
            default_name=folder.name,
        )
    except ComposeError as error:
        return error


def differences(project: Project, model: Mapping[str, Any], folder: Path) -> list[str]:
    """Where our project is not what compose says."""
    theirs: dict[str, Any] = {"name": model["name"], "services": sorted(model.get("services") or {})}
    ours: dict[str, Any] = {"name": project.name, "services": sorted(project.services)}
    for name, service in (model.get("services") or {}).items():
        if name in project.services:
            theirs[name] = _their_service(service)
            ours[name] = _our_service(project.services[name], folder, theirs[name])
    theirs["networks"] = {key: _their_network(value or {}) for key, value in (model.get("networks") or {}).items()}
    # `config` leaves out the networks that no service is on.
    ours["networks"] = {
        key: _our_network(project.networks[key]) for key in theirs["networks"] if key in project.networks
    }
    return list(_unequal("", theirs, ours))


def _unequal(path: str, theirs: Any, ours: Any) -> list[str]:
    if isinstance(theirs, dict) and isinstance(ours, dict):
        keys = [*theirs, *(key for key in ours if key not in theirs)]
        return [line for key in keys for line in _unequal(f"{path}.{key}", theirs.get(key), ours.get(key))]
    return [] if theirs == ours else [f"{path[1:]}: compose {theirs!r}, netdiag {ours!r}"]


def _their_service(service: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **{field: service.get(field) for field in PLAIN_FIELDS},
        "environment": {
            _unescaped(key): _unescaped(value) for key, value in (service.get("environment") or {}).items()
        },
        "ports": sorted(
            (p.get("host_ip", ""), p.get("published", "").removeprefix("0"), p["target"], p["protocol"])
            for p in service.get("ports") or []
        ),
        "networks": {
            key: (sorted((value or {}).get("aliases") or []), (value or {}).get("ipv4_address"))
            for key, value in (service.get("networks") or {}).items()
        },
        "command": _words(service.get("command")),
        "entrypoint": _words(service.get("entrypoint")),
        "healthcheck": _words((service.get("healthcheck") or {}).get("test")),
        "extra_hosts": sorted(service.get("extra_hosts") or []),
        "depends_on": {key: (v["condition"], v["required"]) for key, v in (service.get("depends_on") or {}).items()},
        "profiles": sorted(service.get("profiles") or []),
        "volumes": sorted(
            (v["type"], (v.get("source") or "").rstrip("/"), v["target"], v.get("read_only", False))
            for v in service.get("volumes") or []
        ),
        "build": "build" in service,
        "scale": service.get("scale") or (service.get("deploy") or {}).get("replicas") or 1,
        "dns": _words(service.get("dns") or []),
        "expose": sorted(service.get("expose") or []),
        "links": sorted(service.get("links") or []),
        "labels": {key: _unescaped(value) for key, value in (service.get("labels") or {}).items()},
    }


def _our_service(service: Service, folder: Path, theirs: Mapping[str, Any]) -> dict[str, Any]:
    def volume_source(source: str | None, host_path: str | None) -> str:
        if host_path is None:
            return source or ""
        if "\\" in host_path:
            return host_path
        home = host_path.replace("~", str(folder), 1) if host_path.startswith("~") else host_path
        return posixpath.normpath(posixpath.join(str(folder), home)).rstrip("/")

    texts = {field: getattr(service, field) for field in PLAIN_FIELDS}
    return {
        **{field: None if text is None else text.value for field, text in texts.items()},
        "environment": {
            name: None if variable.value is None else variable.value.value
            for name, variable in service.environment.items()
        },
        "ports": sorted((p.host_ip, _published(p), p.target, p.protocol) for p in service.ports),
        "networks": {
            n.network: (sorted(a.value for a in n.aliases), n.ipv4_address.value if n.ipv4_address else None)
            for n in service.networks
        },
        "command": _spoken(service.command, theirs["command"]),
        "entrypoint": _spoken(service.entrypoint, theirs["entrypoint"]),
        "healthcheck": _spoken(service.healthcheck, theirs["healthcheck"]),
        "extra_hosts": sorted(f"{host.name}={host.address}" for host in service.extra_hosts),
        "depends_on": _depended(service),
        "profiles": sorted(service.profiles),
        "volumes": sorted(
            (
                v.type,
                volume_source(v.source.value if v.source else None, v.host_path),
                posixpath.normpath(v.target),
                v.read_only,
            )
            for v in service.volumes
        ),
        "build": service.build,
        "scale": service.scale,
        "dns": [text.value for text in service.dns],
        "expose": sorted(text.value for text in service.expose),
        "links": sorted(f"{x.service}:{x.alias}" if x.alias != x.service else x.service for x in service.links),
        "labels": {key: text.value for key, text in service.labels.items()},
    }


def _depended(service: Service) -> dict[str, tuple[str, bool]]:
    found = {d.service: (d.condition, d.required) for d in service.depends_on}
    implied = [link.service for link in service.links]
    if service.network_mode is not None and service.network_mode.value.startswith("service:"):
        implied.append(service.network_mode.value.removeprefix("service:"))
    for name in implied:
        found.setdefault(name, ("service_started", True))
    return found


def _published(port: Port) -> str:
    if port.published is not None:
        return str(port.published)
    return "" if port.published_range is None else "-".join(map(str, port.published_range))


def _words(command: list[str] | None) -> list[str] | None:
    return None if command is None else [word.replace("$$", "$") for word in command]


def _unescaped(value: str | None) -> str | None:
    """`config` prints dollars doubled, so that its output can be read again."""
    return None if value is None else value.replace("$$", "$")


def _spoken(command: Command, theirs: list[str] | None) -> list[str] | None:
    """Our words; a command in one string, which compose splits as a shell does, is compared without its blanks."""
    if command is None:
        return None
    if isinstance(command, tuple):
        return [word.value for word in command]
    if theirs is None:
        return [] if command.value == "" else [command.value]
    joined = "".join("".join(theirs).split())
    stripped = "".join(char for char in command.value if char not in " \t\n\"'\\")
    bare = "".join(char for char in joined if char not in "\"'\\").removeprefix("CMD-SHELL")
    return theirs if bare == stripped else [command.value]


def _their_network(network: Mapping[str, Any]) -> dict[str, Any]:
    pools = (network.get("ipam") or {}).get("config") or []
    return {
        "name": network.get("name"),
        "driver": network.get("driver"),
        "internal": bool(network.get("internal")),
        "external": bool(network.get("external")),
        "subnets": [pool["subnet"] for pool in pools if "subnet" in pool],
    }


def _our_network(network: Network) -> dict[str, Any]:
    return {
        "name": network.name or None,
        "driver": network.driver.value if network.driver else None,
        "internal": network.internal,
        "external": network.external,
        "subnets": [subnet.value for subnet in network.subnets],
    }


# case -> why netdiag says something else than compose
KNOWN = {
    "port {target: 80, published: '9000-8000'}": "compose prints it, and starting the container fails",
    "port {target: 80, published: x}": "compose prints it, and starting the container fails",
    "port {target: 0}": "compose prints it, and there is no port 0 to publish",
    "include project_directory is missing": "compose takes the folder above one that does not exist",
    "port '8080:80', {target: 80, published: 8080}": "compose takes the number 8080 for another port than '8080'",
}


@pytest.mark.bar("loader")
def test_every_case_is_what_compose_says(compose_v2: Path, tmp_path: Path, figure: Figure) -> None:
    with ThreadPoolExecutor() as pool:
        jobs = [(compose_v2, tmp_path / f"case{number}", case) for number, case in enumerate(ALL)]
        results = list(pool.map(lambda job: disagreement(*job), jobs))
    wrong = {case.name: text for case, text in zip(ALL, results, strict=True) if text}
    figure("compose projects of our own as compose", f"{len(ALL) - len(wrong)} of {len(ALL)}", "cases")
    for topic, cases in TOPICS.items():
        equal = sum(case.name not in wrong for case in cases)
        figure(f"{topic} cases as compose", f"{equal} of {len(cases)}", "cases")
    unknown = [f"{name}: {text}" for name, text in wrong.items() if name not in KNOWN]
    assert not unknown, "\n".join(unknown)
    assert set(KNOWN) <= set(wrong), "no longer different"


def test_cases_have_names_of_their_own() -> None:
    assert len({case.name for case in ALL}) == len(ALL)


def disagreement(compose: Path, folder: Path, case: Case) -> str:
    """What compose and netdiag disagree about, empty when they agree."""
    for name, text in case.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    verdict = ask_compose(compose, folder, case.chain, case.environ)
    loaded = load_folder(folder, case.chain, case.environ)
    refusal = loaded.message if isinstance(loaded, ComposeError) else ""
    if not refusal and not isinstance(loaded, ComposeError) and loaded.errors:
        refusal = loaded.errors[0].message
    if verdict.model is None:
        return "" if refusal else f"compose refuses: {verdict.message}"
    if isinstance(loaded, ComposeError) or refusal:
        return f"compose accepts, netdiag: {refusal}"
    return "; ".join(differences(loaded, verdict.model, folder))
