"""The lab: real Kafka brokers on a real Docker Engine that nothing can leave, for tests.

Bring it up (root on Linux; `python -m tests.lab.prerequisites` installs what is missing)::

    from tests.lab.lab import start_lab

    with start_lab() as lab:                                   # 0.5 s once everything is cached
        with lab.up(Path("compose/five-brokers/zookeeper.yml")) as stack:      # until all know all
            stack.state("broker-1").pid                        # also .networks, .environment, ...
            stack.logs("broker-1")
        with lab.up(broken, wait="settled") as stack:          # brokers exited, or answer for good
            stack.wait_settled()["broker-4"].exit_code

In pytest: `pytest_plugins = ["tests.lab.fixtures"]` in the top conftest, then the session fixture
`lab`. As root on a capable machine a lab that cannot start is a failure; without the rights it is
a skip that says why.

The engine: `lab.engine.docker_host` (unix://...), `lab.engine.docker("ps")`. Places to stand:
`lab.engine.host` (H, 192.168.8.133), `lab.engine.lan` (L, 192.168.8.50), `stack.state(s).place`
(inside a container's namespace); `place.argv([...])` is the command line that runs a command of
this machine from there, with the right hosts file and resolver.

Images in the engine, each a stand-in under the tag that users' files name:
confluentinc/cp-kafka:7.9.2, confluentinc/cp-zookeeper:7.9.2, apache/kafka:3.9.1,
apache/kafka:4.3.1, netdiag-lab/client:1 (a client machine; also the stand-in for web UIs).
"""
