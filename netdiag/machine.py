"""What netdiag can do on a machine, ability by ability, and the command that would give what is missing.

An ability serves commands. MISSING: they do not run at all without it; LIMITED: they run, and show less or take longer.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from enum import Enum, StrEnum

from netdiag.distribution import install_line
from netdiag.values import dataclass


class Trouble(Enum):
    """Why an engine does not answer."""

    NOBODY = "nobody is there"
    FORBIDDEN = "we may not ask"
    OTHER = "something else"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Something looked for: its version or place, or why it cannot be used, and what to do where that is known."""

    what: str = ""
    why_not: str = ""
    fix: str = ""
    trouble: Trouble = Trouble.OTHER

    @property
    def is_there(self) -> bool:
        """Whether it can be used."""
        return not self.why_not


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """The machine, this process's rights on it, and what is installed.

    `system` is `platform.system()`; `families` the ids of os-release, closest first ("debian"). `rights` are names of
    capabilities in effect, without CAP_. `tools` and `libraries`: name -> where or which version, None where there is
    none. `namespaces`: entering a network namespace was tried on our own. `free_bytes`: of the folder where temporary
    files go. `capture_engine`: what reads captures.
    """

    system: str
    kernel: str
    families: tuple[str, ...]
    python: str
    netdiag: str
    is_root: bool
    rights: frozenset[str]
    engine: Found
    namespaces: Found
    packet_socket: Found
    java: Found
    capture_engine: Found
    tools: Mapping[str, str | None]
    libraries: Mapping[str, str | None]
    temporary: str
    free_bytes: int
    memory_bytes: int


_INSTALL = {
    "debian": "sudo apt-get install",
    "fedora": "sudo dnf install",
    "rhel": "sudo dnf install",
    "alpine": "sudo apk add",
    "arch": "sudo pacman -S",
    "suse": "sudo zypper install",
    "darwin": "brew install",
}

# program -> family -> package, where it is not called as the program is
_PACKAGES = {
    "java": {
        "debian": "default-jre-headless",
        "fedora": "java-21-openjdk-headless",
        "rhel": "java-21-openjdk-headless",
        "alpine": "openjdk21-jre-headless",
        "arch": "jre-openjdk-headless",
        "suse": "java-21-openjdk-headless",
        "darwin": "openjdk@21",
    },
    "dumpcap": {"debian": "wireshark-common", "fedora": "wireshark-cli", "rhel": "wireshark-cli"},
    "tshark": {"fedora": "wireshark-cli", "rhel": "wireshark-cli", "arch": "wireshark-cli", "darwin": "wireshark"},
    "docker": {
        "debian": "docker.io",
        "fedora": "moby-engine",
    },
}


def install(program: str, families: Sequence[str]) -> str:
    """The command; the name of the program alone where nothing is known of the family."""
    for family in families:
        if family in _INSTALL:
            package = _PACKAGES.get(program, {}).get(family, program)
            return f"{_INSTALL[family]} {package}"
    return f"install {program}"


LEAST_FREE = 2 << 30
LEAST_MEMORY = 3 << 30
_EXTRAS = (
    ("live", ("docker", "pyroute2", "cryptography"), "check-listeners --live, probe, topology, trace"),
    ("capture", ("scapy",), "capture"),
    ("spark", ("pyspark", "pyarrow", "pandas"), "analyze"),
)


class State(StrEnum):
    """How it stands with an ability."""

    OK = "ok"
    LIMITED = "limited"
    MISSING = "missing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ability:
    """One thing netdiag may be able to do: `told` says what was found or is missing, `fix` what would mend it."""

    name: str
    state: State
    told: str
    serves: str
    fix: str = ""


def abilities(machine: Machine) -> tuple[Ability, ...]:
    """All of them, in the order in which users need them."""
    return tuple(_all(machine))


def _all(machine: Machine) -> Iterator[Ability]:
    yield Ability(
        name="files",
        state=State.OK,
        told=f"netdiag {machine.netdiag} on Python {machine.python}",
        serves="check-listeners FILE, rules, explain",
    )
    yield from _libraries(machine)
    yield _engine(machine)
    yield _namespaces(machine)
    yield _packets(machine)
    yield _fast_packets(machine)
    yield _java(machine)
    yield _capture_engine(machine)
    yield _picture(machine)
    yield _disk(machine)
    yield _memory(machine)


