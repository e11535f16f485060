"""What machine an engine runs on, as far as that decides who reaches whom."""

from dataclasses import replace
from enum import Enum

from netdiag.values import dataclass


class HostKind(Enum):
    """Where the engine runs; the value is the word of `--platform`.

    DESKTOP: in a machine of its own, as Docker Desktop does on macOS, Windows and Linux; container addresses have no
    route from the user's machine. WSL2: an engine inside a WSL distribution, whose published ports Windows forwards.
    """

    LINUX = "linux"
    DESKTOP = "desktop"
    WSL2 = "wsl2"


class Generation(Enum):
    """Engines that filter alike; the value is the word of `--engine`, the oldest measured release of each.

    V20: up to 27, isolation chains. V28: raw drops of what is not published. V29: no isolation chains.
    """

    V20 = "20.10"
    V28 = "28"
    V29 = "29"


class Firewall(Enum):
    """What the engine writes its rules with; the value is the word of `--firewall`."""

    IPTABLES = "iptables"
    NFTABLES = "nftables"


class HostInput(Enum):
    """What the docker host's own firewall (ufw, firewalld, rules by hand) does to what comes to the host itself.

    REJECT answers with a reset or "port unreachable", PROHIBIT with "administratively prohibited".
    """

    ACCEPT = "accept"
    DROP = "drop"
    REJECT = "reject"
    PROHIBIT = "prohibit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """The engine and its machine. None: nobody has said; where the answer hangs on it, that is unknown.

    `userland_proxy` None stands for Docker's default (on). `bridge_filter` is whether packets between the ports of one
    bridge pass the packet filter (`net.bridge.bridge-nf-call-iptables`); None stands for yes, as the engine sets it.
    `forward_drops` is whether the FORWARD chain drops what nothing accepts (as the engine sets it where it turned
    forwarding on); None stands for yes. `lan_routes` is whether machines on the LAN have routes to container addresses
    by way of the docker host, `default_route` whether the docker host has a way to anywhere else; `host_input` None
    stands for no firewall of the host's own.
    """

    kind: HostKind = HostKind.LINUX
    generation: Generation | None = None
    userland_proxy: bool | None = None
    firewall: Firewall | None = None
    bridge_filter: bool | None = None
    forward_drops: bool | None = None
    lan_routes: bool | None = None
    default_route: bool | None = None
    host_input: HostInput | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformOptions:
    """What a user says about the engine and its machine; None where they say nothing."""

    kind: HostKind | None = None
    generation: Generation | None = None
    userland_proxy: bool | None = None
    firewall: Firewall | None = None

    def over(self, platform: Platform) -> Platform:
        """The platform with what is said in the place of what was found."""
        said = {name: value for name in self.__slots__ if (value := getattr(self, name)) is not None}
        return replace(platform, **said)


def generation_of(release: str) -> Generation | None:
    """The generation of an engine's release ("20.10.24+dfsg1", "28.5.2"); None for what is no release."""
    major = release.partition(".")[0]
    if not major.isdecimal():
        return None
    number = int(major)
    if number >= 29:
        return Generation.V29
    return Generation.V28 if number == 28 else Generation.V20
