"""One cell with kafka-python: bootstrap, the brokers it is told of, one end offset per partition.

`offsets.py BOOTSTRAP TOPIC PARTITIONS SECONDS` prints one JSON object: the node ids of the
metadata (null when hop 1 failed), per partition null or the error, and the partitions for which
a broker answered that it is not the leader. A consumer per partition,
each on a thread of its own, so one unreachable leader does not use up the time of the others.
"""

from __future__ import annotations

import json
import logging
import re
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, "/opt/lab/python")

from kafka import KafkaConsumer, TopicPartition  # type: ignore[import-untyped]
from kafka.errors import KafkaError  # type: ignore[import-untyped]


def consumer(bootstrap: str, seconds: float) -> KafkaConsumer:
    """A consumer that gives up after about `seconds`."""
    return KafkaConsumer(
        bootstrap_servers=bootstrap,
        bootstrap_timeout_ms=int(seconds * 1000),
        request_timeout_ms=int(seconds * 1000),
        enable_auto_commit=False,
        reconnect_backoff_max_ms=500,
    )


def known_nodes(bootstrap: str, seconds: float) -> list[int]:
    """The node ids in the metadata that the bootstrap address gave."""
    client = consumer(bootstrap, seconds)
    try:
        return sorted(broker.node_id for broker in client._cluster.brokers())
    finally:
        client.close(autocommit=False)


def end_offset(bootstrap: str, topic: str, partition: int, seconds: float) -> str | None:
    """None when the partition's leader answered, else the error."""
    there = TopicPartition(topic, partition)
    client = None
    try:
        client = consumer(bootstrap, seconds)
        found = client.end_offsets([there], timeout_ms=int(seconds * 1000))
        return None if there in found else f"no answer for partition {partition}"
    except (KafkaError, OSError) as error:
        return f"{type(error).__name__}: {error}"
    finally:
        if client is not None:
            client.close(autocommit=False)


class Told(logging.Handler):
    """Keeps what the client says on the way: its exceptions all read "timed out"."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.log: list[str] = []
        self.misled: set[int] = set()
        self.saw_no_brokers = False

    def emit(self, record: logging.LogRecord) -> None:
        """Note one line."""
        text = record.getMessage()
        found = re.search(r"partition=(\d+)", text)
        if found and re.search("NotLeader|unknown topic or partition", text):
            self.misled.add(int(found[1]))
        self.saw_no_brokers |= "has no brokers" in text
        if record.levelno >= logging.WARNING:
            self.log.append(text)


def main(bootstrap: str, topic: str, partitions: int, seconds: float) -> None:
    """Print the cell."""
    told = Told()
    logging.getLogger("kafka").addHandler(told)
    logging.getLogger("kafka.consumer.fetcher").setLevel(logging.DEBUG)
    with ThreadPoolExecutor(partitions + 1) as pool:
        nodes = pool.submit(known_nodes, bootstrap, seconds)
        cells = [pool.submit(end_offset, bootstrap, topic, number, seconds) for number in range(partitions)]
        try:
            found, error = nodes.result(), None
        except (KafkaError, OSError) as failure:
            found, error = None, f"{type(failure).__name__}: {failure}"
            if told.saw_no_brokers:
                found = []
        result = {
            "nodes": found,
            "error": error,
            "partitions": [cell.result() for cell in cells],
            "misled": sorted(told.misled),
            "log": told.log[-20:],
        }
        print(json.dumps(result))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]))
