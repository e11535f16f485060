"""Whose fault it is when bytes and protocol disagree.

`LocalProtocolError`: this program asked for something that the protocol does not allow. `RemoteProtocolError`: the
other side sent something that it does not allow; for a diagnosis that is an observation, so whoever talks to a peer
catches it and turns it into one.
"""


class ProtocolError(Exception):
    """Bytes and protocol disagree."""


class LocalProtocolError(ProtocolError):
    """Our own fault: a wrong call, a value that does not fit its field."""


class RemoteProtocolError(ProtocolError):
    """The other side's fault."""


class FrameError(RemoteProtocolError):
    """A size prefix that cannot be one."""

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(f"a message of {size} bytes is announced, between 4 and {limit} are possible")
        self.size = size
        self.limit = limit


class UnknownMessage(LocalProtocolError):
    """The table has no such api key, version or data message."""


class FieldError(ProtocolError):
    """A disagreement at one field; `path` is filled from the inside out while the error travels up."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.steps: list[str] = []

    @property
    def path(self) -> str:
        """The field, as in "brokers[3].host"; empty for the message itself."""
        return ".".join(reversed(self.steps)).replace(".[", "[")

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}" if self.steps else self.reason


class DecodeError(FieldError, RemoteProtocolError):
    """The bytes are not the message that they should be; `offset` counts from the start of the message body."""

    def __init__(self, reason: str, offset: int) -> None:
        super().__init__(reason)
        self.offset = offset

    def __str__(self) -> str:
        return f"{super().__str__()} (at byte {self.offset})"


class EncodeError(FieldError, LocalProtocolError):
    """The value does not fit the layout."""
