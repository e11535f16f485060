"""Properties files: by their grammar, and as the reader with places reads them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netdiag.compose.positions import Source
from netdiag.deployment.sources.startup import read_properties
from netdiag.kafka.java_properties import parse_properties


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
    ],
)
def test_the_grammar(text: str, values: dict[str, str]) -> None:
    assert parse_properties(text) == values


@given(st.text(alphabet="ab=: #!\\\n\r\tu0041", max_size=40))
def test_the_reader_with_places_reads_the_same(text: str) -> None:
    expected = {key: str(value) for key, value in read_properties(Source("f", text)).items()}
    assert parse_properties(text) == expected
