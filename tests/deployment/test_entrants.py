"""Who can enter through a listener."""

from netdiag.deployment.clients import clients_entering
from netdiag.deployment.model.vantage import container_vantage
from netdiag.deployment.prediction.listener_access import advertised_of, listener_of, other_brokers, published_for
from tests.deployment.stacks import deployment_of, five_brokers

TEXT = five_brokers() + "  other:\n"
CLIENT = """\
  app:
    image: shop/app
    networks: [{network}]
    environment: {{KAFKA_BROKERS: 'broker-2:9092'}}
"""


def test_published_ports_lead_to_a_listener() -> None:
    broker = deployment_of(TEXT).brokers[0]
    external, internal = listener_of(broker, "EXTERNAL"), listener_of(broker, "INTERNAL")
    assert external
    assert internal
    assert [p.published for p in published_for(broker, external)] == [9091]
    assert published_for(broker, internal) == ()
    assert listener_of(broker, "NONE") is None
    advertised = advertised_of(broker, "INTERNAL")
    assert advertised
    assert advertised.endpoint.host == "broker-1"


def test_other_brokers_are_those_of_the_cluster() -> None:
    deployment = deployment_of(TEXT)
    assert [b.name for b in other_brokers(deployment, deployment.brokers[0])] == [f"broker-{n}" for n in (2, 3, 4, 5)]


def test_a_client_enters_where_its_bootstrap_lands() -> None:
    text = TEXT.replace("services:\n", "services:\n" + CLIENT.format(network="kafka"))
    deployment = deployment_of(text)
    entering = [
        (b.name, d.member.name) for b in deployment.brokers for d in clients_entering(deployment, b, "EXTERNAL")
    ]
    assert entering == [("broker-2", "app")]
    assert clients_entering(deployment, deployment.brokers[1], "INTERNAL") == ()


def test_a_client_on_another_network_does_not_enter() -> None:
    text = TEXT.replace("services:\n", "services:\n" + CLIENT.format(network="other"))
    deployment = deployment_of(text)
    assert all(clients_entering(deployment, b, "EXTERNAL") == () for b in deployment.brokers)
    app = next(m for m in deployment.others if m.name == "app")
    assert container_vantage(app).networks == ("other",)
