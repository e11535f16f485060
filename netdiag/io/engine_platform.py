"""What an engine and its machine are like, as far as they can be asked: what predictions hang on."""

from collections.abc import Sequence

from netdiag.deployment.model.platform import Firewall, HostKind, Platform, generation_of
from netdiag.deployment.observation.live_view import LiveVantage
from netdiag.engine.container import Container
from netdiag.errors import NetdiagError
from netdiag.io.docker_engine import EngineHost, EngineVersion
from netdiag.io.engine_kernel import OtherKernel, SameKernel, has_userland_proxy
from netdiag.io.kernel.netns import open_namespace

# Of the network namespace that reads it; absent where br_netfilter is not loaded.
_BRIDGE_FILTER = "/proc/sys/net/bridge/bridge-nf-call-iptables"


def read_platform(
    version: EngineVersion,
    host: EngineHost,
    kernel: SameKernel | OtherKernel,
    docker_host: LiveVantage,
    containers: Sequence[Container],
) -> Platform:
    """The platform of an engine; of a machine that is not this one only what the engine says."""
    here = isinstance(kernel, SameKernel)
    return Platform(
        kind=_kind(host),
        generation=generation_of(version.release),
        userland_proxy=has_userland_proxy(kernel, containers) if isinstance(kernel, SameKernel) else None,
        firewall=next((firewall for firewall in Firewall if host.firewall.startswith(firewall.value)), None),
        bridge_filter=_bridge_filter(docker_host) if here else None,
    )


def _kind(host: EngineHost) -> HostKind:
    if host.system.startswith("Docker Desktop"):
        return HostKind.DESKTOP
    return HostKind.WSL2 if "wsl2" in host.kernel.lower() else HostKind.LINUX


def _bridge_filter(docker_host: LiveVantage) -> bool | None:
    try:
        with open_namespace(docker_host.entrance) as namespace:
            return namespace.run(_read_bridge_filter)
    except NetdiagError:
        return None


def _read_bridge_filter() -> bool | None:
    try:
        with open(_BRIDGE_FILTER, encoding="ascii", errors="replace") as file:
            return file.read(8).strip() != "0"
    except FileNotFoundError:
        return False
    except OSError:
        return None
