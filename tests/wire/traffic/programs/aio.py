"""aiokafka as producer, in transactions and as group member; argument: a JSON object.

`do`: produce, transact, member. `config` goes to aiokafka as it is.
"""

import asyncio
import queue
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRebalanceListener
from spoken import say, settings, words


async def produce(asked: dict[str, Any]) -> None:
    """`count` records of `size` bytes to `topic`, round the `partitions`."""
    producer = AIOKafkaProducer(**asked["config"])
    await producer.start()
    delivered: dict[str, int] = {}
    sent = []
    for number in range(asked["count"]):
        partition = number % asked["partitions"]
        value = (b"%08d-" % number) * (asked["size"] // 9)
        sent.append(await producer.send(asked["topic"], value, partition=partition))
        name = f"{asked['topic']}-{partition}"
        delivered[name] = delivered.get(name, 0) + 1
    await asyncio.gather(*sent)
    await producer.stop()
    say("closed", delivered=delivered)


async def transact(asked: dict[str, Any]) -> None:
    """Transactions by the list `ends` of commit and abort."""
    producer = AIOKafkaProducer(**asked["config"])
    await producer.start()
    for end in asked["ends"]:
        await producer.begin_transaction()
        for number in range(asked["count"]):
            await producer.send(asked["topic"], b"t%06d" % number, partition=number % asked["partitions"])
        if end == "commit":
            await producer.commit_transaction()
        else:
            await producer.abort_transaction()
    await producer.stop()
    say("closed")


class RebalancePrinter(ConsumerRebalanceListener):
    """Says what the group protocol gives and takes."""

    def on_partitions_revoked(self, revoked: Any) -> None:
        """Taken away."""
        say("revoked", partitions=sorted(f"{one.topic}-{one.partition}" for one in revoked))

    def on_partitions_assigned(self, assigned: Any) -> None:
        """Given."""
        say("assigned", partitions=sorted(f"{one.topic}-{one.partition}" for one in assigned))


async def member(asked: dict[str, Any]) -> None:
    """A group member that obeys stall (of the whole event loop), commit and close."""
    import time

    consumer = AIOKafkaConsumer(**asked["config"])
    consumer.subscribe(asked["topics"], listener=RebalancePrinter())
    await consumer.start()
    consumed: dict[str, int] = {}
    heard = words()
    while True:
        for partition, records in (await consumer.getmany(timeout_ms=100)).items():
            name = f"{partition.topic}-{partition.partition}"
            consumed[name] = consumed.get(name, 0) + len(records)
        say("consumed", total=consumed)
        try:
            word = heard.get_nowait()
        except queue.Empty:
            continue
        if word[0] == "stall":
            time.sleep(float(word[1]))
        elif word[0] == "commit":
            await consumer.commit()
            say(
                "committed",
                offsets={
                    f"{one.topic}-{one.partition}": await consumer.committed(one) for one in consumer.assignment()
                },
            )
        else:
            break
    await consumer.stop()
    say("closed", total=consumed)


if __name__ == "__main__":
    chosen = settings()
    asyncio.run({"produce": produce, "transact": transact, "member": member}[chosen["do"]](chosen))
