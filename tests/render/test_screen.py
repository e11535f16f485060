"""Nothing foreign moves the cursor, links lead where they should, and what an encoding lacks is spelled out."""

import re
import time
from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import unquote, urlsplit

import pytest

from netdiag.render.formats import text
from netdiag.render.redact import redacted, secret_spans
from netdiag.render.report import Report
from netdiag.render.screen import ASCII, UNICODE, Links, Run, Screen, Style, encoded, linked, paint, width, wrap
from netdiag.render.wording import address_with_n, addresses_text, gathered_text, n_of, names_text, numbers_text, with_n
from tests.render.literals import address
from tests.render.reports import EVERYTHING, HOSTILE, RUNNING, hostile, loopback


@pytest.mark.parametrize(
    ("foreign", "shown"),
    [
        ("broker-1", "broker-1"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("\x9b31m", "\\x9b31m"),
        ("a\x00b\x7f", "a\\x00b\\x7f"),
        ("line\nbreak\r\ttab", "line\\nbreak\\r\\ttab"),
        ("evil\u202egnp.exe", "evil\\u202egnp.exe"),
        ("\u2066isolate\u2069", "\\u2066isolate\\u2069"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("\u2028", "\\u2028"),
        ("\ud800", "\\ud800"),
        ("\U000e0041tag", "\\U000e0041tag"),
        ("кафка 日本", "кафка 日本"),
    ],
)
def test_foreign_text_is_harmless(foreign: str, shown: str) -> None:
    assert Screen().visible(foreign) == shown
    assert Screen().run(foreign).text == shown


def test_what_the_encoding_lacks_is_spelled_out() -> None:
    screen = Screen(encoding="cp1252")
    assert screen.visible("é → 日") == "é \\u2192 \\u65e5"
    screen.visible("é日本").encode("cp1252")


@pytest.mark.parametrize(
    ("encoding", "glyphs"),
    [("utf-8", UNICODE), ("cp1252", ASCII), ("ascii", ASCII), ("no such encoding", ASCII), ("utf-16", UNICODE)],
)
def test_drawing_falls_back_to_ascii(encoding: str, glyphs: object) -> None:
    assert Screen(encoding=encoding).glyphs == glyphs


@pytest.mark.parametrize(("text", "columns"), [("", 0), ("abc", 3), ("日本", 4), ("e\u0301", 1), ("é", 1), ("ＡＢ", 4)])
def test_width_counts_terminal_columns(text: str, columns: int) -> None:
    assert width(text) == columns


def test_wrap_keeps_words_whole() -> None:
    assert wrap("one two three", 7) == ["one two", "three"]
    assert wrap("incomprehensibilities x", 5) == ["incomprehensibilities", "x"]
    assert wrap("日本 語", 5) == ["日本", "語"]
    assert wrap("", 5) == [""]


def test_paint_colours_only_where_there_is_colour() -> None:
    lines = [(Run("bad", Style.ERROR), Run(" plain  "))]
    assert paint(lines, Screen()) == "bad plain\n"
    assert paint(lines, Screen(colour=True)) == "\x1b[1;31mbad\x1b[0m plain\n"


def test_a_text_without_an_end_is_cut() -> None:
    assert Screen().visible("x" * 300_000) == "x" * 4000 + " (296000 more characters)"
    assert Screen().visible("\x1b" * 5000) == "\\x1b" * 4000 + " (1000 more characters)"


LINKS = Links(host="box", folder="/srv/my stack", pages="https://example.org/rules/")
LINK = re.compile(r"\x1b\]8;;([!-~]+)\x1b\\((?:[^\x1b]|\x1b\[[0-9;]*m)+)\x1b\]8;;\x1b\\")
SGR = re.compile(r"\x1b\[[0-9;]*m")


@pytest.mark.parametrize(
    ("path", "address"),
    [
        ("compose.yml", "file://box/srv/my%20stack/compose.yml"),
        ("./a/../b.yml", "file://box/srv/my%20stack/b.yml"),
        ("/tmp/é#?%;.yml", "file://box/tmp/%C3%A9%23%3F%25%3B.yml"),
        ("/a\x1b\\b\x07\n.yml", "file://box/a%1B%5Cb%07%0A.yml"),
        ("/\udcff", "file://box/%FF"),
        ("C:\\x\\a b.yml", "file://box/C:/x/a%20b.yml"),
        ("<stdin>", ""),
    ],
)
def test_a_file(path: str, address: str) -> None:
    assert LINKS.to_file(path) == address


def test_without_a_folder_only_absolute_paths_lead_somewhere() -> None:
    nowhere = replace(LINKS, folder="")
    assert nowhere.to_file("a.yml") == ""
    assert nowhere.to_file("/a.yml") == "file://box/a.yml"


def test_the_name_of_the_machine_is_no_way_out() -> None:
    assert replace(LINKS, host="a/\x1b\\b").to_file("/c") == "file://a%2F%1B%5Cb/c"


def test_a_rule() -> None:
    assert LINKS.to_rule("image-gone") == "https://example.org/rules/image-gone.md"
    assert LINKS.to_rule("a\x1b\\/../b") == "https://example.org/rules/a%1B%5C%2F..%2Fb.md"
    assert LINKS.to_rule("unused-ignore") == ""
    assert replace(LINKS, pages=None).to_rule("image-gone") == ""


@pytest.mark.parametrize("address", ["", "http://a b", "http://a\x1b", "http://é", "http://" + "a" * 2000])
def test_an_address_that_no_terminal_should_get_is_dropped(address: str) -> None:
    assert linked("text", address) == "text"


def test_a_path_is_the_same_in_every_uri() -> None:
    assert unquote(encoded("a é/\udc80"), errors="surrogateescape") == "a é/\udc80"


def test_text_is_the_same_but_for_the_links() -> None:
    for columns in (60, 100):
        plain = text.render(EVERYTHING, Screen(colour=True, width=columns))
        drawn = text.render(EVERYTHING, Screen(colour=True, width=columns, links=LINKS))
        assert drawn != plain
        assert SGR.sub("", LINK.sub(r"\2", drawn)) == SGR.sub("", plain)


def test_text_leads_to_files_and_pages() -> None:
    drawn = text.render(Report(findings=(loopback("broker-1"),)), Screen(links=LINKS))
    rule = loopback("broker-1").rule
    links = {shown: address for address, shown in LINK.findall(drawn)}
    assert links[rule] == f"https://example.org/rules/{rule}.md"
    places = [shown for shown, address in links.items() if address.startswith("file:")]
    assert places
    assert all(re.fullmatch(r"compose\.yml:\d+:\d+", shown) for shown in places)


def test_places_of_which_the_same_is_true_are_links_too() -> None:
    twice = Report(findings=(loopback("broker-1"), loopback("broker-2")))
    drawn = text.render(twice, Screen(links=LINKS))
    likewise = drawn.partition("likewise:")[2].splitlines()[1]
    assert LINK.search(likewise)


def test_concise_is_the_same_but_for_the_links() -> None:
    drawn = text.render_concise(EVERYTHING, links=LINKS)
    assert LINK.sub(r"\2", drawn) == text.render_concise(EVERYTHING)
    assert LINK.search(drawn)


def test_a_container_has_no_address() -> None:
    shown = text.render_concise(Report(findings=(RUNNING,)), links=replace(LINKS, pages=None))
    assert "\x1b" not in shown


@pytest.mark.parametrize("foreign", HOSTILE)
def test_nothing_breaks_out(foreign: str) -> None:
    report = hostile(foreign)
    for drawn, plain in (
        (text.render_concise(report, links=LINKS), text.render_concise(report)),
        (text.render(report, Screen(links=LINKS)), text.render(report, Screen())),
    ):
        links = LINK.findall(drawn)
        assert links
        assert all(urlsplit(address).netloc in ("box", "example.org") for address, _ in links)
        assert LINK.sub(r"\2", drawn) == plain
        assert "\x1b" not in plain


@pytest.mark.parametrize(
    ("numbers", "text"),
    [([1, 2, 3], "1..3"), ([3, 1], "1,3"), ([1, 2], "1,2"), ([5, 1, 2, 3], "1..3,5"), ([7], "7"), ([], "")],
)
def test_numbers(numbers: Sequence[int], text: str) -> None:
    assert numbers_text(numbers) == text


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["broker-1", "broker-2", "broker-3"], "broker-1..3"),
        (["broker-1", "broker-2", "broker-5"], "broker-{1,2,5}"),
        (["k1.lan", "k2.lan", "k3.lan"], "k{1..3}.lan"),
        (["alpha", "beta"], "alpha, beta"),
        (["a1", "b2"], "a1, b2"),
        (["broker-01", "broker-02"], "broker-0{1,2}"),
        (["broker-01", "broker-02", "broker-03"], "broker-0{1..3}"),
        (["broker-09", "broker-10"], "broker-09, broker-10"),
        (["only"], "only"),
    ],
)
def test_names(names: Sequence[str], text: str) -> None:
    assert names_text(names) == text


