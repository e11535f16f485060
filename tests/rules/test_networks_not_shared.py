"""A container that could not be started is on no network, and still has its name."""

from dataclasses import replace

from netdiag.rules.declared import networks_not_shared
from tests.deployment.stacks import deployment_of

STACK = """\
services:
  kafka:
    image: confluentinc/cp-kafka:7.9.2
    networks: [back]
    environment:
      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
      KAFKA_BROKER_ID: 1
      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
  app:
    image: example/app:1
    networks: [front]
    environment: {KAFKA_BOOTSTRAP_SERVERS: "kafka:9092"}
networks: {front: , back: }
"""


def test_a_broker_on_no_network() -> None:
    deployment = deployment_of(STACK)
    (whole,) = networks_not_shared.check(deployment)
    assert whole.hint == "attach app to back"
    (broker,) = deployment.brokers
    alone = replace(broker, member=replace(broker.member, attachments=()))
    (found,) = networks_not_shared.check(replace(deployment, brokers=(alone,)))
    assert found.message.endswith("app is on front and kafka is on no network")
    assert found.hint == "attach kafka to front"
