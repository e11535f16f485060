"""What services beside the brokers bind and tell their neighbours, by image and variables."""

import pytest

from netdiag.kafka.images.settings import Setting
from netdiag.kafka.rest_services import RestConfig, RestService, rest_config, rest_config_of_file

CP = "confluentinc/cp-kafka-connect:7.9.2"
OLD = "confluentinc/cp-kafka-connect:6.2.0"
GROUP = {"CONNECT_GROUP_ID": "connect"}
STORAGE = {"CONNECT_CONFIG_STORAGE_TOPIC": "c", "CONNECT_OFFSET_STORAGE_TOPIC": "o"}
NAMED = {**GROUP, "CONNECT_REST_ADVERTISED_HOST_NAME": "connect"}


def config(image: str, environment: dict[str, str | None]) -> RestConfig:
    found = rest_config(image, environment)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("image", "environment", "listeners", "advertised"),
    [
        (CP, NAMED, "http://:8083", "http://connect:8083"),
        # Kafka 3.0 and newer have no rest.port.
        (CP, {**NAMED, "CONNECT_REST_PORT": "8084"}, "http://:8083", "http://connect:8083"),
        (OLD, {**NAMED, "CONNECT_REST_PORT": "8084"}, "http://:8084", "http://connect:8084"),
        ("example/connect:1", {**NAMED, **STORAGE, "CONNECT_REST_PORT": "8084"}, None, None),
        (
            CP,
            {**NAMED, "CONNECT_LISTENERS": "http://:9000,https://:9001"},
            "http://:9000,https://:9001",
            "http://connect:9000",
        ),
        (
            CP,
            {**NAMED, "CONNECT_LISTENERS": "http://:9000,https://:9001", "CONNECT_REST_ADVERTISED_LISTENER": "https"},
            "http://:9000,https://:9001",
            "https://connect:9001",
        ),
        (CP, {**NAMED, "CONNECT_REST_ADVERTISED_PORT": "443"}, "http://:8083", "http://connect:443"),
        (CP, {**NAMED, "CONNECT_REST_ADVERTISED_PORT": "0"}, "http://:8083", None),
        (CP, {**NAMED, "CONNECT_REST_ADVERTISED_PORT": "99999999999999999999"}, "http://:8083", None),
        (CP, {**NAMED, "CONNECT_LISTENERS": "http://:8083/"}, "http://:8083/", None),
        (CP, {**GROUP, "CONNECT_REST_ADVERTISED_HOST_NAME": None}, "http://:8083", None),
        # Without a name, only the container knows its address.
        (CP, GROUP, "http://:8083", None),
        (CP, {**GROUP, "CONNECT_LISTENERS": "http://0.0.0.0:8083"}, "http://0.0.0.0:8083", "http://0.0.0.0:8083"),
        ("quay.io/debezium/connect:3.0", {"GROUP_ID": "2"}, "http://:8083", None),
        ("debezium/connect:2.7", {"ADVERTISED_HOST_NAME": "dbz"}, "http://:8083", "http://dbz:8083"),
        ("debezium/connect:2.7", {"HOST_NAME": "dbz", "ADVERTISED_PORT": "80"}, "http://:8083", "http://dbz:80"),
        ("debezium/connect:1.4", {"HOST_NAME": "dbz", "REST_PORT": "80"}, "http://:80", "http://dbz:8083"),
        (
            "confluentinc/cp-schema-registry:7.9.2",
            {"SCHEMA_REGISTRY_HOST_NAME": "registry"},
            "http://0.0.0.0:8081",
            "http://registry:8081",
        ),
        (
            "confluentinc/cp-schema-registry:7.9.2",
            {
                "SCHEMA_REGISTRY_HOST_NAME": "registry",
                "SCHEMA_REGISTRY_LISTENERS": "http://0.0.0.0:8085,https://0.0.0.0:8086",
                "SCHEMA_REGISTRY_INTER_INSTANCE_PROTOCOL": "https",
            },
            "http://0.0.0.0:8085,https://0.0.0.0:8086",
            "https://registry:8086",
        ),
        (
            "confluentinc/cp-ksqldb-server:7.9.2",
            {"KSQL_KSQL_ADVERTISED_LISTENER": "http://ksql:8088"},
            "http://0.0.0.0:8088",
            "http://ksql:8088",
        ),
        ("confluentinc/cp-kafka-rest:7.9.2", {}, "http://0.0.0.0:8082", None),
    ],
)
def test_url(image: str, environment: dict[str, str | None], listeners: str | None, advertised: str | None) -> None:
    found = config(image, environment)
    assert found.listeners == listeners
    assert (str(found.advertised) if found.advertised else None) == advertised