@pytest.mark.parametrize(
    ("addresses", "text"),
    [
        (["localhost:9092"], "localhost:9092"),
        (["localhost:9091", "localhost:9092", "localhost:9093"], "localhost:9091..9093"),
        (["localhost:9091", "localhost:29092"], "localhost:{9091,29092}"),
        (["broker-1:29092", "broker-2:29092", "broker-3:29092"], "broker-{1..3}:29092"),
        (["k1:9091", "k2:9092", "k3:9093"], "k{1..3}:9091..9093"),
        (["a:1", "b:2"], "a:1, b:2"),
        (["[::1]:9092", "[::1]:9093"], "[::1]:{9092,9093}"),
    ],
)
def test_addresses(addresses: Sequence[str], text: str) -> None:
    assert addresses_text([address(a) for a in addresses]) == text


def test_n_stands_for_the_number_of_each() -> None:
    five = range(1, 6)
    assert address_with_n([address(f"broker-{n}:909{n}") for n in five], list(five)) == "broker-N:909N"
    assert address_with_n([address(f"broker-{n}:29092") for n in five], list(five)) == "broker-N:29092"
    assert address_with_n([address(f"localhost:909{n}") for n in five], list(five)) == "localhost:909N"
    assert with_n(["inside broker-1", "inside broker-2"], [1, 2]) == "inside broker-N"


