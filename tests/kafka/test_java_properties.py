"""Properties files, as Java reads them."""

import tracemalloc
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netdiag.compose.positions import Source
from netdiag.deployment.sources.startup import read_properties
from netdiag.kafka.java_properties import parse_properties

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# A \\u that is not followed by four digits is an error for Java.
WORDS = [*"ab=: #!\\\n\r\t\f0", "\\u0041", "\\u0020", "\\\n", "\\\r\n", "\r\n"]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a=b", {"a": "b"}),
        ("a : b ", {"a": "b"}),
        ("a b=c", {"a": "b=c"}),
        ("# a=b\n! c=d\n\n e=f", {"e": "f"}),
        ("a=b\\\n   c\nd=e", {"a": "bc", "d": "e"}),
        ("a=b\\\\\nc=d", {"a": "b\\", "c": "d"}),
        ("a=1\na=2", {"a": "2"}),
        ("k\\:e\\=y=v", {"k:e=y": "v"}),
        ("a=\\u0041\\t|", {"a": "A\t|"}),
        ("a", {"a": ""}),
        ("a=b\r\nc=d\re=f", {"a": "b", "c": "d", "e": "f"}),
        (
            'sasl.jaas.config=org.x.PlainLoginModule required \\\n  username="u" \\\n  password="p";',
            {"sasl.jaas.config": 'org.x.PlainLoginModule required username="u" password="p";'},
        ),
        ("", {}),
        ("a=\\\tb\\ ", {"a": "b"}),
        # What goes on is looked at as a line of its own where nothing stands before it.
        ("a\\\n\nb", {"a": "", "b": ""}),
        ("\\\n# a=b", {}),
        ("a=b\\\n# c", {"a": "b# c"}),
        ("\\", {"": ""}),
        ("a=\\u00\\\n41", {"a": "A"}),
        ("a=\\u004", {"a": "u004"}),
    ],
)
def test_the_grammar(text: str, values: dict[str, str]) -> None:
    assert parse_properties(text) == values
    assert {key: str(value) for key, value in read_properties(Source("f", text)).items()} == values


@pytest.mark.parametrize("line", ["b\\\n", "# b\n", "\\\n", "\\ ", "b"])
def test_many_of_anything_take_little_memory(line: str) -> None:
    """A file of a client may have 4 MiB."""
    text = "a=" + line * (400_000 // len(line))
    tracemalloc.start()
    values = parse_properties(text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert list(values) == ["a"]
    assert peak < 120 * len(text)


@given(st.lists(st.sampled_from(WORDS), max_size=30).map("".join))
def test_java_reads_the_same(spark: "SparkSession", text: str) -> None:
    """Kafka strips the blanks around a value."""
    java = spark._jvm
    assert java is not None
    loaded = java.java.util.Properties()
    loaded.load(java.java.io.StringReader(text))
    expected = {key: loaded.getProperty(key).strip(" \t\f\r\n") for key in loaded.stringPropertyNames()}
    assert parse_properties(text) == expected
    assert {key: str(value) for key, value in read_properties(Source("f", text)).items()} == expected
