"""docs/proofs.md: which rules a real broker, client or engine has proven, and why the others are not.

`python -m tests.live.proofs` (`make docs`) writes it.
"""

from collections.abc import Iterator

from netdiag.rules.declared import DECLARED
from tests.house.tree import ROOT
from tests.live.client_cases import CLIENT_CASES, ENGINE_CASES, Ask, ClientCase
from tests.live.examples import compose_of
from tests.live.print_cases import PrintCase, of_examples, of_mutants, predicting
from tests.live.topology_cases import CASES as TOPOLOGY_CASES

PAGE = ROOT / "docs" / "proofs.md"

# Rules that predict a message that no broker of the lab can print.
NOT_PRINTED = {
    "bitnami-legacy-switches": "the lab has no start scripts of Bitnami; known from their source",
    "controller-wildcard-on-3.9.0": "only 3.9.0 does this, and the lab runs 3.9.1 and 4.3.1; known from its source",
    "image-env-alias-ignored": "the lab has no start scripts of Bitnami; known from their source",
    "image-version-breaks-mode": "the lab has no start script of cp-kafka 8; known from its source",
    "kraft-controller-advertised": "only up to 3.8, and the lab runs 3.9.1 and 4.3.1; known from its source",
    "wurstmeister-listeners-missing": "the lab has no start script of wurstmeister; known from its source",
}
_JAVA = "tests/live/test_secured.py compares it with what Java's client gets"
# Rules that predict no message of a broker, and no failure that a client of the lab can show.
NOT_PROVEN = {
    "ambiguous-name": "takes two projects on one network, which tests/live/test_two_projects.py starts",
    "broker-assumed": "a note about what netdiag does not know",
    "connect-group-shared": "tests/live/test_connect.py asks real workers",
    "connect-topics-shared": "tests/live/test_connect.py asks real workers",
    "data-directory-not-writable": "takes a folder of another owner, which tests/live/test_stale_volumes.py makes",
    "data-not-kept": "takes two lives of a stack, which tests/live/test_stale_volumes.py starts",
    "duplicate-advertised-endpoint": "the second broker exits, unless both register at the same moment; both happen",
    "image-env-duplicate": "nothing fails: one of the values counts, which the tests compare with Compose",
    "image-env-unknown": "nothing fails: the broker ignores the property",
    "image-env-wrong-prefix": "nothing fails: the broker ignores the property",
    "image-gone": "a note about a registry, which the lab does not contact",
    "image-not-kafka": "the lab has no image of ZooKeeper",
    "jmx-hostname-unreachable": "tests/live/test_jmx.py compares it with what Java's JMX client gets",
    "jmx-rmi-port-not-published": "tests/live/test_jmx.py compares it with what Java's JMX client gets",
    "jmx-rmi-port-random": "tests/live/test_jmx.py compares it with what Java's JMX client gets",
    "client-certificate-missing": _JAVA,
    "host-names-unchecked": "a note: the client connects",
    "keystore-name-not-covered": _JAVA,
    "keystore-not-checked": "a note about what netdiag does not know",
    "kraft-advertised-controller-differs": "fails only while that node leads the quorum, which is random",
    "kraft-voters-inconsistent": "the election is random, and so is whether the others follow; both happen",
    "listener-prefix-underscore": "nothing fails: the broker ignores the property",
    "mounted-config-shadows-env": "a note: nothing fails",
    "redpanda-listener-mismatch": "the lab has no image of Redpanda",
    "removed-address-property": "nothing fails: the broker ignores the property",
    "rest-advertised-loopback": "tests/live/test_connect.py asks real workers",
    "rest-advertised-shared": "tests/live/test_connect.py asks real workers",
    "rest-advertised-unreachable": "tests/live/test_connect.py asks real workers",
    "sasl-mechanism-not-enabled": _JAVA,
    "sasl-scram-user-missing": _JAVA,
    "sasl-user-unknown": _JAVA,
    "rest-url-unreachable": "tests/live/test_connect.py asks workers, and stand-ins for what the lab has no image of",
    "schema-registry-listener-name": "the lab has no image of the Schema Registry",
    "swarm-ingress-with-dnsrr": "takes a swarm, which tests/live/test_swarm.py makes: it refuses the service",
    "zookeeper-data-not-kept": "takes two lives of a stack, which tests/live/test_stale_volumes.py starts",
}
_HEAD = """\
# What is proven live

A rule says that a broker refuses to start and what it prints, that a client fails, or that the engine refuses a file.
This page lists which of these statements the tests compare with real systems: Kafka 3.9.1 and 4.3.1 under the start
scripts of `apache/kafka` and `cp-kafka` 7.9, kcat, and Docker Engine. The tests start each rule's Bad example, and also
its Good example if a client must fail. `make bars BARS="broker-prints client-fails"` runs all of them, and `make test`
some. For rules about Compose files themselves, the tests compare with `docker compose config`. `make docs` generates
this page from the tests.
"""
_MACHINE = """\
## The network of a machine

The tests prove rules about topologies on a small docker host: real namespaces, veth cables, a bridge, sockets and NAT
rules; only the engine's answers are literals. The intact host gives no finding, and each of these defects gives
findings of one rule only. `tests/live/test_five_brokers.py` also runs five brokers on a real engine: netdiag finds
nothing, until the test disconnects a container, pulls out a cable, kills a docker-proxy or deletes a NAT rule.
"""
# What kcat gets, by the words of tests.lab.answers and of tests.live.test_client_fails.
_GETS = {
    "ok": "all brokers answer",
    "bootstrap": "no answer",
    "no-brokers": "no broker in the metadata",
    "advertised": "an advertised address that does not work",
    "partial:1/2": "one of two brokers answers",
    "incomplete": "brokers are missing from the metadata",
}
_PLACES = {"H": "the docker host", "L": "another machine", "C": "another container"}


def page() -> str:
    """The text of docs/proofs.md."""
    count = f"{len(proven())} of {len(DECLARED)} rules are proven. "
    kinds = (
        f"A broker prints the message: {len(printing())} of {len(predicting())} rules that predict one. "
        f"A client fails: {len({case.rule for case in CLIENT_CASES})}. "
        f"The engine refuses: {len(ENGINE_CASES)}."
    )
    table = ["| rule | proof |", "|---|---|", *(f"| `{rule}` | {text} |" for rule, text in sorted(_proven()))]
    rest = ["| rule | why not |", "|---|---|", *(f"| `{rule}` | {text} |" for rule, text in sorted(_unproven()))]
    machine = ["| defect | found by |", "|---|---|", *(f"| {case.defect} | `{case.rule}` |" for case in TOPOLOGY_CASES)]
    return "\n".join([_HEAD, count + kinds, "", *table, "", "## Not proven", "", *rest, "", _MACHINE, *machine, ""])


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
    service = case.predicted[0][0]
    return str(compose_of(case.text)["services"][service]["image"])


def _client(case: ClientCase) -> str:
    gets = ", ".join(f"{_GETS[word]}" for word in case.words)
    log = f', and a broker\'s log has "{case.log}"' if case.log else ""
    return f"kcat from {_where(case.bad)}: {gets}{log}; repaired, from {_where(case.good)}: {_GETS['ok']}"


def _where(ask: Ask) -> str:
    what, _, network = ask.vantage.partition(":")
    place = _PLACES.get(what, f"`{ask.vantage}`") + (f" on `{network}`" if network else "")
    return f"{place} at {', '.join(f'`{one}`' for one in ask.bootstraps)}"


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
