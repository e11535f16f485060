"""The command that installs a program, by family of distribution."""

import pytest

from netdiag.machine import install


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
