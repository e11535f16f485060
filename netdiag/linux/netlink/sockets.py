"""inet_diag: the sockets that wait for others (sock_diag(7), linux/inet_diag.h)."""

import struct

from netdiag.linux.netlink.attributes import Malformed, attributes, ip_address, truth
from netdiag.linux.netlink.messages import MessageType, request
from netdiag.linux.socket import Listener, Protocol

_REQUEST = struct.Struct("=BBBxI48x")
# struct inet_diag_req, of which only the states are used here
_OLD_REQUEST = struct.Struct("=52xI4x")
_TCPDIAG_GETSOCK = 18
# struct inet_diag_msg: ports and addresses in network byte order, the rest in the machine's.
_ANSWER = struct.Struct("=BBBB2s2s16s16sI8xIIIII")
_FAMILIES = {4: 2, 6: 10}
_IPV4, _IPV6 = 2, 10
_NUMBERS = {Protocol.TCP: 6, Protocol.UDP: 17}
# TCP that listens; UDP that is not connected, which the kernel calls closed.
_LISTEN, _CLOSE = 10, 7
_STATES = {Protocol.TCP: 1 << _LISTEN, Protocol.UDP: 1 << _CLOSE}
_V6ONLY = 11


def request_listeners(protocol: Protocol, family: int) -> bytes:
    """TCP that listens, or UDP without a peer, of family 4 or 6."""
    body = _REQUEST.pack(_FAMILIES[family], _NUMBERS[protocol], 0, _STATES[protocol])
    return request(MessageType.SOCK_DIAG_BY_FAMILY, body)


def request_tcp_listeners() -> bytes:
    """TCP that listens, of both families in one answer: the older question, which names none (TCPDIAG_GETSOCK).

    The kernel walks its table of all sockets for each question, so that half as many take half as long.
    """
    return request(_TCPDIAG_GETSOCK, _OLD_REQUEST.pack(_STATES[Protocol.TCP]))


def decode_listener(payload: memoryview | bytes, protocol: Protocol) -> Listener | None:
    """One socket of an answer to `request_listeners`, without its processes; None for another state or family."""
    data = bytes(payload)
    if len(data) < _ANSWER.size:
        raise Malformed(f"a socket of {len(data)} bytes")
    family, state, _, _, port, _, address, _, device, _, waiting, most, uid, inode = _ANSWER.unpack_from(data)
    if family not in (_IPV4, _IPV6) or not _STATES[protocol] >> state & 1:
        return None
    tcp = protocol is Protocol.TCP
    v6only = attributes(data, _ANSWER.size).get(_V6ONLY)
    return Listener(
        protocol=protocol,
        family=4 if family == _IPV4 else 6,
        address=ip_address(address[:4] if family == _IPV4 else address),
        port=int.from_bytes(port, "big"),
        inode=inode,
        uid=uid,
        v6only=v6only is not None and truth(v6only),
        ifindex=device or None,
        queue=waiting if tcp else 0,
        backlog=most if tcp else 0,
    )
