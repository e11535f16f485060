"""Analyses to draw, from literals: a cluster that breaks in its third minute, nothing at all, and hostile names."""

from dataclasses import replace
from typing import Any

from netdiag.findings import Finding, Related, Severity, WireLocation
from netdiag.traffic.analysis import Analysis, Answer, Buckets, Charts, Seen
from tests.render.analysis.analyses import answer

S = 1_000_000_000
T0 = 1_700_000_000 * S
SPAN = Buckets(first=T0 // 1000, length=5_000_000, count=120)
BREAKS = 40
# Ends of elements, quotes, line separators, controls, directions, markup of every kind, and more than anybody reads.
EVIL = (
    "</script></title><script>document.title='x'</script><img src=x onerror=alert(1)>\"'`&lt; ${x} {{y}} "
    "\u2028\u2029\u202e\x00\x1b[31m\u200b\ufeff"
)
LONG = EVIL + "long" * 2500


def finding(
    message: str = "localhost:9092 is told to 10.0.0.2",
    *,
    rule: str = "wire-told-loopback",
    severity: Severity = Severity.ERROR,
    second: int = 0,
    **more: Any,
) -> Finding:
    """A finding in the capture."""
    place = WireLocation(
        file="a.pcap", packet=1234, time=T0 + second * S, client="10.0.0.2:40000", broker="10.0.0.9:9092"
    )
    return Finding(rule=rule, severity=severity, message=message, location=place, **more)


def broken() -> Analysis:
    """Everything that a page can show."""
    return Analysis(
        seen=Seen(files=("a.pcap",), bytes=12_345_678, packets=98_765, first=T0, last=T0 + 600 * S),
        connections=1200,
        protocols={"kafka": 1100, "tls": 100},
        answers=_answers("shop", "orders"),
        findings=(
            finding("g rebalances", rule="wire-rebalance-storm", severity=Severity.WARNING, second=220),
            *(
                finding(
                    f"orders-{number} has moved",
                    rule="wire-stale-leader-loop",
                    second=200 + number,
                    hint="ask again",
                    why="the leader is another",
                )
                for number in range(6)
            ),
            finding(related=(Related(location=finding().location, message="the answer"),), hint="mend it", second=210),
        ),
        charts=_charts("shop", "orders"),
    )


def empty() -> Analysis:
    """A capture in which there is nothing."""
    return Analysis(seen=Seen(files=("b.pcap",)))


def calm() -> Analysis:
    """Nothing wrong."""
    return replace(broken(), findings=())


def hostile() -> Analysis:
    """The broken one with names as nobody would choose them."""
    analysis = broken()
    findings = [
        finding(
            LONG,
            rule=EVIL,
            hint=EVIL,
            why=LONG,
            second=number,
            related=(Related(location=finding().location, message=EVIL),),
        )
        for number in range(2)
    ]
    place = WireLocation(file=EVIL, packet=1, time=T0, client=EVIL, broker=EVIL)
    return replace(
        analysis,
        seen=replace(analysis.seen, files=(EVIL, LONG)),
        protocols={EVIL: 1},
        answers=_answers(EVIL, LONG),
        findings=(*findings, replace(findings[0], location=place, rule="other")),
        charts=_charts(EVIL, LONG),
    )


def _answers(client: str, topic: str) -> dict[str, Answer]:
    rebalance = {
        "group": client,
        "trigger": "session-timeout",
        "trigger_client_id": client,
        "members": (client, "b"),
        "state": "stable",
    }
    rows = [
        {
            **rebalance,
            "generation": number,
            "time": T0 + (200 + 20 * number) * S,
            "end_time": T0 + (206 + 20 * number) * S,
            "duration_ms": 6000.0,
        }
        for number in range(9)
    ]
    return {
        "coverage": answer(
            "coverage",
            {"api_name": "Produce", "api_version": 9, "decoded": "full", "outcome": "answered", "exchanges": 99_000},
            {"api_name": "Fetch", "api_version": 12, "decoded": "header", "outcome": "answered", "exchanges": 1000},
        ),
        "loss_kinds": answer("loss_kinds", {"kind": "gap", "bytes": 5_000_000, "times": 12, "detail": client}),
        "rates": answer("rates", {"by": "client_id", "value": client, "requests": 50, "requests_per_s": 1.5}, total=70),
        "latency": answer("latency", {"api_name": "Produce", "broker": client, "requests": 9, "latency_p50_ms": 1.5}),
        "errors": answer(
            "errors", {"api_name": "Produce", "error": "NOT_LEADER", "topic": topic, "broker": client, "times": 4}
        ),
        "rebalances": answer(
            "rebalances",
            *rows,
            {
                **rebalance,
                "group": "new",
                "trigger": "join",
                "generation": 1,
                "time": T0 + 30 * S,
                "state": "incomplete",
            },
        ),
    }


def _charts(client: str, topic: str) -> Charts:
    traffic, errors, connections, lags, partitions = [], [], [], [], []
    for bucket in range(SPAN.count):
        bad = bucket >= BREAKS
        if not 20 <= bucket < 24:
            traffic.append(
                {
                    "bucket": bucket,
                    "requests": 800,
                    "responses": 800,
                    "request_bytes": 900_000,
                    "response_bytes": 90_000,
                    "errors": 200 if bad else 0,
                    "unanswered": 3 if bad else 0,
                    "service_p50_ms": 2.5,
                    "service_p95_ms": 9.0,
                    "service_p99_ms": 1500.0 if bad else 20.0,
                    "service_max_ms": 3000.0,
                }
            )
        if bad:
            errors.append({"bucket": bucket, "api_name": "Produce", "error": "NOT_LEADER", "times": 150})
            errors.append({"bucket": bucket, "times": 50})
            lags.append(
                {"bucket": bucket, "group": client, "topic": topic, "partitions": 3, "lag_records": bucket * 90}
            )
        connections.append({"bucket": bucket, "opened": 9, "refused": 4 if bad else 0, "resets": 1 if bad else 0})
        partitions += [
            {"bucket": bucket, "topic": topic, "partition": n, "bytes": 10_000 * n, "requests": 9, "errors": int(bad)}
            for n in range(1, 6)
        ]
        partitions.append({"bucket": bucket, "bytes": 70, "requests": 9})
    brokers = [
        {
            "bucket": bucket,
            "broker": broker,
            "requests": 400,
            "failures": 203 if bucket >= BREAKS and broker == "10.0.0.9:9092" else 0,
            "service_p99_ms": None if broker is None else 1500.0 if bucket >= BREAKS and "9:" in broker else 20.0,
        }
        for bucket in range(SPAN.count)
        for broker in ("10.0.0.9:9092", "10.0.0.8:9092", None)
    ]
    lags.append({"bucket": 0, "group": "calm", "topic": "t", "partitions": 1, "lag_records": 5})
    return Charts(
        span=SPAN,
        answers={
            "traffic_over_time": answer("traffic_over_time", *traffic),
            "errors_over_time": answer("errors_over_time", *errors),
            "connections_over_time": answer("connections_over_time", *connections),
            "lag_over_time": answer("lag_over_time", *lags),
            "brokers_over_time": answer("brokers_over_time", *brokers),
            "partitions_over_time": answer("partitions_over_time", *partitions),
            "worst_connections": answer("worst_connections", *_worst(client), total=1200),
        },
    )


def _worst(client: str) -> list[dict[str, Any]]:
    return [
        {
            "connection": number,
            "trouble": int(number < 5),
            "client": f"10.0.0.{number}:4{number:04}",
            "broker": "10.0.0.9:9092",
            "client_id": client,
            "client_software": client,
            "protocol": "kafka",
            "opening": "refused" if number < 5 else "complete",
            "ending": "fin",
            "first_time": T0 + number * S,
            "seconds": float(number),
            "requests": 10 * number,
            "client_bytes": number * 999,
            "handshake_ms": None if number < 5 else 0.1 * number,
        }
        for number in range(40)
    ]