def _of(name: str, found: Found, serves: str, *, otherwise: State = State.MISSING) -> Ability:
    state = State.OK if found.is_there else otherwise
    told = found.what if found.is_there else found.why_not
    return Ability(name=name, state=state, told=told, serves=serves, fix="" if found.is_there else found.fix)


def _engine(machine: Machine) -> Ability:
    found = machine.engine
    serves = "check-listeners --live, topology, capture of containers"
    if not found.is_there and machine.system == "Linux" and not found.fix:
        match found.trouble:
            case Trouble.FORBIDDEN:
                found = replace(found, fix="sudo usermod -aG docker $USER, then log in again")
            case Trouble.NOBODY if machine.tools.get("docker") is None:
                found = replace(found, fix=install("docker", machine.families))
            case Trouble.NOBODY:
                found = replace(found, fix="sudo systemctl start docker, or name the engine with --host or DOCKER_HOST")
    return _of("engine", found, serves)


def _libraries(machine: Machine) -> Iterator[Ability]:
    for extra, names, serves in _EXTRAS:
        missing = [name for name in names if machine.libraries.get(name) is None]
        there = ", ".join(f"{name} {machine.libraries[name]}" for name in names if name not in missing)
        yield Ability(
            name=f"libraries of {extra}",
            state=State.MISSING if missing else State.OK,
            told=f"not installed: {', '.join(missing)}" if missing else there,
            serves=serves,
            fix=install_line(extra) if missing else "",
        )


def _namespaces(machine: Machine) -> Ability:
    serves = "what containers see: --live from every vantage, topology, trace"
    if machine.system != "Linux":
        return Ability(
            name="namespaces",
            state=State.LIMITED,
            told=f"{machine.system} has none: containers run in another machine's kernel",
            serves=serves,
            fix="look by a helper container there: --via container",
        )
    if not machine.namespaces.is_there:
        return _of("namespaces", machine.namespaces, serves, otherwise=State.LIMITED)
    if not machine.is_root and "SYS_PTRACE" not in machine.rights:
        return Ability(
            name="namespaces",
            state=State.LIMITED,
            told="namespaces can be entered, but not those of other users' processes: CAP_SYS_PTRACE is missing",
            serves=serves,
            fix="run netdiag as root: sudo netdiag …",
        )
    return _of("namespaces", machine.namespaces, serves)


def _packets(machine: Machine) -> Ability:
    return _of("packets", machine.packet_socket, "capture, trace --prove")


def _fast_packets(machine: Machine) -> Ability:
    there = [name for name in ("tcpdump", "dumpcap") if machine.tools.get(name)]
    return Ability(
        name="fast capture",
        state=State.OK if there else State.LIMITED,
        told=", ".join(f"{name} in {machine.tools[name]}" for name in there)
        or "neither tcpdump nor dumpcap is installed: netdiag's own engine loses packets above 200,000 a second",
        serves="capture of busy links and of VLAN tags",
        fix="" if there else install("tcpdump", machine.families),
    )


def _java(machine: Machine) -> Ability:
    found = machine.java
    fix = install("java", machine.families)
    return _of("java", found if found.is_there else Found(why_not=found.why_not, fix=fix), "analyze")


def _capture_engine(machine: Machine) -> Ability:
    return _of("capture engine", machine.capture_engine, "exchanges, analyze, topology --capture")


def _picture(machine: Machine) -> Ability:
    version = machine.libraries.get("networkx")
    return Ability(
        name="large pictures",
        state=State.OK if version else State.LIMITED,
        told=f"networkx {version}"
        if version
        else "not installed: networkx; large pictures are drawn in a simpler order",
        serves="topology --format html, svg",
        fix="" if version else install_line("picture"),
    )


def _disk(machine: Machine) -> Ability:
    enough = machine.free_bytes >= LEAST_FREE
    return Ability(
        name="disk",
        state=State.OK if enough else State.LIMITED,
        told=f"{_size(machine.free_bytes)} free in {machine.temporary}",
        serves="analyze, capture",
        fix="" if enough else "make room there, or set TMPDIR to a folder with more",
    )


def _memory(machine: Machine) -> Ability:
    enough = machine.memory_bytes >= LEAST_MEMORY
    return Ability(
        name="memory",
        state=State.OK if enough else State.LIMITED,
        told=f"{_size(machine.memory_bytes)} can be used",
        serves="analyze",
        fix="" if enough else "free memory, or use netdiag exchanges, which needs no Java",
    )


def _size(count: int) -> str:
    return f"{count / (1 << 30):.1f} GiB" if count >= 1 << 30 else f"{count / (1 << 20):.0f} MiB"
