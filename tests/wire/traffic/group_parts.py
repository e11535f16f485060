"""The parts of a scenario that are about groups: members that join, leave, die, stall, come back under their name."""

import signal
import time

from tests.wire.traffic.clients import Client
from tests.wire.traffic.hands import AIOKAFKA, JAVA, KAFKA_PYTHON, LIBRDKAFKA, Hands, consumed


def triggers(hands: Hands, library: str, strategy: str, *, kill: bool = True, stall: bool = True) -> None:
    """A group that rebalances for each reason there is: join, leave, session timeout, poll interval, new partitions."""
    group = f"{library.replace('_', '-')}-{strategy}"
    topic = f"t-{group}"
    hands.make_topics({topic: 4})
    maker = hands.produce(hands.cluster.client(1), LIBRDKAFKA, f"p-{group}", topic, config={}, count=80, partitions=4)
    hands.note_produced(maker, f"p-{group}")
    places = [hands.cluster.client(number) for number in (1, 2, 3)]
    first_id, second_id = f"{group}-m1", f"{group}-m2"
    first = hands.member(places[0], library, group, first_id, [topic], strategy=strategy)
    first.wait_for("80 records", lambda _: consumed(first) >= 80)
    count = len(first.events)
    second = hands.member(places[1], library, group, second_id, [topic], strategy=strategy)
    second.wait_event("assigned")
    _wait_turn(first, count)
    count = len(first.events)
    hands.note_consumed(second, second_id, group, is_all=True)
    _wait_turn(first, count)
    if kill:
        # A member of the new protocol is missed after the broker's session timeout of 45 s: only where it is short.
        third = hands.member(places[2], library, group, f"{group}-m3", [topic], strategy=strategy)
        third.wait_event("assigned")
        count = len(first.events)
        third.kill()
        _wait_turn(first, count)
    if stall:
        _stall(hands, library, group, topic, strategy)
    if library == JAVA:
        count = len(first.events)
        first.tell("enforce")
        if strategy == "range":
            _wait_turn(first, count)
    count = len(first.events)
    hands.make_topics({topic: 6}, more=True)
    _wait_turn(first, count)
    hands.note_consumed(first, first_id, group, is_all=True)


def _stall(hands: Hands, library: str, group: str, topic: str, strategy: str) -> None:
    """A member that stops polling for longer than it may."""
    key = "max_poll_interval_ms" if library in (KAFKA_PYTHON, AIOKAFKA) else "max.poll.interval.ms"
    name = f"{group}-stalled"
    client = hands.member(hands.cluster.client(2), library, group, name, [topic], strategy=strategy, config={key: 4000})
    client.wait_event("assigned")
    time.sleep(1)
    client.tell("stall 7")
    time.sleep(7.5)
    hands.note_consumed(client, name, group)


def static_member(hands: Hands, library: str = LIBRDKAFKA) -> None:
    """A static member that dies and comes back within its session: no rebalance; then another takes its name."""
    group, topic = f"static-{library.replace('_', '-')}", "codecs"
    key = "group_instance_id" if library in (KAFKA_PYTHON, AIOKAFKA) else "group.instance.id"
    place = hands.cluster.client(3)
    other = hands.member(place, library, group, f"{group}-b", [topic], config={key: "instance-b"})
    other.wait_event("assigned")
    first = hands.member(place, library, group, f"{group}-a", [topic], config={key: "instance-a"})
    first.wait_event("assigned")
    first.kill()
    again = hands.member(place, library, group, f"{group}-a2", [topic], config={key: "instance-a"})
    again.wait_event("assigned")
    time.sleep(1)
    hands.note_consumed(again, f"{group}-a2", group)
    hands.note_consumed(other, f"{group}-b", group)


def frozen_member(hands: Hands) -> None:
    """A member that is stopped for longer than its session and then goes on: it is told that it is not known."""
    group = "frozen"
    first = hands.member(hands.cluster.client(1), LIBRDKAFKA, group, "frozen-m1", ["codecs"])
    first.wait_event("assigned")
    count = len(first.events)
    second = hands.member(hands.cluster.client(2), LIBRDKAFKA, group, "frozen-m2", ["codecs"])
    second.wait_event("assigned")
    _wait_turn(first, count)
    time.sleep(1)
    # What the first hears from here on is that the second is missed, no longer that it came.
    count = len(first.events)
    second.signal(signal.SIGSTOP)
    _wait_turn(first, count)
    count = len(second.events)
    second.signal(signal.SIGCONT)
    _wait_turn(second, count)
    hands.note_consumed(second, "frozen-m2", group)
    hands.note_consumed(first, "frozen-m1", group)


def _wait_turn(client: Client, after: int) -> None:
    """Until a member is given or has to give up something."""
    told = ("assigned", "revoked", "lost")
    client.wait_for(
        "turn",
        lambda events: any(event["event"] in told for event in events[after:]),
    )
    time.sleep(0.3)
