"""The ids of brokers that let Kafka choose one.

With ZooKeeper, a broker without an id, or with a negative one, takes the next number above `reserved.broker.max.id`
(KafkaServer.getOrGenerateBrokerId of Kafka 3.9). Which one depends on who starts first.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from netdiag.deployment.model.deployment import Broker
from netdiag.kafka.broker_config import Mode
from netdiag.kafka.images.settings import Provenance, Setting

_RESERVED = 1000


def with_generated_ids(brokers: Sequence[Broker]) -> tuple[Broker, ...]:
    """The brokers, each with an id: as if those that get one started in this order, one cluster after the other."""
    started: Counter[str] = Counter()
    found = []
    for broker in brokers:
        if _is_generated(broker):
            started[broker.config.quorum] += 1
            number = _reserved(broker) + started[broker.config.quorum]
            setting = Setting(name="broker.id", value=str(number), variable=None, provenance=Provenance.DERIVED)
            config = replace(broker.config, settings={**broker.config.settings, "broker.id": setting})
            broker = replace(broker, config=config)
        found.append(broker)
    return tuple(found)


def _is_generated(broker: Broker) -> bool:
    config = broker.config
    if config.mode is not Mode.ZOOKEEPER or (config.value("broker.id.generation.enable") or "").lower() == "false":
        return False
    return config.node_id is None or config.node_id < 0


def _reserved(broker: Broker) -> int:
    value = broker.config.value("reserved.broker.max.id") or ""
    return int(value) if value.isdigit() and len(value) < 10 else _RESERVED
