"""What a connection can speak is what the column `protocol` says of itself."""

from netdiag.traffic.engine.message import Spoken
from netdiag.traffic.tables import table


def test_the_words_are_those_of_the_table() -> None:
    (column,) = (column for column in table("connections").columns if column.name == "protocol")
    assert all(word.value in column.doc for word in Spoken)
