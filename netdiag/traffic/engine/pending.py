"""The requests of a connection that wait for their responses, the oldest first."""

from collections import deque

from netdiag.traffic.engine.assemble import Asked


class Pending:
    """A queue that knows the correlation ids in it; requests without one are none of it."""

    __slots__ = ("_asked", "_ids")

    def __init__(self) -> None:
        self._asked: deque[Asked] = deque()
        self._ids: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._asked)

    def __contains__(self, correlation_id: int) -> bool:
        return correlation_id in self._ids

    def append(self, asked: Asked) -> None:
        """The latest request."""
        self._asked.append(asked)
        correlation_id = asked.header.correlation_id or 0
        self._ids[correlation_id] = self._ids.get(correlation_id, 0) + 1

    def popleft(self) -> Asked:
        """Take out the oldest request."""
        asked = self._asked.popleft()
        correlation_id = asked.header.correlation_id or 0
        left = self._ids[correlation_id] - 1
        if left:
            self._ids[correlation_id] = left
        else:
            del self._ids[correlation_id]
        return asked

    def before(self, correlation_id: int) -> int | None:
        """How many are older than the oldest of that id; None where there is none of it."""
        if correlation_id not in self._ids:
            return None
        for count, asked in enumerate(self._asked):
            if asked.header.correlation_id == correlation_id:
                return count
        return None

    def api(self, correlation_id: int) -> tuple[int, int] | None:
        """Key and version of the oldest of that id that has them."""
        if correlation_id not in self._ids:
            return None
        for asked in self._asked:
            key, version = asked.header.api_key, asked.header.api_version
            if asked.header.correlation_id == correlation_id and key is not None and version is not None:
                return key, version
        return None

    def files(self) -> set[int]:
        """The files that the requests end in."""
        return {asked.message.file for asked in self._asked}
