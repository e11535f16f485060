"""Which topic an id means (KIP-516), as far as the capture has told it.

Newer versions of Fetch, Produce and OffsetCommit name topics by id only; Metadata and others tell both. Rows are given
away as they come, so a row may carry an id whose name is told later: `names` is then what to join it with.
"""

from base64 import urlsafe_b64encode
from collections.abc import Iterable, Mapping
from types import MappingProxyType

MOST = 200_000
KNOWN = {bytes(15) + b"\x01": "__cluster_metadata"}
"""The metadata log of KRaft has the same id everywhere (Uuid.METADATA_TOPIC_ID), and no message names it."""


class TopicIds:
    """Ids and names of one capture; ids beyond `most` are not remembered."""

    __slots__ = ("_most", "_names", "_texts")

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._names: dict[bytes, str] = dict(KNOWN)
        self._texts: dict[bytes, str] = {}

    def learn(self, pairs: Iterable[tuple[bytes, str]]) -> None:
        """Remember what a message tells; an id means the same topic for ever."""
        names = self._names
        for number, name in pairs:
            if number not in names and len(names) < self._most + len(KNOWN):
                names[number] = name

    def name(self, number: bytes) -> str | None:
        """The name, if it was told by now."""
        return self._names.get(number)

    def text(self, number: bytes) -> str:
        """The id as Kafka writes it."""
        text = self._texts.get(number)
        if text is None:
            text = id_text(number)
            if len(self._texts) < self._most:
                self._texts[number] = text
        return text

    def shown(self, topic: str | bytes) -> str:
        """The name of a topic, its id where the name is not known."""
        if isinstance(topic, str):
            return topic
        return self._names.get(topic) or self.text(topic)

    def both(self, topic: str | bytes | None) -> tuple[str | None, str | None]:
        """Name and id of a topic, as far as they are known."""
        if topic is None or isinstance(topic, str):
            return topic, None
        return self._names.get(topic), self.text(topic)

    @property
    def names(self) -> Mapping[str, str]:
        """All names by id, as the rows have it."""
        return MappingProxyType({id_text(number): name for number, name in self._names.items()})


def id_text(number: bytes) -> str:
    """Sixteen bytes as Kafka writes them: base64url of 22 characters."""
    return urlsafe_b64encode(number)[:22].decode()
