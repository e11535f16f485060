"""What tests outside the lab ask of this machine: oracles such as tshark and kcat, and Java for Spark.

`python -m tests.tools` installs what is missing, as root on Debian; otherwise it says what will not run.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.debian import absent, can_install, find, install
from tests.lab.errors import LabError

# command -> Debian package
COMMANDS = {
    "tshark": "tshark",
    "capinfos": "wireshark-common",
    "editcap": "wireshark-common",
    "mergecap": "wireshark-common",
    "dumpcap": "wireshark-common",
    "tcpdump": "tcpdump",
    "nft": "nftables",
    "iptables": "iptables",
    "iptables-nft": "iptables",
    "iptables-nft-restore": "iptables",
    "ip6tables-nft": "iptables",
    "ip6tables-nft-restore": "iptables",
    "iptables-legacy": "iptables",
    "iptables-legacy-restore": "iptables",
    "iptables-legacy-save": "iptables",
    "ip6tables-legacy": "iptables",
    "ip6tables-legacy-restore": "iptables",
    "chromium": "chromium",
    "dot": "graphviz",
    "ip": "iproute2",
    "bridge": "iproute2",
    "ss": "iproute2",
    "lsns": "util-linux",
    "nsenter": "util-linux",
    "setpriv": "util-linux",
    "unshare": "util-linux",
    "mount": "mount",
    "umount": "mount",
    "sysctl": "procps",
    "kcat": "kcat",
    "openssl": "openssl",
    "curl": "curl",
    "nvim": "neovim",
    "promtool": "prometheus",
    "prometheus": "prometheus",
    "shellcheck": "shellcheck",
    "man": "man-db",
    "zsh": "zsh",
    "fish": "fish",
    "go": "golang-go",
    "keytool": "default-jre-headless",
}
# What only bars use: whoever measures them installs it.
FOR_BARS = {"node": "nodejs", "npm": "npm"}
JAVA = Path(__file__).parent.parent / ".ci" / "java"


def tool(command: str) -> str:
    """The path of one of these commands; a test that asks for one that is not here is skipped.

    One that is not listed fails on every machine, those that happen to have it included.
    """
    package = COMMANDS.get(command) or FOR_BARS.get(command)
    if package is None:
        pytest.fail(f"no stage installs {command!r}: name its Debian package in tests/tools.py", pytrace=False)
    path = find(command)
    if path is None:
        pytest.skip(_reason(command, package))
    return path


def _reason(command: str, package: str) -> str:
    how = "python -m tests.tools installs it" if can_install() else "root could install it"
    return f"no tool {command!r} (Debian package {package}): {how}"


def main() -> int:
    """0 when nothing is missing afterwards."""
    if can_install():
        try:
            install(absent(COMMANDS).values())
        except LabError as error:
            print(f"could not install: {error}")
    missing = [_reason(command, package) for command, package in absent(COMMANDS).items()]
    print("\n".join(missing) if missing else f"all here: {', '.join(COMMANDS)}", flush=True)
    # prints the home of the Java that it found or installed
    java = subprocess.run([JAVA], check=False).returncode
    return 1 if missing or java else 0


if __name__ == "__main__":
    sys.exit(main())
