"""The name service of a place: its own hosts file and resolver configuration, read where a client there reads them."""

from netdiag.io.foreign_files import ForeignText, Unreadable, read_below
from netdiag.io.kernel.netns import Namespace
from netdiag.linux.resolver import HostsFile, ResolvConf, parse_hosts, parse_resolv_conf
from netdiag.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class NameService:
    """Both files as values; `unreadable` tells of those that are there and could not be used."""

    hosts: HostsFile
    resolv_conf: ResolvConf
    unreadable: tuple[str, ...] = ()


def read_name_service(namespace: Namespace) -> NameService:
    """What a client in this namespace, with this root directory, resolves names with."""
    texts: list[str] = []
    unreadable: list[str] = []
    for name in ("hosts", "resolv.conf"):
        found = _first(namespace, name)
        if isinstance(found, Unreadable):
            unreadable.append(found.because)
        texts.append(found.text if isinstance(found, ForeignText) else "")
    return NameService(
        hosts=parse_hosts(texts[0]), resolv_conf=parse_resolv_conf(texts[1]), unreadable=tuple(unreadable)
    )


def _first(namespace: Namespace, name: str) -> ForeignText | Unreadable:
    for folder in namespace.etc:
        found = read_below(namespace.root, f"{folder}/{name}")
        if isinstance(found, Unreadable) or found.exists:
            return found
    return ForeignText(text="", exists=False)