def test_n_is_refused_where_it_would_lie() -> None:
    assert address_with_n([address("localhost:9092"), address("localhost:9091")], [1, 2]) is None
    assert address_with_n([address("k1:9092"), address("k2:9094")], [1, 2]) is None
    assert with_n(["broker-2", "broker-1"], [1, 2]) is None
    assert with_n(["alpha", "beta"], [1, 2]) is None


def test_the_number_of_a_name() -> None:
    assert [n_of(name) for name in ("inside broker-12", "k3.lan", "alpha", "x99999999999")] == [12, 3, None, None]


@pytest.mark.parametrize(
    ("addresses", "text"),
    [
        (["a:1", "a:2", "b:1"], "a:{1,2}, b:1"),
        (["k-1:9", "k-1:11", "k-2:9", "k-2:12", "k-3:9", "k-3:13"], "k-{1..3}:9, k-1:11, k-2:12, k-3:13"),
        (["localhost:1", "localhost:3", "k:1", "localhost:2", "k:1"], "localhost:1..3, k:1"),
        (["only:1"], "only:1"),
    ],
)
def test_many_addresses(addresses: Sequence[str], text: str) -> None:
    assert gathered_text([address(one) for one in addresses]) == text


def shown(line: str, *above: str) -> str:
    lines = [*above, line]
    for start, end in reversed(secret_spans(lines, len(above))):
        line = line[:start] + "*" + line[end:]
    return line


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("  KAFKA_SSL_KEY_PASSWORD: hunter2", "  KAFKA_SSL_KEY_PASSWORD: *"),
        ("  - KAFKA_SSL_KEYSTORE_PASSWORD=hunter2", "  - KAFKA_SSL_KEYSTORE_PASSWORD=*"),
        ('  "SASL_JAAS_CONFIG": "x required password=\\"p\\";"', '  "SASL_JAAS_CONFIG": *'),
        ("  KAFKA_LISTENER_NAME_X_PLAIN_SASL_JAAS_CONFIG: a", "  KAFKA_LISTENER_NAME_X_PLAIN_SASL_JAAS_CONFIG: *"),
        ("  environment: {AUTH_TOKEN: t0k3n, A: b}", "  environment: {AUTH_TOKEN: *"),
        ("  AWS_SECRET_ACCESS_KEY: x", "  AWS_SECRET_ACCESS_KEY: *"),
        ("  KAFKA_CLIENT_USERS: alice", "  KAFKA_CLIENT_USERS: *"),
        ('  command: kcat -X sasl.password="p w" -L', "  command: kcat -X sasl.password=*"),
        ("  URL: http://user:secret@host:80/", "  URL: http://user:*@host:80/"),
        ("  KAFKA_LISTENERS: PLAINTEXT://:9092", "  KAFKA_LISTENERS: PLAINTEXT://:9092"),
        ("  KAFKA_ADVERTISED_LISTENERS: A://a:1,B://b:2", "  KAFKA_ADVERTISED_LISTENERS: A://a:1,B://b:2"),
        ("  image: tokenizer:1", "  image: tokenizer:1"),
        (
            "  KAFKA_SASL_OAUTHBEARER_TOKEN_ENDPOINT_URL: http://k:8080/x",
            "  KAFKA_SASL_OAUTHBEARER_TOKEN_ENDPOINT_URL: http://k:8080/x",
        ),
        ("sasl.oauthbearer.token.endpoint.url=http://u:secret@k", "sasl.oauthbearer.token.endpoint.url=http://u:*@k"),
        ("  A_TOKEN_ENDPOINT_URLS: x", "  A_TOKEN_ENDPOINT_URLS: *"),
        ("  KAFKA_SSL_KEY_PASSWORD:", "  KAFKA_SSL_KEY_PASSWORD:"),
    ],
)
def test_values_of_secret_variables_are_hidden(line: str, expected: str) -> None:
    assert shown(line) == expected


