"""Classic BPF programs that select packets, for a socket that sees all links of a namespace.

Links differ in where the network header begins. A program for Ethernet counts from the frame's first byte; one for
bare IP packets is moved so that the kernel counts from the network header (SKF_NET_OFF), whatever stands before it.
`for_all_links` puts both behind a switch on the kind of the link; what loopback shows twice is dropped there once.
Sources: linux/filter.h, linux/bpf_common.h, Documentation/networking/filter.rst.
"""

from collections.abc import Collection, Iterable, Sequence
from enum import Enum
from typing import NamedTuple

# More is refused by the kernel (BPF_MAXINSNS).
LONGEST = 4096
DNS = 53
# Where containers find the engine's resolver. Its packets are translated from port 53 before anybody sees them.
DOCKER_DNS = "127.0.0.11"
ETHERNET, LOOPBACK = 1, 772

_DOCKER_DNS = 0x7F00000B
_AD = -0x1000
_AD_PKTTYPE, _AD_IFINDEX, _AD_HATYPE = 4, 8, 28
_NET = -0x100000
_OUTGOING = 4
_LD_W, _LD_H, _LD_B = 0x20, 0x28, 0x30
_LD_H_IND, _LD_B_IND = 0x48, 0x50
_LDX_IMM, _LDX_MSH = 0x01, 0xB1
_JA, _JEQ, _JSET, _RET = 0x05, 0x15, 0x45, 0x06
_RSH = 0x74
_CLASS_LD, _CLASS_LDX = 0x00, 0x01
_MODES_OF_PACKET = (0x20, 0x40, 0xA0)


class Instruction(NamedTuple):
    """One sock_filter; jumps count from the next instruction."""

    code: int
    jt: int
    jf: int
    k: int


Program = tuple[Instruction, ...]


class LinkKind(Enum):
    """Which header a program expects at the first byte of a packet."""

    ETHERNET = "ethernet"
    IP = "ip"


def kafka_filter(ports: Collection[int], link: LinkKind) -> Program:
    """TCP from or to one of these ports, DNS, and ICMP messages that report an unreachable destination.

    Later fragments carry no ports and are not taken. The same packets as `kafka_expression`, without libpcap.
    """
    code = _Assembler()
    start = 14 if link is LinkKind.ETHERNET else 0
    if link is LinkKind.ETHERNET:
        code.put(_LD_H, 12)
        code.jump(0x0800, "ip4")
        code.jump(0x86DD, "ip6", otherwise="no")
    else:
        code.put(_LD_B, 0)
        code.put(_RSH, 4)
        code.jump(4, "ip4")
        code.jump(6, "ip6", otherwise="no")
    code.mark("ip4")
    code.put(_LD_H, start + 6)
    code.jump(0x1FFF, "no", code=_JSET)
    code.put(_LDX_MSH, start)
    code.put(_LD_B, start + 9)
    code.jump(6, "tcp")
    code.jump(17, "udp4")
    code.jump(1, "icmp", otherwise="no")
    code.mark("udp4")
    for offset in (12, 16):
        code.put(_LD_W, start + offset)
        code.jump(_DOCKER_DNS, "yes")
    code.go("dns")
    code.mark("ip6")
    code.put(_LDX_IMM, 40)
    code.put(_LD_B, start + 6)
    code.jump(6, "tcp")
    code.jump(17, "dns")
    code.jump(58, "icmp6", otherwise="no")
    # X is the length of the IP header from here on.
    for name, wanted in (("tcp", sorted({*ports, DNS})), ("dns", [DNS])):
        code.mark(name)
        for offset in (0, 2):
            code.put(_LD_H_IND, start + offset)
            for port in wanted:
                code.jump(port, "yes")
        code.go("no")
    for name, unreachable in (("icmp", 3), ("icmp6", 1)):
        code.mark(name)
        code.put(_LD_B_IND, start)
        code.jump(unreachable, "yes", otherwise="no")
    return code.finished()


def kafka_expression(ports: Collection[int]) -> str:
    """The same filter as a pcap-filter(7) expression."""
    tcp = [f"tcp port {port}" for port in sorted({*ports, DNS})]
    dns = ("udp port 53", f"(udp and ip host {DOCKER_DNS} and ip[6:2] & 0x1fff = 0)")
    return " or ".join((*tcp, *dns, "icmp[icmptype] == 3", "icmp6[icmp6type] == 1"))