@pytest.mark.parametrize(
    ("command", "environment", "listeners"),
    [
        ("start-dev", {}, "http://:8080"),
        ("start-dev --import-realm", {"KC_HTTP_PORT": "8180"}, "http://:8180"),
        ("start-dev --http-port=8280", {"KC_HTTP_PORT": "8180"}, "http://:8280"),
        ("start-dev --http-port 8280 --http-host 127.0.0.1", {}, "http://127.0.0.1:8280"),
        ("start", {"KC_HTTP_ENABLED": "true"}, "http://:8080"),
        ("start --optimized", {"KC_HTTPS_CERTIFICATE_FILE": "/c.pem"}, "https://:8443"),
        (
            "/opt/keycloak/bin/kc.sh start --http-enabled=true --https-port=9443",
            {"KC_HTTPS_KEY_STORE_FILE": "/k"},
            "http://:8080,https://:9443",
        ),
        # It refuses to start.
        ("start", {}, None),
        # The image's own command, an unknown port, a file that may say anything.
        ("", {}, None),
        ("start-dev", {"KC_HTTP_PORT": None}, None),
        ("start-dev --config-file=/kc.conf", {}, None),
    ],
)
def test_keycloak(command: str, environment: dict[str, str | None], listeners: str | None) -> None:
    found = rest_config("quay.io/keycloak/keycloak:26.0", environment, command)
    assert found is not None
    assert found.service is RestService.KEYCLOAK
    assert found.listeners == listeners
    assert found.advertised is None


@pytest.mark.parametrize(
    ("image", "environment"),
    [
        ("confluentinc/cp-kafka:7.9.2", NAMED),
        # A job with the image's tools.
        (CP, {"CONNECT_URL": "http://connect:8083"}),
        ("curlimages/curl", {}),
        ("", {}),
    ],
)
def test_other_images(image: str, environment: dict[str, str | None]) -> None:
    assert rest_config(image, environment) is None


def test_unknown_image_with_the_variables_of_a_worker() -> None:
    assert config("example/app", {**NAMED, **STORAGE}).service is RestService.CONNECT
    assert (
        config("example/app", {"GROUP_ID": "1", "CONFIG_STORAGE_TOPIC": "c", "OFFSET_STORAGE_TOPIC": "o"}).group == "1"
    )


def properties(**values: str) -> dict[str, Setting]:
    named = {name.replace("_", "."): value for name, value in values.items()}
    return {name: Setting(name=name, value=value, variable=f"{name} in w") for name, value in named.items()}


def test_worker_file() -> None:
    found = rest_config_of_file("connect-distributed", properties(group_id="mine"))
    assert found is not None
    assert (found.group, found.listeners, found.advertised) == ("mine", "http://:8083", None)


def test_mirror_maker_listens_only_if_it_is_told_to() -> None:
    given = properties(
        clusters="a,b", b_bootstrap_servers="b:1", a_bootstrap_servers="a:1", rest_advertised_host_name="m"
    )
    assert rest_config_of_file("connect-mirror-maker", given) is None
    found = rest_config_of_file("connect-mirror-maker", given | properties(dedicated_mode_enable_internal_rest="true"))
    assert found is not None
    assert (found.service, found.group, str(found.advertised)) == (RestService.MIRROR_MAKER, "a,b", "http://m:8083")
    assert found.value("bootstrap.servers") == "a:1,b:1"
