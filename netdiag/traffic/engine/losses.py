"""The sums of the table `losses`: what was not decoded, by file, connection, direction, kind and detail."""

from netdiag.traffic.rows import LossRow

MAX_DETAILS = 1000
OTHERS = "others"


class Losses:
    """Adds up losses; the number of different details of a kind without a connection is bounded."""

    def __init__(self) -> None:
        self._sums: dict[tuple[str, int | None, str | None, str, str | None], list[int | None]] = {}
        self._details: dict[tuple[str, str], int] = {}

    def add(
        self,
        *,
        file: str,
        kind: str,
        bytes: int,
        times: int = 1,
        time: int | None = None,
        connection: int | None = None,
        direction: str | None = None,
        detail: str | None = None,
    ) -> None:
        """Count `bytes` lost, `times` times; `time` is the first in nanoseconds since 1970."""
        key = (file, connection, direction, kind, detail)
        entry = self._sums.get(key)
        if entry is None:
            if connection is None and detail is not None:
                seen = self._details.get((file, kind), 0)
                if seen >= MAX_DETAILS:
                    key = (file, None, direction, kind, OTHERS)
                else:
                    self._details[file, kind] = seen + 1
            entry = self._sums.setdefault(key, [time, 0, 0])
        first, total, count = entry
        entry[0] = time if first is None or (time is not None and time < first) else first
        entry[1] = (total or 0) + bytes
        entry[2] = (count or 0) + times

    def drain(self, of: str | None = None) -> list[LossRow]:
        """The sums so far, or those of one file; they are forgotten."""
        sums = {key: entry for key, entry in self._sums.items() if of in (None, key[0])}
        rows = [
            LossRow(
                file=file,
                time=entry[0],
                connection=connection,
                direction=direction,
                kind=kind,
                bytes=entry[1] or 0,
                times=entry[2] or 0,
                detail=detail,
            )
            for (file, connection, direction, kind, detail), entry in sums.items()
        ]
        for key in sums:
            del self._sums[key]
        for detailed in [each for each in self._details if of in (None, each[0])]:
            del self._details[detailed]
        return rows
