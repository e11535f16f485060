"""Whether packets as large as an interface allows arrive: a path may carry the small ones only.

TCP sends with "do not fragment". A device on the way with a smaller MTU drops such a packet and says so by ICMP (RFC
1191); where that message is filtered, or the device is a bridge or a veth cable, the sender repeats the packet until it
gives up (RFC 2923). Connections then open and answer small requests, and stall with the first large one.
"""

import asyncio
import socket
import struct

from netdiag.deployment.model.verdict import Failed, Mechanism, Reason
from netdiag.io.network.connection import Target
from netdiag.kafka.questions import large_request
from netdiag.values import dataclass

# Two retransmissions come 0.2 and 0.6 seconds after a packet at the earliest.
_WAIT = 1.5
_LEAST_RETRANSMISSIONS = 2
# struct tcp_info of linux/tcp.h: retransmits, snd_mss, unacked.
_TCP_INFO = struct.Struct("=2xB13xI4xI")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """What the kernel says of the packets that a connection has sent."""

    retransmissions: int
    mss: int
    unacknowledged: int


async def lost_large_packets(channel: socket.socket, target: Target, deadline: float) -> Failed | None:
    """Why large requests do not arrive on a connected socket; None where they do, or nothing is certain.

    A broker that is slow does not count: only packets that its kernel does not acknowledge do. Any answer will do, also
    that this version is not supported.
    """
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout_at(min(deadline, loop.time() + _WAIT)):
            await loop.sock_sendall(channel, large_request())
            await loop.sock_recv(channel, 1)
    except TimeoutError:
        return judged_path(sent_packets(channel), target)
    except OSError:
        return None
    return None


def judged_path(sent: Sent, target: Target) -> Failed | None:
    """What a connection says of the path, on which a large request got no answer."""
    if sent.unacknowledged == 0 or sent.retransmissions < _LEAST_RETRANSMISSIONS:
        return None
    because = (
        f"{target} answers small requests, but packets with {sent.mss} bytes of data are lost on the way: "
        "a device there has a smaller MTU, and its ICMP messages do not arrive"
    )
    return Failed(reason=Reason.TIMEOUT, because=because, ip=target.ip, mechanism=Mechanism.PATH_MTU)


def sent_packets(channel: socket.socket) -> Sent:
    """The packets of a connection, as TCP_INFO has them."""
    data = channel.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO.size)
    retransmissions, mss, unacknowledged = _TCP_INFO.unpack(data)
    return Sent(retransmissions=retransmissions, mss=mss, unacknowledged=unacknowledged)
