"""docs/proofs.md: which rules a real broker, client or engine has proven, and why the others are not.

`python -m tests.live.proofs` (`make docs`) writes it.
"""

from collections.abc import Iterator

from netdiag.rules.declared import DECLARED
from tests.house.tree import ROOT
from tests.live.client_cases import CLIENT_CASES, ENGINE_CASES, Ask, ClientCase
from tests.live.examples import compose_of
from tests.live.print_cases import PrintCase, foretelling, of_examples, of_mutants
from tests.live.topology_cases import CASES as TOPOLOGY_CASES

PAGE = ROOT / "docs" / "proofs.md"

# Rules that foretell a sentence which no broker of the lab can print.
NOT_PRINTED = {
    "bitnami-legacy-switches": "Bitnami's start scripts cannot be had in the lab; read in their source",
    "controller-wildcard-on-3.9.0": "only 3.9.0 does it, the lab runs 3.9.1 and 4.3.1; read in its source",
    "image-env-alias-ignored": "Bitnami's start scripts cannot be had in the lab; read in their source",
    "image-version-breaks-mode": "the start script of cp-kafka 8 is not in the lab; read in its source",
    "kraft-controller-advertised": "up to 3.8 only, the lab runs 3.9.1 and 4.3.1; read in its source",
    "wurstmeister-listeners-missing": "wurstmeister's start script cannot be had in the lab; read in its source",
}
# Rules that foretell no sentence of a broker, and no failure that a client of the lab can show.
NOT_PROVEN = {
    "duplicate-advertised-endpoint": "the second broker ends, unless both register at one moment; both were seen",
    "image-env-duplicate": "nothing fails: one of the values counts, which is held against compose",
    "image-env-unknown": "nothing fails: the broker leaves the property out",
    "image-env-wrong-prefix": "nothing fails: the broker leaves the property out",
    "image-gone": "a note about a registry, which the lab does not ask",
    "image-not-kafka": "ZooKeeper's own image cannot be had in the lab",
    "kraft-advertised-controller-differs": "bites only while that node leads the quorum, which chance decides",
    "kraft-voters-inconsistent": "chance decides who is elected first, and whether the others follow; both were seen",
    "listener-prefix-underscore": "nothing fails: the broker leaves the property out",
    "mounted-config-shadows-env": "a note: nothing fails",
    "redpanda-listener-mismatch": "the image of Redpanda cannot be had in the lab",
    "removed-address-property": "nothing fails: the broker leaves the property out",
    "schema-registry-listener-name": "the image of the schema registry cannot be had in the lab",
}
_HEAD = """\
# What has been proven live

Rules say that a broker refuses to start and what it prints, that a client fails, or that the engine refuses a file.
Here is which of them the real thing has shown: Kafka 3.9.1 and 4.3.1 under the start rules of `apache/kafka` and of
`cp-kafka` 7.9, kcat, and Docker's engine. The tests start each rule's Bad example, and its Good one where a client is
to fail; `make bars BARS="broker-prints client-fails"` runs all of them, `make test` a part. Rules about compose files
as such are held against `docker compose config` instead. This page is made from the tests by `make docs`.
"""
_MACHINE = """\
## The network of a machine

Rules about topologies are shown on a docker host in miniature: real namespaces, cables, a bridge, sockets and NAT
rules; what the engine would say is a literal. In order it gives no finding, and each of these defects the findings of
one rule alone. Beside it five real brokers on a real engine give none, and a container cut off, a cable pulled out, a
killed docker-proxy and a deleted NAT rule of that engine are told (`tests/live/test_topology.py`).
"""
# What kcat gets, by the words of tests.lab.answers and of tests.live.stands.
_GETS = {
    "ok": "all brokers answer",
    "bootstrap": "no answer",
    "no-brokers": "told of no broker",
    "advertised": "told of an address that leads nowhere",
    "partial:1/2": "one broker of two answers",
    "incomplete": "not told of all brokers",
}
_PLACES = {"H": "the docker host", "L": "another machine", "C": "a container beside"}


def page() -> str:
    """The text of docs/proofs.md."""
    count = f"Proven live: {len(proven())} of {len(DECLARED)} rules. "
    kinds = (
        f"A broker prints it: {len(printing())} of {len(foretelling())} rules that foretell a sentence. "
        f"A client fails: {len({case.rule for case in CLIENT_CASES})}. "
        f"The engine refuses: {len(ENGINE_CASES)}."
    )
    table = ["| rule | shown by |", "|---|---|", *(f"| `{rule}` | {text} |" for rule, text in sorted(_proven()))]
    rest = ["| rule | why not |", "|---|---|", *(f"| `{rule}` | {text} |" for rule, text in sorted(_unproven()))]
    machine = ["| defect | told by |", "|---|---|", *(f"| {case.defect} | `{case.rule}` |" for case in TOPOLOGY_CASES)]
    return "\n".join([_HEAD, count + kinds, "", *table, "", "## The rest", "", *rest, "", _MACHINE, *machine, ""])


def printing() -> dict[str, list[PrintCase]]:
    """The cases of each rule whose sentence a broker prints."""
    found: dict[str, list[PrintCase]] = {}
    for case in (*of_examples(), *of_mutants()):
        found.setdefault(case.rule, []).append(case)
    return found


def proven() -> set[str]:
    """The rules that have a proof of any kind."""
    return {rule for rule, _ in _proven()}


def _proven() -> Iterator[tuple[str, str]]:
    for rule, cases in printing().items():
        started = f"{len(cases)} brokers started" if len(cases) > 1 else "one broker started"
        yield rule, f"the broker's log: {started} on {', '.join(sorted({_image(case) for case in cases}))}"
    for client in CLIENT_CASES:
        yield client.rule, _client(client)
    for engine in ENGINE_CASES:
        yield engine.rule, f'the engine: "{engine.says}"'


def _unproven() -> Iterator[tuple[str, str]]:
    shown = proven()
    yield from ((rule, why) for rule, why in {**NOT_PRINTED, **NOT_PROVEN}.items() if rule not in shown)


def _image(case: PrintCase) -> str:
    service = case.foretold[0][0]
    return str(compose_of(case.text)["services"][service]["image"])


def _client(case: ClientCase) -> str:
    gets = ", ".join(f"{_GETS[word]}" for word in case.words)
    log = f', and a broker\'s log has "{case.log}"' if case.log else ""
    return f"kcat from {_where(case.bad)}: {gets}{log}; mended, from {_where(case.good)}: {_GETS['ok']}"


def _where(ask: Ask) -> str:
    what, _, network = ask.vantage.partition(":")
    place = _PLACES.get(what, f"`{ask.vantage}`") + (f" on `{network}`" if network else "")
    return f"{place} at {', '.join(f'`{one}`' for one in ask.bootstraps)}"


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
