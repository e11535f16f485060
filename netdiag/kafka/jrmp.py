"""The few messages of RMI that show both hops of a JMX client, without any I/O.

    lookup = RegistryLookup()                       # hop 1: what the registry has under "jmxrmi"
    send(lookup.start())
    while lookup.outcome is None:
        lookup.receive(receive())                   # any chunking; b"" or a reset: lookup.closed()
        send(lookup.bytes_to_send())
    lookup.outcome                                  # RmiStub | NoRmi

`VersionCall` is driven in the same way at the stub's host and port (hop 2). It calls `RMIServer.getVersion()`, which
needs no password and creates nothing; it is answered only by the JVM whose stub it is.

No object of a stranger is made. Of a serialized stub the reader takes what it knows: classes without fields, whose
custom data is the reference of a remote object, host and port in it. Whatever else comes is a `NoRmi`, and an answer
has at most `LARGEST_ANSWER` bytes.

Sources: the Java Remote Method Protocol (RMI specification, chapter 10); the Object Serialization Stream Protocol;
java.rmi.registry, sun.rmi.transport (TCPEndpoint, LiveRef), javax.management.remote.rmi.RMIServer.
"""

import struct
from enum import Enum

from netdiag.kafka.other_protocols import OtherProtocol, who_answers
from netdiag.values import dataclass

LARGEST_ANSWER = 16 * 1024
_HEADER = b"JRMI\x00\x02\x4b"
_ACKNOWLEDGED, _CALL, _RETURN, _DGC_ACK = 0x4E, 0x50, 0x51, 0x54
_STREAM = b"\xac\xed\x00\x05"
_NULL, _CLASS_DESC, _OBJECT, _STRING, _BLOCK, _END, _LONG_BLOCK = 0x70, 0x72, 0x73, 0x74, 0x77, 0x78, 0x7A
_NORMAL, _EXCEPTION = 1, 2
_WRITE_METHOD = 0x01
_REGISTRY_ID = bytes(22)
_LOOKUP, _REGISTRY_HASH = 2, 4905912898345647071
_GET_VERSION_HASH = -8081107751519807347
_ID_BYTES = 22
_MOST_CLASSES = 8
_LONGEST = 255
_NAME = "jmxrmi"


class NoRmiKind(Enum):
    """What is there instead of an answer."""

    CLOSED = "closed"
    SILENT = "silent"
    TLS = "tls"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class RmiStub:
    """Where a registry sends JMX clients; `object_id` is what they call there, with TLS if `uses_tls`."""

    host: str
    port: int
    object_id: bytes
    uses_tls: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RmiAnswers:
    """The RMI server of the stub answers; `version` is what it says of itself."""

    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NoRmi:
    """No answer of the kind that was asked for."""

    kind: NoRmiKind
    said: str


class _Malformed(Exception):
    """Bytes that are not what they should be."""


class _Short(Exception):
    """More bytes are needed."""


class _Call:
    """One call on one connection: the handshake, the call, the beginning of its answer."""

    def __init__(self, call: bytes) -> None:
        self._call = call
        self._data = bytearray()
        self._to_send = bytearray()
        self._called = False
        self._unique = b""

    def start(self) -> bytes:
        """The bytes to send first."""
        return _HEADER

    def bytes_to_send(self) -> bytes:
        """The bytes to send next; empty when there are none."""
        data = bytes(self._to_send)
        self._to_send.clear()
        return data

    def receive(self, data: bytes) -> None:
        """Take bytes in any chunks."""
        if self._ended:
            return
        self._data += data
        try:
            self._read(_Reader(self._data))
        except _Short:
            if len(self._data) > LARGEST_ANSWER:
                self._fail(NoRmiKind.OTHER, "its answer is too long for RMI")
        except _Malformed as error:
            self._not_rmi(str(error))

    def closed(self) -> None:
        """The other side ended or reset the connection."""
        if not self._ended:
            what = "its answer" if self._called else "an answer"
            self._fail(NoRmiKind.CLOSED, f"it closed {'within' if self._data else 'without'} {what}")

    def timed_out(self) -> None:
        """The time of the caller is over."""
        if not self._ended:
            self._fail(NoRmiKind.SILENT, "it accepts, but does not answer")

    @property
    def _ended(self) -> bool:
        raise NotImplementedError

    def _fail(self, kind: NoRmiKind, said: str) -> None:
        raise NotImplementedError

    def _take_result(self, reader: "_Reader") -> None:
        raise NotImplementedError

    def _read(self, reader: "_Reader") -> None:
        if reader.byte() != _ACKNOWLEDGED:
            raise _Malformed("")
        reader.text()
        reader.take(4)
        if not self._called:
            self._called = True
            # The client's own address, which a server does not need.
            self._to_send += bytes(6) + self._call
        if reader.byte() != _RETURN or reader.take(4) != _STREAM:
            raise _Malformed("its answer is no return of a call")
        block = _Reader(reader.block())
        kind = block.byte()
        self._unique = block.take(14)
        if kind == _EXCEPTION:
            self._take_exception(reader.object_class())
            return
        if kind != _NORMAL:
            raise _Malformed("its answer is no return of a call")
        self._take_result(reader)

    def _take_exception(self, name: str) -> None:
        self._fail(NoRmiKind.OTHER, f"it answers with {name}")

    def _not_rmi(self, said: str) -> None:
        protocol, what = who_answers(bytes(self._data[:64]))
        if said:
            self._fail(NoRmiKind.OTHER, said)
        elif protocol is OtherProtocol.TLS:
            self._fail(NoRmiKind.TLS, "it speaks TLS")
        else:
            self._fail(NoRmiKind.OTHER, f"it answers with {what}, not RMI")


