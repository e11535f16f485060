"""What users really quoted when they asked for help, with the playbook that answers it.

The lines are those of public threads, as the threads have them: without the beginning of a log line, often cut short.
The number is that of the symptom in our collection of 30; symptoms that nobody quoted a line for (a client on the LAN
that gets localhost, a published port that was moved, host networking on a desktop, Redpanda) are not here.
"""

QUOTED = [
    (
        1,
        "bootstrap-refused",
        "Connection to node -1 (localhost/127.0.0.1:9092) could not be established. Broker may not be available.",
    ),
    (2, "advertised-unresolved", "java.net.UnknownHostException: kafka"),
    (2, "advertised-unresolved", "Failed to resolve 'kafka:9092'"),
    (2, "advertised-unresolved", "lookup kafka: no such host"),
    (3, "container-id-advertised", "java.net.UnknownHostException: 5c1a0d9be2f4"),
    (6, "bootstrap-refused", "Connect to ipv4#127.0.0.1:9092 failed: Connection refused"),
    (7, "listener-unmapped", "No security protocol defined for listener PLAINTEXT"),
    (7, "listener-unmapped", "No security protocol defined for listener CONTROLLER"),
    (7, "listener-unmapped", "No security protocol defined for listener TCP"),
    (
        8,
        "inter-broker-listener-missing",
        "inter.broker.listener.name must be a listener name defined in advertised.listeners. "
        "The valid options based on currently configured listeners are INTERNAL,EXTERNAL",
    ),
    (9, "broker-refuses-wildcard", "advertised.listeners cannot use the nonroutable meta-address 0.0.0.0"),
    (10, "listeners-collide", "Each listener must have a different port"),
    (11, "listener-unparsable", "Unable to parse PLAINTEXT://${KAFKA_POD_IP}:9092 to a broker endpoint"),
    (
        12,
        "endpoint-registered-twice",
        "Configured end points localhost:9092 in advertised listeners are already registered by broker 1",
    ),
    (14, "controller-advertised", "advertised.listeners config must not contain KRaft controller listeners"),
    (
        14,
        "controller-advertised",
        "There must be at least one advertised listener. Perhaps all listeners appear in controller.listener.names?",
    ),
    (15, "controller-advertised", "advertised.listeners config must be empty when process.roles=controller"),
    (15, "controller-advertised", "KAFKA_ADVERTISED_LISTENERS is not supported on a KRaft controller."),
    (
        16,
        "controller-listener-missing",
        "controller.listener.names must contain at least one value appearing in the 'listeners'",
    ),
    (17, "mode-lost", 'Missing required configuration "zookeeper.connect" which has no default value.'),
    (17, "mode-lost", "haven't been configured to work in either Raft or Zookeper mode"),
    (
        18,
        "quorum-unreachable",
        "[RaftManager id=1] Error connecting to node kafka-1:9093 (id: 1 rack: null) java.net.UnknownHostException",
    ),
    (19, "invalid-receive-size", "Invalid receive (size = 369295617 larger than 104857600)"),
    (19, "invalid-receive-size", "Invalid receive (size = 1195725856 larger than 104857600)"),
    (20, "sasl-expected", "Unexpected Kafka request of type METADATA during SASL handshake"),
    (21, "tls-name-not-covered", "No subject alternative DNS name matching kafka found"),
    (21, "tls-name-not-covered", "No name matching localhost found"),
    (22, "schema-registry-endpoints", "No supported Kafka endpoints are configured"),
    (
        22,
        "schema-registry-endpoints",
        "Ignoring Kafka broker endpoint INSIDE://foo:29092 that does not match the setting for "
        "kafkastore.security.protocol=PLAINTEXT",
    ),
    (23, "port-already-allocated", "port is already allocated"),
    (25, "leader-without-listener", "1 partitions have leader brokers without a matching listener"),
    (
        25,
        "leader-without-listener",
        "There is no listener on the leader broker that matches the listener on which metadata request was processed",
    ),
    (25, "leader-without-listener", "LEADER_NOT_AVAILABLE"),
    (26, "kafka-port-variable", "port is deprecated. Please use KAFKA_ADVERTISED_LISTENERS instead."),
    (
        27,
        "coordinator-unavailable",
        "Group coordinator localhost:9092 (id: 2147483646 rack: null) is unavailable or invalid",
    ),
    (29, "bootstrap-refused", "Connect to ipv6#[::1]:9092 failed: Connection refused"),
    (30, "image-gone", "manifest for bitnami/kafka:3.6.2 not found"),
]
