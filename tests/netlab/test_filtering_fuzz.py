"""What this kernel says about everything that we know, broken at random: values or our own error, in bounded time."""

import random
import socket
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TypeVar

from netdiag.errors import NetdiagError
from netdiag.io.kernel.netlink import NETFILTER, Channel
from netdiag.io.kernel.netns import open_namespace
from netdiag.io.kernel.packet_filter import entries
from netdiag.linux.filtering.packet import Packet
from netdiag.linux.filtering.traversal import traverse
from netdiag.linux.netns import NamedNamespace
from netdiag.linux.nftables.messages import (
    ElementMessage,
    TableId,
    decode_chain,
    decode_elements,
    decode_rule,
    decode_set,
    decode_table,
    get_chains,
    get_elements,
    get_rules,
    get_sets,
    get_tables,
)
from netdiag.linux.nftables.tables import Dump, assemble
from netdiag.linux.ruleset import Ruleset, Table
from netdiag.linux.xtables.tables import decode_table as decode_legacy_table
from tests.netlab.filtering import inside, made_namespace
from tests.netlab.test_filtering_words import DATA

ROUNDS, SECONDS = 40, 20.0
PACKETS = (
    Packet(family=4, protocol="tcp", source="10.0.0.1", destination="10.0.0.2", destination_port=80, in_link="eth0"),
    Packet(family=6, protocol="udp", source="fd00::1", destination="fd00::2", destination_port=53, out_link="lo"),
)

T = TypeVar("T")


def broken(chance: random.Random, message: bytes) -> memoryview:
    if not message or chance.random() < 0.3:
        return memoryview(message)
    data = bytearray(message)
    for _ in range(chance.randrange(1, 5)):
        at = chance.randrange(len(data))
        match chance.randrange(4):
            case 0:
                data[at] = chance.randrange(256)
            case 1:
                data[at] ^= 1 << chance.randrange(8)
            case 2:
                data[at] = chance.choice((0, 1, 127, 128, 255))
            case _:
                other = chance.randrange(len(data))
                data[at : at + 4] = data[other : other + 4]
    return memoryview(data)


def decoded(chance: random.Random, decode: Callable[[memoryview], T], messages: Sequence[bytes]) -> Iterator[T]:
    for message in messages:
        with suppress(NetdiagError):
            yield decode(broken(chance, message))


def recorded(name: str) -> dict[str, list[bytes]]:
    def ask() -> dict[str, list[bytes]]:
        with Channel(NETFILTER) as channel:

            def dump(request: bytes) -> list[bytes]:
                return [bytes(payload) for _, payload in channel.dump(request)]

            found = {
                "tables": dump(get_tables()),
                "chains": dump(get_chains()),
                "rules": dump(get_rules()),
                "sets": dump(get_sets()),
            }
            sets = [decode_set(memoryview(message)) for message in found["sets"]]
            found["elements"] = [
                message for one in sets for message in dump(get_elements(one.place.family, one.place.table, one.name))
            ]
            return found

    with open_namespace(NamedNamespace(name=name)) as opened:
        return opened.run(ask)


def walked(tables: tuple[Table, ...]) -> None:
    for packet in PACKETS:
        for hook in ("prerouting", "forward"):
            assert traverse(Ruleset(tables=tables), hook, packet).because


def test_answers_of_nf_tables() -> None:
    with made_namespace() as name:
        inside(name, "nft", "-f", str(DATA / "words.nft"))
        inside(name, "iptables-nft-restore", stdin=(DATA / "words.iptables").read_text(encoding="utf-8"), check=False)
        found = recorded(name)
    chance = random.Random(13)
    began = time.process_time()
    for _ in range(ROUNDS):
        sets = [*decoded(chance, decode_set, found["sets"])]
        elements: dict[tuple[TableId, str], list[ElementMessage]] = defaultdict(list)
        for message in chance.sample(found["elements"], min(30, len(found["elements"]))):
            with suppress(NetdiagError):
                one = chance.choice(sets)
                elements[one.place, one.name] += [*decode_elements(broken(chance, message))]
        dump = Dump(
            tables=[decode_table(memoryview(message)) for message in found["tables"]],
            chains=[decode_chain(memoryview(message)) for message in found["chains"]],
            rules=[*decoded(chance, decode_rule, chance.sample(found["rules"], 60))],
            sets=sets,
            elements=elements,
        )
        with suppress(NetdiagError):
            walked(assemble(dump))
    assert time.process_time() - began < SECONDS


def test_tables_of_legacy_iptables() -> None:
    with made_namespace() as name:
        text = (DATA / "words.iptables").read_text(encoding="utf-8")
        for table in ("filter", "nat"):
            part = text.split(f"*{table}\n")[1].split("COMMIT")[0]
            lines = [line for line in part.splitlines() if "-m " not in line or "-m tcp" in line]
            inside(name, "iptables-legacy-restore", stdin="\n".join([f"*{table}", *lines, "COMMIT", ""]))
        with open_namespace(NamedNamespace(name=name)) as opened:
            blobs = [
                opened.run(lambda table=table: entries(socket.AF_INET, socket.IPPROTO_IP, table))  # type: ignore[misc]
                for table in ("filter", "nat")
            ]
    chance = random.Random(17)
    began = time.process_time()
    whole = 0
    for _ in range(ROUNDS * 5):
        data, info = chance.choice(blobs)
        with suppress(NetdiagError):
            walked((decode_legacy_table(bytes(broken(chance, data)), info, family=chance.choice(("ip", "ip", "ip6"))),))
            whole += 1
    assert whole
    assert time.process_time() - began < SECONDS
