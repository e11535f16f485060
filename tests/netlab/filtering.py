"""A namespace with rules of its own, for tests of packet filters."""

import contextlib
import secrets
from collections.abc import Iterator, Mapping, Sequence

from netdiag.io.kernel.netlink import NETFILTER, Channel
from netdiag.io.kernel.netns import open_namespace
from netdiag.io.kernel.packet_filter import read_counters, read_ruleset
from netdiag.linux.netns import NamedNamespace, ProcessNamespace
from netdiag.linux.ruleset import RuleAddress, Ruleset
from tests.io.namespaces import ip, needs_root
from tests.lab.processes import run
from tests.tools import tool


@contextlib.contextmanager
def made_namespace() -> Iterator[str]:
    """Its name, for the block."""
    needs_root()
    name = f"ndf-{secrets.token_hex(4)}"
    ip("netns", "add", name)
    try:
        ip("-n", name, "link", "set", "lo", "up")
        yield name
    finally:
        ip("netns", "delete", name)


def inside(namespace: str, command: str, *words: str, stdin: str | None = None, check: bool = True) -> str:
    """Run one of the tools there; what it said."""
    return run(["ip", "netns", "exec", namespace, tool(command), *words], stdin=stdin, check=check).stdout


def restore(namespace: str, command: str, table: str, rules: Sequence[str]) -> None:
    """Load rules by iptables-restore (`command` "iptables-nft" or the like), with the chains that they jump to."""
    chains = sorted({rule.split()[1] for rule in rules if not rule.split()[1].isupper()})
    lines = [f"*{table}", *(f":{chain} - [0:0]" for chain in chains), *rules, "COMMIT", ""]
    inside(namespace, f"{command}-restore", "--noflush", stdin="\n".join(lines))


def ruleset_of(namespace: str) -> Ruleset:
    """What we read there."""

    def read() -> Ruleset:
        with Channel(NETFILTER) as channel:
            return read_ruleset(channel)

    with open_namespace(NamedNamespace(name=namespace)) as opened:
        return opened.run(read)


def counters_of(namespace: str, ruleset: Ruleset) -> Mapping[RuleAddress, int]:
    """How often each rule has matched by now."""

    def read() -> Mapping[RuleAddress, int]:
        with Channel(NETFILTER) as channel:
            return read_counters(channel, ruleset)

    with open_namespace(NamedNamespace(name=namespace)) as opened:
        return opened.run(read)


def ruleset_of_process(pid: int) -> Ruleset:
    """What we read in the namespace of a process."""

    def read() -> Ruleset:
        with Channel(NETFILTER) as channel:
            return read_ruleset(channel)

    with open_namespace(ProcessNamespace(pid=pid)) as opened:
        return opened.run(read)
