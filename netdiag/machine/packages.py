"""The command that installs a program here: by the family of the distribution, as its own documentation writes it."""

from collections.abc import Sequence

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
