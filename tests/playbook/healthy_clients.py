"""Real clients that are well, as talkative as can be: what they log at a mock cluster of librdkafka on loopback."""

import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from confluent_kafka import Producer

from tests.tools import tool

_KCAT_COMMON = ("-q", "-t", "orders", "-d", "all", "-X", "broker.version.fallback=2.0.0")
_KAFKA_PYTHON = """
import logging, sys
logging.basicConfig(level=logging.DEBUG)
from kafka import KafkaConsumer, KafkaProducer
producer = KafkaProducer(bootstrap_servers=sys.argv[1], enable_idempotence=False, api_version=(2, 0))
for number in range(200):
    producer.send("orders", str(number).encode()).get(60)
producer.close()
consumer = KafkaConsumer("orders", bootstrap_servers=sys.argv[1], auto_offset_reset="earliest", api_version=(2, 0))
print(len([message for message, _ in zip(consumer, range(200))]), "consumed")
consumer.close()
"""
_AIOKAFKA = """
import asyncio, logging, sys
logging.basicConfig(level=logging.DEBUG)
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
async def main():
    async with AIOKafkaProducer(bootstrap_servers=sys.argv[1]) as producer:
        for number in range(200):
            await producer.send_and_wait("orders", str(number).encode())
    async with AIOKafkaConsumer("orders", bootstrap_servers=sys.argv[1], auto_offset_reset="earliest") as consumer:
        print(len([await consumer.getone() for _ in range(200)]), "consumed")
asyncio.run(asyncio.wait_for(main(), 100))
"""


@contextmanager
def mock_cluster() -> Iterator[str]:
    """Three brokers of librdkafka's own making, in this process; gives their bootstrap list."""
    producer = Producer({"bootstrap.servers": "localhost", "test.mock.num.brokers": 3})
    metadata = producer.list_topics("orders", timeout=60)
    yield ",".join(f"{broker.host}:{broker.port}" for broker in metadata.brokers.values())
    producer.flush(10)


def logs_of_clients(bootstrap: str) -> Mapping[str, list[str]]:
    """What each client logs while it produces, and consumes what was produced."""
    kcat = [tool("kcat"), "-b", bootstrap]
    produced = _said([*kcat, "-P", *_KCAT_COMMON], "".join(f"{number}\n" for number in range(50)))
    consumed = _said([*kcat, "-C", *_KCAT_COMMON, "-o", "beginning", "-c", "50"])
    listed = _said([*kcat, "-L", "-d", "all"])
    return {
        "librdkafka": produced + consumed + listed,
        "kafka-python": _said([sys.executable, "-c", _KAFKA_PYTHON, bootstrap]),
        "aiokafka": _said([sys.executable, "-c", _AIOKAFKA, bootstrap]),
    }


def _said(argv: list[str], given: str = "") -> list[str]:
    done = subprocess.run(argv, input=given, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, (argv[:4], done.stderr[-2000:])
    return (done.stdout + done.stderr).splitlines()
