"""librdkafka as producer, in transactions, as group member and as administrator; argument: a JSON object.

`do`: produce, transact, member, admin. `config` goes to librdkafka as it is.
"""

import queue
import time
from collections.abc import Callable
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from spoken import say, settings, words


class Statistics:
    """Keeps the last statistics that librdkafka told."""

    def __init__(self) -> None:
        self.last = ""

    def __call__(self, text: str) -> None:
        self.last = text

    def facts(self) -> dict[str, Any]:
        """The totals that a capture can be held against."""
        import json

        if not self.last:
            return {}
        found = json.loads(self.last)
        names = ("tx", "tx_bytes", "rx", "rx_bytes", "txmsgs", "txmsg_bytes", "rxmsgs", "rxmsg_bytes")
        requests: dict[str, int] = {}
        for broker in found["brokers"].values():
            for name, count in broker.get("req", {}).items():
                requests[name] = requests.get(name, 0) + count
        partitions = {
            f"{topic}-{number}": {key: one[key] for key in ("txmsgs", "txbytes", "rxmsgs", "rxbytes")}
            for topic, about in found["topics"].items()
            for number, one in about["partitions"].items()
            if number != "-1"
        }
        return {**{name: found[name] for name in names}, "requests": requests, "partitions": partitions}


def produce(asked: dict[str, Any]) -> None:
    """`count` records of `size` bytes to `topic`, round the `partitions`."""
    statistics = Statistics()
    producer = Producer({**asked["config"], "statistics.interval.ms": 200, "stats_cb": statistics})
    delivered: dict[str, int] = {}

    def report(error: KafkaError | None, message: Any) -> None:
        if error is None:
            name = f"{message.topic()}-{message.partition()}"
            delivered[name] = delivered.get(name, 0) + 1
        else:
            say("failed", error=str(error))

    for number in range(asked["count"]):
        value = (b"%08d-" % number) * (asked["size"] // 9 + 1)
        partition = number % asked["partitions"]
        producer.produce(
            asked["topic"], value[: asked["size"]], key=b"k%d" % number, partition=partition, on_delivery=report
        )
        producer.poll(0)
        if pause := asked.get("pause"):
            time.sleep(pause)
    producer.flush(30)
    # The next statistics hold everything.
    until = time.monotonic() + 0.5
    while time.monotonic() < until:
        producer.poll(0.1)
    say("closed", delivered=delivered, statistics=statistics.facts())


def transact(asked: dict[str, Any]) -> None:
    """Transactions by the list `ends` of commit and abort, with the offsets of a group where one is named."""
    producer = Producer(asked["config"])
    producer.init_transactions(30)
    consumer = None
    if group := asked.get("group"):
        consumer = Consumer(
            {
                "bootstrap.servers": asked["config"]["bootstrap.servers"],
                "group.id": group,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
            }
        )
    for end in asked["ends"]:
        producer.begin_transaction()
        for number in range(asked["count"]):
            producer.produce(asked["topic"], b"t%06d" % number, partition=number % asked["partitions"])
        producer.flush(30)
        if consumer is not None:
            offsets = [TopicPartition(asked["topic"], number, 1) for number in range(asked["partitions"])]
            producer.send_offsets_to_transaction(offsets, consumer.consumer_group_metadata(), 30)
        if end == "commit":
            producer.commit_transaction(30)
        else:
            producer.abort_transaction(30)
    if consumer is not None:
        consumer.close()
    say("closed")


def member(asked: dict[str, Any]) -> None:
    """A group member that obeys stall, commit and close."""
    statistics = Statistics()
    consumer = Consumer({**asked["config"], "statistics.interval.ms": 200, "stats_cb": statistics})
    consumed: dict[str, int] = {}

    def telling(event: str) -> Any:
        return lambda _, partitions: say(event, partitions=sorted(f"{one.topic}-{one.partition}" for one in partitions))

    consumer.subscribe(
        asked["topics"], on_assign=telling("assigned"), on_revoke=telling("revoked"), on_lost=telling("lost")
    )
    heard = words()
    while True:
        message = consumer.poll(0.1)
        if message is not None and message.error() is None:
            name = f"{message.topic()}-{message.partition()}"
            consumed[name] = consumed.get(name, 0) + 1
        elif message is None:
            say("consumed", total=consumed)
        try:
            word = heard.get_nowait()
        except queue.Empty:
            continue
        if word[0] == "stall":
            time.sleep(float(word[1]))
        elif word[0] == "commit":
            try:
                done = consumer.commit(asynchronous=False)
                say("committed", offsets={f"{one.topic}-{one.partition}": one.offset for one in done})
            except KafkaException as error:
                say("committed", offsets={}, error=str(error))
        else:
            break
    consumer.close()
    say("closed", total=consumed, statistics=statistics.facts())


def admin(asked: dict[str, Any]) -> None:
    """Topics and groups: made, described, listed, altered, deleted."""
    from confluent_kafka.admin import AdminClient, ConfigResource, NewPartitions, NewTopic

    client = AdminClient(asked["config"])
    name = asked["topic"]
    _await(lambda: client.create_topics([NewTopic(name, 2, 1)]))
    client.list_topics(timeout=10)
    resource = ConfigResource(ConfigResource.Type.TOPIC, name)
    _await(lambda: client.describe_configs([resource]))
    _await(lambda: client.create_partitions([NewPartitions(name, 3)]))
    client.list_consumer_groups().result(20)
    client.describe_cluster().result(20)
    _await(lambda: client.delete_topics([name]))
    say("closed")


def _await(ask: Callable[[], dict[Any, Any]]) -> None:
    """Every answer; asked again for 20 s while a broker has not heard of a new topic."""
    until = time.monotonic() + 20
    while True:
        try:
            for future in ask().values():
                future.result(20)
            return
        except KafkaException as error:
            if error.args[0].code() != KafkaError.UNKNOWN_TOPIC_OR_PART or time.monotonic() > until:
                raise
            time.sleep(0.2)


def topics(asked: dict[str, Any]) -> None:
    """Make the topics that `partitions` counts, or give them more partitions where `more` says so."""
    from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic

    client, counts = AdminClient(asked["config"]), asked["partitions"].items()
    if asked.get("more"):
        _await(lambda: client.create_partitions([NewPartitions(name, count) for name, count in counts]))
    else:
        _await(lambda: client.create_topics([NewTopic(name, count, 1) for name, count in counts]))
    say("closed")


if __name__ == "__main__":
    chosen = settings()
    todo = {"produce": produce, "transact": transact, "member": member, "admin": admin, "topics": topics}
    todo[chosen["do"]](chosen)
