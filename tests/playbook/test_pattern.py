"""Patterns of log lines: what fits, what the holes hold, and how long it may take."""

import random
import re
import string

import pytest

from netdiag.playbook.pattern import LONGEST_LINE, Malformed, match, parse_pattern

CASES = [
    (
        "Connection to node -1 ({host}/{ip}:{port})",
        "WARN Connection to node -1 (a/1.2.3.4:9092) could",
        "a 1.2.3.4 9092",
    ),
    (
        "Connection to node {node} ({host}/{ip}:{port})",
        "Connection  to\tNODE 2147483646 (b/::1:9)",
        "2147483646 b ::1 9",
    ),
    (
        "{host}:{port}/{node}: Failed to resolve",
        "[thrd:kafka:9092/1]: kafka:9092/1: Failed to resolve 'x'",
        "kafka 9092 1",
    ),
    ("UnknownHostException: {container_id}", "java.net.UnknownHostException: 5c1a0d9be2f4", "5c1a0d9be2f4"),
    ("UnknownHostException: {container_id}", "java.net.UnknownHostException: kafka", None),
    ("UnknownHostException: {host}", "UnknownHostException: kafka: Name or service not known", "kafka"),
    ("failed in {...} of {port} seconds", "it failed in the middle of 12 seconds", "12"),
    ("failed in {...} of {port} seconds", "it failed in the middle of a few seconds", None),
    ("address already in use", "Address Already In Use", ""),
    ("address already in use", "address in use already", None),
    ("lookup {host} on {...}: no such host", "dial tcp: lookup kafka on 127.0.0.53:53: no such host", "kafka"),
]


@pytest.mark.parametrize(("pattern", "line", "values"), CASES)
def test_what_fits(pattern: str, line: str, values: str | None) -> None:
    parsed = parse_pattern(pattern)
    found = match(parsed, line)
    if values is None:
        assert found is None
    else:
        assert found is not None
        assert " ".join(found[name] for name in parsed.holes) == values


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("short", "fewer than 8"),
        ("{...} cannot be resolved", "begins with {...}"),
        ("a line with {host}{port} holes", "two adjacent placeholders"),
        ("a line with {} in it", "is not a placeholder"),
        ("a line with {host in it", "is not a placeholder"),
        ("x" * 401, "longer than 400"),
        ("literal " + "{a} ".join("bcdefghijk"), "more than 8 placeholders"),
        ("a line with {söme} hole", "is not a placeholder"),
    ],
)
def test_what_is_no_pattern(text: str, why: str) -> None:
    with pytest.raises(Malformed, match=re.escape(why)):
        parse_pattern(text)


def test_a_sure_pattern_weighs_more() -> None:
    texts = ["Connection to node {node} (", "Connection to node {host} (", "Connection to node -1 ("]
    general, vague, special = [parse_pattern(text).weight for text in texts]
    assert vague < general < special


def test_the_work_is_bounded_whatever_the_line_is(monkeypatch: pytest.MonkeyPatch) -> None:
    from netdiag.playbook import pattern as module

    tried = 0
    fits = module._fits

    def counted(hole: module.Hole, value: str) -> str | None:
        nonlocal tried
        tried += 1
        return fits(hole, value)

    monkeypatch.setattr(module, "_fits", counted)
    hostile = parse_pattern("aaaaaaaa{x}a{y}a{z}a{u}a{v}ab")
    assert match(hostile, "a" * 1_000_000) is None
    assert tried < 5 * module.MOST_TRIES


def test_a_line_as_re_would_match_it() -> None:
    # The oracle is a regular expression of the same meaning, on lines short enough for it.
    random.seed(7)
    pattern = parse_pattern("begin of {port}: {host} is {...} gone")
    oracle = re.compile(r"begin of (-?[0-9]+): ([^\s\"'()\[\]{}<>,;=]*[^\s\"'()\[\]{}<>,;=.:])[.:]* is .* gone")
    words = ["begin of ", "9092", ": ", "kafka", " is ", "long", " gone", "(", "x.", string.whitespace]
    hits = 0
    for _ in range(20_000):
        made = ["begin of ", "9092", ": ", "kafka", " is ", "long", " gone"]
        for _ in range(random.randint(0, 3)):
            made.insert(random.randrange(8), random.choice(words))
            if random.random() < 0.3:
                del made[random.randrange(len(made))]
        line = "".join(made)
        found = match(pattern, line)
        expected = oracle.search(re.sub(r"\s+", " ", line))
        assert (found is None) == (expected is None), line
        hits += found is not None
    assert 2000 < hits < 18_000


def test_a_longer_line_is_cut() -> None:
    assert match(parse_pattern("at the end"), " " + "x" * LONGEST_LINE + "at the end") is None
