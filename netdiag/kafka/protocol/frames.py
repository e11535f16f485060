"""Cut a stream of bytes into frames: a size of four bytes, then so many bytes of one message.

A size that cannot be one is refused on its own four bytes, before any of the frame is waited for or stored.
"""

import struct
from collections.abc import Iterator

from netdiag.kafka.protocol.errors import FrameError

SMALLEST_FRAME = 4
LARGEST_FRAME = 104_857_600
"""Kafka's own `socket.request.max.bytes`; a correlation id is the least that a message holds."""


class FrameSplitter:
    """Bytes in, in any pieces; whole frames out, without their size. Holds at most one frame and what came with it."""

    def __init__(self, largest: int = LARGEST_FRAME) -> None:
        self._largest = largest
        self._buffer = bytearray()

    @property
    def pending(self) -> bytes:
        """What has come of the next frame, its size included."""
        return bytes(self._buffer)

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Take bytes and give the frames that they complete; `FrameError` on an impossible size."""
        self._buffer += data
        while len(self._buffer) >= 4:
            size = frame_size(self._buffer, self._largest)
            if len(self._buffer) < 4 + size:
                return
            frame = bytes(self._buffer[4 : 4 + size])
            del self._buffer[: 4 + size]
            yield frame


def frame_size(data: bytes | bytearray | memoryview, largest: int = LARGEST_FRAME) -> int:
    """The size in the first four bytes, or `FrameError`."""
    size: int = struct.unpack_from(">i", data)[0]
    if not SMALLEST_FRAME <= size <= largest:
        raise FrameError(size, largest)
    return size


def frame(message: bytes) -> bytes:
    """Put the size before a message."""
    return struct.pack(">i", len(message)) + message