@pytest.mark.parametrize(
    ("above", "line"),
    [
        (("    KAFKA_JAAS: |",), "      Server {"),
        (("    KAFKA_JAAS: >-", "      one", ""), "      two"),
        (("    KAFKA_SSL_PASSWORD:",), "      hunter2"),
        (("    jaas_file: |", "      KafkaServer {"), "        deep;"),
        (("    KAFKA_SSL_PASSWORDS:", "    - one"), "    - two"),
        (("    KAFKA_SSL_PASSWORDS:", "    - one: x"), "      two: y"),
        (("    KAFKA_SSL_PASSWORDS:", "    -"), "      hunter2"),
        (("    KAFKA_SSL_PASSWORD:", "# a comment"), "      hunter2"),
        (("    KAFKA_SSL_PASSWORD: # see below",), "      hunter2"),
        (('    "KAFKA_SSL_PASSWORD":',), "      hunter2"),
        (("    KAFKA_SSL_PASSWORD: &shared !!str",), "      hunter2"),
    ],
)
def test_lines_of_a_secret_block_are_hidden(above: tuple[str, ...], line: str) -> None:
    assert shown(line, *above).strip() == "*"


def test_the_key_behind_a_secret_block_is_shown() -> None:
    assert shown("    A: b", "    KAFKA_JAAS: |", "      Server {") == "    A: b"
    assert shown("    A: b", "    KAFKA_SSL_PASSWORD:") == "    A: b"
    assert shown("    A: b", "    KAFKA_SSL_PASSWORDS:", "    - one") == "    A: b"
    assert shown("    - A=b", "    KAFKA_SSL_PASSWORDS:", "    - one", "    environment:") == "    - A=b"


def test_a_service_with_a_telling_name_is_still_shown() -> None:
    assert shown("    image: apache/kafka", "services:", "  token-broker:") == "    image: apache/kafka"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            'cannot parse x required username="a" password="b c";',
            'cannot parse x required username="a" password=[hidden];',
        ),
        ("sasl.password = abc is short", "sasl.password = [hidden] is short"),
        ("http://u:p@h refused", "http://u:[hidden]@h refused"),
        ("INTERNAL of broker-1", "INTERNAL of broker-1"),
    ],
)
def test_messages_hide_passwords(text: str, expected: str) -> None:
    assert redacted(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "token" * 100_000,
        "-" * 200_000 + "password=",
        "password" + "." * 200_000,
        "://:" * 50_000,
        "PASSWORD: " + "&" * 100_000 + " x",
        "PASSWORD: " + "&a " * 900 + "x",
    ],
)
def test_hostile_lines_cost_little(text: str) -> None:
    started = time.process_time()
    redacted(text)
    secret_spans([text], 0)
    secret_spans([text.upper(), " x"], 1)
    assert time.process_time() - started < 2
