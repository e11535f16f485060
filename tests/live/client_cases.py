"""Rules that say a client fails: from where, at which address, what kcat then gets; and where it works instead."""

from dataclasses import dataclass

from tests.lab.engine import HOST_ADDRESS


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One question. `vantage`: H the docker host, L its LAN, C a container on the brokers' network (C:NAME on that
    one), or a service; `bootstraps` are asked one by one, {project} in them is the project's name. With `tls`, kcat
    speaks TLS and only asks which brokers there are."""

    vantage: str
    bootstraps: tuple[str, ...]
    tls: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientCase:
    """A rule's claim. `words` are what the bad example gives, in any order, one for each address asked: a word of
    `tests.lab.answers`, or "incomplete" where a broker of the cluster stays unknown to the client.

    `log` is in the log of a broker of the bad example. `is_stuck`: a broker waits for ever, so that only time tells.
    `is_late`: another container starts before the broker. `replaced` puts an address of the lab in place of one in
    the examples. `is_quick` is in make test too.
    """

    rule: str
    bad: Ask
    good: Ask
    words: tuple[str, ...]
    log: str = ""
    is_stuck: bool = False
    is_late: bool = False
    replaced: tuple[str, str] | None = None
    is_quick: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineCase:
    """A rule that says the engine refuses the file, and part of what the engine says; `good` then works."""

    rule: str
    says: str
    good: Ask
    replaced: tuple[str, str] | None = None


def ask(vantage: str, *bootstraps: str, tls: bool = False) -> Ask:
    """A question, in few words."""
    return Ask(vantage=vantage, bootstraps=bootstraps, tls=tls)


def fails(
    rule: str,
    words: str,
    bad: Ask,
    good: Ask,
    *,
    log: str = "",
    is_stuck: bool = False,
    is_late: bool = False,
    replaced: tuple[str, str] | None = None,
    is_quick: bool = False,
) -> ClientCase:
    """A case, in few words."""
    return ClientCase(
        rule=rule,
        words=tuple(sorted(words.split())),
        bad=bad,
        good=good,
        log=log,
        is_stuck=is_stuck,
        is_late=is_late,
        replaced=replaced,
        is_quick=is_quick,
    )


_TWO = ("kafka-1:9092", "kafka-2:9092")

CLIENT_CASES = (
    fails("advertised-empty-host", "advertised", ask("H", "localhost:9092"), ask("C", "kafka:9092")),
    fails("advertised-host-unknown", "no-brokers", ask("C", "kafka:9092"), ask("C", "kafka:9092")),
    fails("advertised-internal-name-for-host", "advertised", ask("H", "localhost:9092"), ask("H", "localhost:9092")),
    fails(
        "advertised-loopback-for-remote-clients",
        "advertised",
        ask("app", "kafka:9092"),
        ask("app", "kafka:29092"),
        is_quick=True,
    ),
    fails("advertised-placeholder", "no-brokers", ask("C", "kafka:9092"), ask("C", "kafka:9092")),
    fails(
        "advertised-port-differs-from-published", "advertised", ask("H", "localhost:9093"), ask("H", "localhost:9093")
    ),
    fails("advertised-port-not-published", "bootstrap", ask("H", "localhost:9092"), ask("H", "localhost:9092")),
    fails("advertised-wildcard-uncaught", "no-brokers", ask("C", "kafka:9092"), ask("C", "kafka:9092")),
    fails(
        "client-protocol-mismatch",
        "bootstrap",
        ask("app", "kafka:29092", tls=True),
        ask("app", "kafka:9093", tls=True),
    ),
    fails("default-bridge-no-dns", "bootstrap", ask("app", "kafka:9092"), ask("app", "kafka:9092")),
    fails(
        "dependent-bootstrap-control-port",
        "bootstrap",
        ask("app", "kafka:9093"),
        ask("app", "kafka:9092"),
        is_quick=True,
    ),
    fails(
        "dependent-bootstrap-external-listener",
        "advertised",
        ask("app", "kafka:9092"),
        ask("app", "kafka:29092"),
        is_quick=True,
    ),
    fails("dependent-bootstrap-localhost", "bootstrap", ask("app", "localhost:9092"), ask("app", "kafka:9092")),
    fails("dependent-bootstrap-scheme", "bootstrap", ask("app", "INTERNAL://kafka:29092"), ask("app", "kafka:29092")),
    fails("dependent-bootstrap-unknown-host", "bootstrap", ask("app", "kafka-broker:9092"), ask("app", "kafka:9092")),
    fails("dependent-bootstrap-wrong-port", "bootstrap", ask("app", "kafka:9094"), ask("app", "kafka:29092")),
    fails("dependent-reaches-some-brokers", "partial:1/2", ask("app", "kafka-1:9092"), ask("app", "kafka-1:9092")),
    fails("ephemeral-or-range-port", "bootstrap", ask("H", "localhost:9092"), ask("H", "localhost:9092")),
    fails("healthcheck-wrong-endpoint", "bootstrap", ask("kafka", "localhost:9092"), ask("kafka", "localhost:29092")),
    fails("host-alias-portability", "advertised", ask("app", "kafka:9092"), ask("app", "kafka:29092")),
    fails("host-network-mode", "bootstrap", ask("app", "kafka:9092"), ask("app", "localhost:9092")),
    fails("hostname-loopback", "bootstrap", ask("app", "kafka:9092"), ask("app", "kafka:9092")),
    fails("inter-broker-endpoint-unreachable", "partial:1/2", ask("C", "kafka-1:29092"), ask("C", "kafka-1:29092")),
    fails("internal-network-published", "bootstrap", ask("H", "localhost:9092"), ask("H", "localhost:9092")),
    fails("listener-bound-to-loopback", "bootstrap", ask("H", "localhost:9092"), ask("H", "localhost:9092")),
    fails("listener-bound-to-one-network", "bootstrap", ask("C:front", "kafka:9092"), ask("C:front", "kafka:9092")),
    fails("listener-sets-differ", "incomplete", ask("H", "localhost:9092"), ask("H", "localhost:9092")),
    fails("networks-not-shared", "bootstrap", ask("app", "kafka:9092"), ask("app", "kafka:9092"), is_quick=True),
    fails(
        "published-loopback-advertised-elsewhere",
        "bootstrap",
        ask("L", f"{HOST_ADDRESS}:9092"),
        ask("L", f"{HOST_ADDRESS}:9092"),
        replaced=("192.168.1.20", HOST_ADDRESS),
    ),
    fails("published-port-without-listener", "bootstrap", ask("H", "localhost:39092"), ask("H", "localhost:9092")),
    fails("published-port-wrong-listener", "advertised", ask("H", "127.0.0.1:20031"), ask("H", "127.0.0.1:20031")),
    fails("relay-to-wrong-listener", "advertised", ask("H", "localhost:9092"), ask("H", "localhost:9092")),
    fails(
        "unstable-ip-advertised",
        "no-brokers",
        ask("C", "kafka:9092"),
        ask("C", "kafka:9092"),
        is_late=True,
        replaced=("172.18.0.", "10.98.0."),
    ),
    # Nodes that end or wait: whoever asks them gets nothing.
    fails(
        "cluster-id-inconsistent",
        "bootstrap",
        ask("C", "kafka:9092"),
        ask("C", "kafka:9092"),
        is_stuck=True,
    ),
    fails("duplicate-node-id", "bootstrap ok", ask("C", *_TWO), ask("C", *_TWO), log="NodeExists"),
    fails("kraft-voter-endpoint-mismatch", "bootstrap", ask("C", "kafka:9092"), ask("C", "kafka:9092"), is_stuck=True),
    fails("kraft-voters-loopback", "bootstrap bootstrap", ask("C", *_TWO), ask("C", *_TWO), is_stuck=True),
    fails(
        "replicas-share-endpoint",
        "bootstrap bootstrap ok",
        ask("C", *(f"{{project}}-kafka-{n}:9092" for n in (1, 2, 3))),
        ask("C", "kafka:9092"),
        log="NodeExists",
    ),
    fails("shared-data-volume", "bootstrap ok", ask("C", *_TWO), ask("C", *_TWO)),
    fails(
        "zookeeper-connect-broken",
        "bootstrap",
        ask("C", "kafka:9092"),
        ask("C", "kafka:9092"),
        log="Check if Zookeeper is healthy",
    ),
)

ENGINE_CASES = (
    EngineCase(rule="duplicate-host-port", says="port is already allocated", good=ask("H", "localhost:9092")),
    EngineCase(
        rule="static-ip-invalid",
        says="does not belong to any of this network's subnets",
        good=ask("C", "kafka:9092"),
        replaced=("172.20.", "10.97."),
    ),
    EngineCase(
        rule="network-mode-none-or-shared",
        says="conflicting options: port publishing and the container type network mode",
        good=ask("H", "localhost:9092"),
    ),
)
