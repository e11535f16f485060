"""What the numbers of rows stand for."""

import numpy as np

from netdiag.traffic.engine.compiled.ends import Connections, Ends
from netdiag.traffic.engine.compiled.layout import PAIR
from netdiag.traffic.engine.compiled.naming import Naming
from netdiag.traffic.engine.options import EngineOptions
from tests.traffic.engine.compiled.exchanges import connections_of

ONE = bytes(15) + b"\x07"
ENDS = Ends(5, "10.0.0.1:40000", "10.0.1.1:9092", None)


def test_an_id_has_its_name_from_the_pair_on_that_tells_it() -> None:
    naming = Naming(EngineOptions(), ["a.pcap"])
    number = naming.identify(ONE)
    assert naming.identify(ONE) == number
    assert naming.words().name[number] == -1
    naming.learn([(ONE, "orders")], 42)
    naming.learn([(ONE, "another")], 43)
    words = naming.words()
    assert (naming.texts.text(words.name[number]), words.since[number]) == ("orders", 42)
    assert naming.texts.text(words.shape[number]) == "AAAAAAAAAAAAAAAAAAAABw"


def test_an_id_that_comes_after_its_name_has_it_at_once() -> None:
    naming = Naming(EngineOptions(), [])
    naming.learn([(ONE, "orders")], 42)
    assert naming.words().since[naming.identify(ONE)] == 0
    for number in range(100):
        naming.identify(bytes(14) + bytes([1, number]))
    assert naming.texts.text(naming.words().name[0]) == "orders"


def test_a_connection_is_known_until_it_is_another() -> None:
    naming = Naming(EngineOptions(clients=frozenset({"10.0.0.1"})), [])
    told = {3: ENDS, 900: ENDS._replace(client="[::1]:4"), 2: ENDS._replace(client_id="app")}
    naming.introduce(_connections([3, 900], told, 1))
    clients = naming.connections["client"]
    assert [naming.texts.text(clients[context]) for context in (3, 900)] == ["10.0.0.1:40000", "[::1]:4"]
    assert naming.connections["is_client"][[3, 900]].tolist() == [1, 0]
    assert naming.connections["client_id"][3] == -1
    told[3] = told[900]
    naming.introduce(_connections([3], told, 1))
    assert naming.texts.text(naming.connections["client"][3]) == "10.0.0.1:40000"
    naming.introduce(_connections([3, 2], told, 5))
    assert naming.connections["client"][3] == naming.connections["client"][900]
    assert naming.texts.text(naming.connections["client_id"][2]) == "app"
    naming.restart([], [])
    naming.introduce(_connections([2], told, 6))
    assert naming.texts.text(naming.connections["client"][2]) == "10.0.0.1:40000"


def _connections(numbers: list[int], told: dict[int, Ends], stamp: int) -> Connections:
    pairs = np.zeros(len(numbers), PAIR)
    pairs["connection"] = numbers
    return connections_of(pairs, told, stamp)


def test_api_keys_have_their_names() -> None:
    naming = Naming(EngineOptions(), [])
    for _ in range(2):
        found = np.zeros(5, np.int32)
        naming.name_apis(np.array([0, 18, -3, 18, 999], np.int16), found)
        names = [naming.texts.text(number) for number in found.tolist()]
        assert names == ["Produce", "ApiVersions", "API_KEY(-3)", "ApiVersions", "API_KEY(999)"]


def test_what_is_needed_is_known_after_a_new_start() -> None:
    naming = Naming(EngineOptions(), ["a.pcap"])
    text, number = naming.texts.number("orders"), naming.identify(ONE)
    naming.learn([(ONE, "orders")], 3)
    texts, ids = naming.restart([text], [number])
    assert naming.texts.text(texts[text]) == "orders"
    assert naming.words().since[ids[number]] == 0
    assert naming.ids == 1