class RegistryLookup(_Call):
    """Asks a registry for the stub of JMX."""

    def __init__(self) -> None:
        name = _NAME.encode()
        body = _block(_REGISTRY_ID + struct.pack(">iq", _LOOKUP, _REGISTRY_HASH))
        super().__init__(bytes([_CALL]) + _STREAM + body + bytes([_STRING]) + struct.pack(">H", len(name)) + name)
        self.outcome: RmiStub | NoRmi | None = None

    @property
    def _ended(self) -> bool:
        return self.outcome is not None

    def _fail(self, kind: NoRmiKind, said: str) -> None:
        self.outcome = NoRmi(kind=kind, said=said)

    def _take_result(self, reader: "_Reader") -> None:
        reader.stub_classes()
        block = _Reader(reader.block())
        kind = block.text()
        if kind not in ("UnicastRef", "UnicastRef2"):
            raise _Malformed("its stub is of a kind that netdiag does not read")
        with_factory = kind == "UnicastRef2" and block.byte() == 1
        host, port = block.text(), block.int()
        if not 0 < port < 65536:
            raise _Malformed(f"its stub has the port {port}")
        # Behind a factory of sockets its object stands between the port and the identity, which nobody needs then.
        object_id = b"" if with_factory else block.take(_ID_BYTES)
        self.outcome = RmiStub(host=host, port=port, object_id=object_id, uses_tls=with_factory)
        # What a client owes a server that gave it a reference.
        self._to_send += bytes([_DGC_ACK]) + self._unique


class VersionCall(_Call):
    """Asks the RMI server of a stub for its version."""

    def __init__(self, stub: RmiStub) -> None:
        body = _block(stub.object_id + struct.pack(">iq", -1, _GET_VERSION_HASH))
        super().__init__(bytes([_CALL]) + _STREAM + body)
        self.outcome: RmiAnswers | NoRmi | None = None

    @property
    def _ended(self) -> bool:
        return self.outcome is not None

    def _fail(self, kind: NoRmiKind, said: str) -> None:
        self.outcome = NoRmi(kind=kind, said=said)

    def _take_result(self, reader: "_Reader") -> None:
        if reader.byte() != _STRING:
            raise _Malformed("its answer is no version")
        self.outcome = RmiAnswers(version=reader.text())

    def _take_exception(self, name: str) -> None:
        other = name == "java.rmi.NoSuchObjectException"
        self._fail(NoRmiKind.OTHER, "it is another JVM than the stub's" if other else f"it answers with {name}")


class _Reader:
    """Reads the front of what has come; `_Short` where it ends too early."""

    def __init__(self, data: bytes | bytearray) -> None:
        self._data = data
        self._at = 0

    def take(self, size: int) -> bytes:
        end = self._at + size
        if end > len(self._data):
            raise _Short
        found = bytes(self._data[self._at : end])
        self._at = end
        return found

    def byte(self) -> int:
        return self.take(1)[0]

    def int(self) -> int:
        return int.from_bytes(self.take(4), "big", signed=True)

    def text(self) -> str:
        """Modified UTF-8, of which names of hosts and classes need ASCII only."""
        size = int.from_bytes(self.take(2), "big")
        if size > _LONGEST:
            raise _Malformed("it has a text that is too long")
        found = self.take(size)
        if not found.isascii():
            raise _Malformed("it has a text that is no name")
        return found.decode("ascii")

    def block(self) -> bytes:
        """One stretch of custom data."""
        tag = self.byte()
        if tag not in (_BLOCK, _LONG_BLOCK):
            raise _Malformed("its answer has no data where data belongs")
        size = self.byte() if tag == _BLOCK else self.int()
        if not 0 <= size <= LARGEST_ANSWER:
            raise _Malformed("its answer is too long for RMI")
        return self.take(size)

    def object_class(self) -> str:
        """The class of the object that begins here."""
        if self.byte() != _OBJECT or self.byte() != _CLASS_DESC:
            return "an object"
        return self.text()

    def stub_classes(self) -> None:
        """Past the class of a stub and those above it: none of them has fields, and one writes data of its own."""
        if self.byte() != _OBJECT:
            raise _Malformed("it has no stub under jmxrmi")
        writes = False
        for _ in range(_MOST_CLASSES):
            tag = self.byte()
            if tag == _NULL and writes:
                return
            if tag != _CLASS_DESC:
                break
            self.text()
            self.take(8)
            writes |= bool(self.byte() & _WRITE_METHOD)
            if self.take(2) != b"\x00\x00":
                break
            self._annotation()
        raise _Malformed("its stub is of a kind that netdiag does not read")

    def _annotation(self) -> None:
        """Where a class could be loaded from, which RMI says of each: nothing, or a text."""
        for _ in range(_MOST_CLASSES):
            match self.byte():
                case 0x78:
                    return
                case 0x70:
                    continue
                case 0x74:
                    self.text()
                case _:
                    break
        raise _Malformed("its stub is of a kind that netdiag does not read")


def _block(data: bytes) -> bytes:
    return bytes([_BLOCK, len(data)]) + data
