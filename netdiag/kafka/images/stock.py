"""The files that every Kafka download brings, as some images start from them: config/kraft/server.properties.

Source: Apache Kafka 2.8 to 4.3; the listener and voter lines have not changed in between, but that 4.1 names bootstrap
servers instead of voters.
"""

KRAFT: dict[str, str | None] = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.quorum.voters": "1@localhost:9093",
    "listeners": "PLAINTEXT://:9092,CONTROLLER://:9093",
    "inter.broker.listener.name": "PLAINTEXT",
    "advertised.listeners": "PLAINTEXT://localhost:9092",
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": (
        "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL"
    ),
}
ZOOKEEPER: dict[str, str | None] = {"broker.id": "0", "zookeeper.connect": "localhost:2181"}
