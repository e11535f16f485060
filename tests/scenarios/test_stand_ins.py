"""Which services of a file the lab replaces."""

import json
from pathlib import Path

from tests.scenarios.stand_ins import stand_ins

KAFKA = "${KAFKA_IMAGE:-apache/kafka:3.9.1}"


def replaced(folder: Path, *services: dict[str, str]) -> list[str]:
    file = folder / "compose.yml"
    file.write_text(json.dumps({"services": {f"s{number}": service for number, service in enumerate(services)}}))
    return [name for over in stand_ins(file, folder) for name in json.loads(over.read_text())["services"]]


def test_brokers_stay_as_they_are(tmp_path: Path) -> None:
    assert replaced(tmp_path, {"image": KAFKA}, {"image": "confluentinc/cp-zookeeper:7.9.2"}) == []


def test_clients_and_jobs_of_a_broker_image_are_replaced(tmp_path: Path) -> None:
    ui, job = {"image": "${KAFKA_UI_IMAGE:-example/ui:1}"}, {"image": KAFKA, "command": "kafka-topics.sh --list"}
    assert replaced(tmp_path, {"image": KAFKA}, ui, job) == ["s1", "s2"]
