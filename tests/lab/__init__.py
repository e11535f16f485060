"""The lab: real Kafka brokers on a real Docker Engine that nothing can leave, for tests.

Bring it up (root on Linux; `python -m tests.lab.prerequisites` installs what is missing)::

    from tests.lab.lab import start_lab

    with start_lab() as lab:                                   # 0.5 s once everything is cached
        with lab.up(Path("compose/scenarios/zookeeper.yml")) as stack:      # until all know all
            stack.state("broker-1").pid                        # also .networks, .environment, ...
            stack.logs("broker-1")
        with lab.up(broken, wait="settled") as stack:          # brokers exited, or answer for good
            stack.wait_settled()["broker-4"].exit_code

Another engine: `start_lab(release="28")` or "29" (see releases), `userland_proxy=False`.

In pytest: `pytest_plugins = ["tests.lab.fixtures"]` in the top conftest, then the session fixture
`lab`. As root on a capable machine a lab that cannot start is a failure; without the rights it is
a skip that says why.

What real clients get in a cell (vantage x bootstrap address), and which brokers answered them::

    from tests.lab import vantages
    from tests.lab.lead_topics import lead_topics              # LabError where none can be made
    from tests.lab.oracles import ORACLES, Cell                # kcat, java, kafka-python

    topic = lead_topics(stack)
    cells = [
        Cell(vantage=vantages.docker_host(stack), bootstrap="localhost:9091", topic=topic),
        Cell(vantage=vantages.inside(stack, "broker-2"), bootstrap="localhost:9092", topic=topic),
        Cell(vantage=vantages.same_network(stack), bootstrap="broker-1:29092", topic=topic),
        # also other_network(stack), default_bridge(stack), lan_machine(stack)
    ]
    answers = lab.oracles.ask_all(cells)                       # several at once, 5 to 10 s for each that fails
    answers[cells[1], "java"].verdict()                        # "partial 1/5"
    answers[cells[1], "java"].reached                          # frozenset({2})

Words: ok, partial k/n, advertised, wrong-broker, no-brokers, bootstrap. What each client can and
cannot tell apart is said at the top of `oracles.py`.

The engine: `lab.engine.docker_host` (unix://...), `lab.engine.docker("ps")`. Places to stand:
`lab.engine.host` (H, 192.168.8.133), `lab.engine.lan` (L, 192.168.8.50), `stack.state(s).place`
(inside a container's namespace); `place.argv([...])` is the command line that runs a command of
this machine from there, with the right hosts file and resolver.

Images in the engine, each a stand-in under the tag that users' files name:
confluentinc/cp-kafka:7.9.2, confluentinc/cp-zookeeper:7.9.2, apache/kafka:3.9.1,
apache/kafka:4.3.1, netdiag-lab/client:1 (a client machine; also the stand-in for web UIs).
"""
