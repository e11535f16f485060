"""Servers that do not speak Kafka, told by the first bytes of their answer.

Four bytes decide, because the four bytes of a size are all that a frame reader waits for: the verdict is the same
however the bytes were cut on their way.
"""

from enum import StrEnum

_TEXT = {
    b"HTTP": "HTTP",
    b"<htm": "HTTP",
    b"<!DO": "HTTP",
    b"<?xm": "HTTP",
    b"SSH-": "SSH",
    b"RFB ": "VNC",
    b"+OK ": "POP3",
    b"-ERR": "Redis",
    b"* OK": "IMAP",
    b"AMQP": "AMQP",
    b"INFO": "NATS",
    b"220 ": "FTP or SMTP",
    b"220-": "FTP or SMTP",
}


class OtherProtocol(StrEnum):
    """What answers instead of a Kafka broker."""

    TLS = "TLS"
    TEXT = "text"
    BINARY = "binary"
    ZOOKEEPER = "ZooKeeper"
    ECHO = "echo"


def who_answers(first: bytes) -> tuple[OtherProtocol, str]:
    """Classify an answer whose first four bytes are no frame size; the text names the protocol or shows the bytes.

    TLS: a record of type alert (21) or handshake (22) with major version 3 (RFC 8446, 5.1), which is how a TLS server
    refuses a plaintext client. Kafka's own TLS listener may close without it.
    """
    head = first[:4]
    if len(head) >= 2 and head[0] in (20, 21, 22, 23) and head[1] == 3:
        record = {21: "a TLS alert", 22: "a TLS handshake"}.get(head[0], "a TLS record")
        return OtherProtocol.TLS, record
    known = _TEXT.get(head)
    if known is not None:
        return OtherProtocol.TEXT, known
    if head and all(byte in b"\t\r\n" or 0x20 <= byte < 0x7F for byte in head):
        return OtherProtocol.TEXT, f"text that starts with {head.decode('ascii')!r}"
    return OtherProtocol.BINARY, f"bytes that start with {head.hex(' ')}"


def who_answers_frame(frame: bytes, request: bytes) -> OtherProtocol:
    """Classify a frame that answers no request of ours; both without their size.

    ZooKeeper: a ConnectResponse is protocol version 0, time-out, session id, password of 16 bytes, and since 3.4 one
    byte more.
    """
    if frame == request:
        return OtherProtocol.ECHO
    if len(frame) in (36, 37) and frame[:4] == bytes(4) and frame[16:20] == b"\x00\x00\x00\x10":
        return OtherProtocol.ZOOKEEPER
    return OtherProtocol.BINARY