def all_packets() -> Program:
    """Every packet."""
    return (Instruction(_RET, 0, 0, 0x40000),)


NO_PACKETS: Program = (Instruction(_RET, 0, 0, 0),)


def for_all_links(ethernet: Program, ip: Program, *, snaplen: int, ifindexes: Collection[int] = ()) -> Program:
    """Two programs as one: the first for links with Ethernet headers (loopback has them), the second for all others.

    `ip` is written for bare IP packets. `snaplen` bytes are kept of each packet; of `ifindexes`, if any, alone.
    ValueError for a program that the kernel would refuse for its length.
    """
    head: list[Instruction] = []
    if ifindexes:
        head.append(Instruction(_LD_W, 0, 0, _unsigned(_AD + _AD_IFINDEX)))
        for ifindex in ifindexes:
            # Past the next one, which goes on to the following test, to the end of the list.
            head.append(Instruction(_JEQ, 0, 1, ifindex))
            head.append(Instruction(_JA, 0, 0, 0))
        goal = len(head) + 1
        head = [one._replace(k=goal - at - 1) if one.code == _JA else one for at, one in enumerate(head)]
        head.append(Instruction(_RET, 0, 0, 0))
    head += [
        Instruction(_LD_W, 0, 0, _unsigned(_AD + _AD_HATYPE)),
        Instruction(_JEQ, 0, 2, LOOPBACK),
        Instruction(_LD_W, 0, 0, _unsigned(_AD + _AD_PKTTYPE)),
        Instruction(_JEQ, 2, 3, _OUTGOING),
        Instruction(_JEQ, 2, 0, ETHERNET),
        Instruction(_JA, 0, 0, 1 + len(ethernet)),
        Instruction(_RET, 0, 0, 0),
    ]
    program = (*head, *_cut(ethernet, snaplen), *_cut(_from_network_header(ip), snaplen))
    if len(program) > LONGEST:
        raise ValueError(f"takes {len(program)} instructions, the kernel allows {LONGEST}")
    return program


def parse_dump(text: str) -> Program:
    """The program that `tcpdump -ddd` prints: its length, then a line for each instruction; ValueError for others."""
    lines = text.split("\n")
    count = int(lines[0])
    words = [tuple(map(int, line.split())) for line in lines[1 : count + 1]]
    if len(words) != count or any(len(word) != len(Instruction._fields) for word in words):
        raise ValueError("is no program")
    return tuple(Instruction._make(word) for word in words)


class _Assembler:
    """Instructions with named goals; jumps to far goals go over a JA, as conditional ones reach 255 only."""

    def __init__(self) -> None:
        self._code: list[tuple[int, int, str]] = []
        self._marks: dict[str, int] = {}

    def put(self, code: int, k: int) -> None:
        self._code.append((code, k, ""))

    def mark(self, name: str) -> None:
        self._marks[name] = len(self._code)

    def go(self, goal: str) -> None:
        self._code.append((_JA, 0, goal))

    def jump(self, value: int, goal: str, *, otherwise: str = "", code: int = _JEQ) -> None:
        """To `goal` where A is the value (or has one of its bits), else on, or to `otherwise`."""
        self._code.append((code, value, ""))
        self.go(goal)
        if otherwise:
            self.go(otherwise)

    def finished(self) -> Program:
        self.mark("yes")
        self.put(_RET, 0x40000)
        self.mark("no")
        self.put(_RET, 0)
        return tuple(self._instruction(at, *one) for at, one in enumerate(self._code))

    def _instruction(self, at: int, code: int, k: int, goal: str) -> Instruction:
        if goal:
            return Instruction(code, 0, 0, self._marks[goal] - at - 1)
        return Instruction(code, 0, 1, k) if code in (_JEQ, _JSET) else Instruction(code, 0, 0, k)


def _cut(program: Sequence[Instruction], snaplen: int) -> Iterable[Instruction]:
    """With so many bytes kept of every packet that is taken."""
    return (one._replace(k=min(one.k, snaplen)) if one.code == _RET else one for one in program)


def _from_network_header(program: Sequence[Instruction]) -> Program:
    return tuple(
        one._replace(k=_unsigned(_NET + one.k))
        if one.code & 0x07 in (_CLASS_LD, _CLASS_LDX) and one.code & 0xE0 in _MODES_OF_PACKET and one.k < 0x80000000
        else one
        for one in program
    )


def _unsigned(number: int) -> int:
    return number & 0xFFFFFFFF
