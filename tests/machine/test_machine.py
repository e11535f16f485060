"""What is missing on a machine is named with what it is needed for and what would mend it."""

from dataclasses import replace

import pytest

from netdiag.distribution import install_line
from netdiag.machine import Found, Machine, State, Trouble, abilities, install
from tests.machine.literals import WELL


def test_a_machine_with_everything_can_do_everything() -> None:
    assert {each.state for each in abilities(WELL)} == {State.OK}
    assert not any(each.fix for each in abilities(WELL))


NOT_THERE = Found(why_not="no engine answers there", trouble=Trouble.NOBODY)


CASES: list[tuple[str, Machine, State, str]] = [
    ("engine", replace(WELL, engine=NOT_THERE), State.MISSING, "sudo systemctl start docker"),
    ("engine", replace(WELL, engine=NOT_THERE, tools={}), State.MISSING, "sudo apt-get install docker.io"),
    (
        "engine",
        replace(WELL, engine=Found(why_not="permission denied", trouble=Trouble.FORBIDDEN)),
        State.MISSING,
        "sudo usermod -aG docker $USER",
    ),
    ("engine", replace(WELL, engine=Found(why_not="no library", fix="pip install x")), State.MISSING, "pip install x"),
    ("libraries of live", replace(WELL, libraries={}), State.MISSING, install_line("live")),
    ("libraries of capture", replace(WELL, libraries={}), State.MISSING, install_line("capture")),
    ("libraries of spark", replace(WELL, libraries={"pyspark": "4"}), State.MISSING, install_line("spark")),
    ("namespaces", replace(WELL, namespaces=Found(why_not="no", fix="sudo")), State.LIMITED, "sudo"),
    ("namespaces", replace(WELL, is_root=False, rights=frozenset({"SYS_ADMIN"})), State.LIMITED, "run netdiag as root"),
    ("namespaces", replace(WELL, system="Darwin"), State.LIMITED, "--via container"),
    ("packets", replace(WELL, packet_socket=Found(why_not="CAP_NET_RAW", fix="sudo")), State.MISSING, "sudo"),
    ("fast capture", replace(WELL, tools={}), State.LIMITED, "sudo apt-get install tcpdump"),
    ("java", replace(WELL, java=Found(why_not="found none")), State.MISSING, "apt-get install default-jre-headless"),
    ("capture engine", replace(WELL, capture_engine=Found(why_not="none", fix="pip")), State.MISSING, "pip"),
    ("large pictures", replace(WELL, libraries={}), State.LIMITED, install_line("picture")),
    ("disk", replace(WELL, free_bytes=1 << 20), State.LIMITED, "TMPDIR"),
    ("memory", replace(WELL, memory_bytes=1 << 30), State.LIMITED, "free memory"),
]


@pytest.mark.parametrize(("name", "machine", "state", "fix"), CASES)
def test_what_is_missing(name: str, machine: Machine, state: State, fix: str) -> None:
    [found] = [each for each in abilities(machine) if each.name == name]
    assert found.state is state
    assert fix in found.fix
    assert found.told
    assert found.serves


def test_what_has_a_reason_against_it_is_not_there() -> None:
    assert Found(what="1.0").is_there
    assert not Found(why_not="none").is_there


@pytest.mark.parametrize(
    ("program", "families", "command"),
    [
        ("tcpdump", ("debian",), "sudo apt-get install tcpdump"),
        ("tcpdump", ("ubuntu", "debian"), "sudo apt-get install tcpdump"),
        ("java", ("rocky", "rhel", "fedora"), "sudo dnf install java-21-openjdk-headless"),
        ("java", ("darwin",), "brew install openjdk@21"),
        ("tcpdump", ("nobody-knows",), "install tcpdump"),
        ("docker", (), "install docker"),
    ],
)
def test_the_command(program: str, families: tuple[str, ...], command: str) -> None:
    assert install(program, families) == command
