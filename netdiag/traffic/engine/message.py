"""What the framing of a connection hands to the pairing of requests with responses."""

from enum import StrEnum
from typing import NamedTuple, Protocol


class Spoken(StrEnum):
    """What a connection speaks, as far as its first bytes tell; the values are those of the column `protocol`."""

    KAFKA = "kafka"
    TLS = "tls"
    HTTP = "http"
    ZOOKEEPER = "zookeeper"
    NONE = "none"
    UNKNOWN = "unknown"


class Walker(Protocol):
    """Eats the body of a message that is too large to keep, from its first byte, in pieces of any size."""

    def feed(self, piece: memoryview) -> None:
        """The next bytes."""

    def lost(self, count: int) -> None:
        """The next `count` bytes are not in the capture."""


class Message(NamedTuple):
    """A frame of a Kafka connection.

    `size`: its size field. `head`: its bytes behind the size field as far as they are there without a hole and are
    kept; the whole message when `len(head) == size`. `walker`: has eaten all of it where it was too large to keep,
    else None. Times and packet numbers are those of the packets with the first byte (of the size field) and the last
    byte; where the last byte is missing, of the first packet that proves it was sent. `file` is that of the last.
    """

    is_request: bool
    size: int
    head: bytes
    walker: Walker | None
    start_time: int
    end_time: int
    start_number: int
    end_number: int
    file: int


class MessageSink(Protocol):
    """Takes the messages of one connection in the order in which they were complete."""

    def message(self, message: Message) -> None:
        """A frame is complete, or as complete as it will ever be."""

    def begin_walk(self, is_request: bool, size: int, head: bytes) -> Walker | None:
        """Whoever wants to eat a message that is too large to keep, told its size and its first kept bytes.

        The walker is fed from the first byte behind the size field on, those of `head` included. None: nobody.
        """

    def expects(self, correlation_id: int) -> bool:
        """Whether a request with this id waits for its response: what a response found by looking is held against."""
