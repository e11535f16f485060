"""The bars: what is promised, and the command that measures it.

A test belongs to a bar by `@pytest.mark.bar("name")` and reports what it measured with the fixture `figure`. With
`long=True` it runs for `make bars` only, otherwise for `make test` too.
"""

import sys
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One bar. `promise` is the sentence that the figures are held against; `command` measures it."""

    name: str
    promise: str
    command: tuple[str, ...]


def _tests(name: str, promise: str, *, processes: int = 0) -> Target:
    # One word: pytest would look for its first conftest.py in a folder that is called as the bar.
    command = (sys.executable, "-m", "pytest", "-q", f"--bar={name}", "-n", str(processes))
    return Target(name=name, promise=promise, command=command)


def _module(name: str, promise: str, *arguments: str) -> Target:
    return Target(name=name, promise=promise, command=(sys.executable, "-m", *arguments))


def _bench(name: str, promise: str, *arguments: str) -> Target:
    return _module(name, promise, "tests.bench", *arguments)


TARGETS = (
    _tests(
        "cells",
        "S01–S04, S07, S08 in both forms, vantages H, B, C, O, L: predicted = observed = kcat = Java console tools = "
        "kafka-python in every cell; at least 120 cells",
    ),
    _tests(
        "scenarios",
        "S05, S06, S09–S16, S19–S25, broken and repaired: predicted = observed = kcat = Java console tools "
        "= kafka-python in every cell on Engine 20.10; S01–S25: predicted = observed = kcat in every cell on "
        "20.10, 28 and 29, with the userland proxy on and off; what differs on desktops by the model only",
    ),
    _tests(
        "relays",
        "S21, broken and repaired: kcat and kafka-python get through socat, HAProxy, nginx, ssh -L, Envoy and "
        "toxiproxy what is expected in every cell; a stopped relay is told alike by a finding, --why and diagnose",
    ),
    _module(
        "release",
        "sdists and wheels are byte-identical from two different directories, and pass twine's strictest check; pip "
        "installs the bare wheel into a fresh environment in at most 10 s, and a lint works without compiler, Java or "
        "Docker, on every Python from 3.11 on that is there; so do pipx and uvx",
        "tests.bars.release",
    ),
    _tests(
        "lowest-versions",
        "with every library at the lower bound of pyproject.toml: the fast tests of each module that imports one pass",
    ),
    _tests(
        "static",
        "each broken twin: the expected rule at the expected line; each repaired twin, S01 and S03: silence",
    ),
    _tests(
        "broker-prints",
        'the "broker will print" sentence of a finding equals the log of the real broker that failed to start',
    ),
    _tests(
        "stale-volumes",
        "ten stacks whose brokers get volumes of an earlier life: what netdiag says before `up` is what each broker "
        "prints, and explains it afterwards; brokers whose ZooKeeper lost its data, or that may not write to a folder, "
        "end, as their rules say",
    ),
    _tests(
        "client-fails",
        "for every rule that says a client fails: kcat fails there with the Bad example, and works with the Good one",
    ),
    _tests(
        "mutants",
        "a defect of every rule in correct stacks of every image family: caught by its own rule at its line, nothing "
        "but true consequences beside it",
    ),
    _module(
        "faults",
        "a mistake in every folder of netdiag and in several of native/, made by hand: each is seen by a test of "
        "`make test` without the lab that reaches it",
        "tests.faults",
    ),
    _tests(
        "loader",
        "the model equals `docker compose config` for every file of the corpus and of this repository that compose "
        "accepts, and both refuse the same; own cases by topic, among them 130 rows of interpolation, 68 merges, 22 of "
        "extends and include, 50 dotenv files, 50 ports",
    ),
    _module(
        "storage-truth",
        "every field of kafka-dump-log --deep-iteration --print-data-log and of its decoders equals the rows of "
        "`netdiag storage`, for data directories of brokers 3.9.1 and 4.3.1 and for a log of message formats 0 and 1",
        "tests.bars.storage_truth",
    ),
    _module(
        "storage-rate",
        "the summary of `netdiag storage` takes at most 1/20 of the time of kafka-dump-log --deep-iteration for "
        "records of 100 bytes, and at most 3 times that of cat for records of 10 kB",
        "tests.bars.storage_rate",
    ),
    _module(
        "storage-damage",
        "5,000 damaged data directories: none ends in a traceback, takes 5 s of CPU or 600 MiB, or tells a record that "
        "was not written",
        "tests.bars.storage_damage",
    ),
    _tests(
        "stored-batches",
        "every batch that clients produce to real brokers 3.9.1 and 4.3.1 is found in the log, where kafka-dump-log "
        "shows one",
    ),
    _tests(
        "storage-beside",
        "40 looks each at the directories of two brokers 3.9.1 and 4.3.1 that roll, delete, compact and cut off logs, "
        "and change leaders: no problem where there is none, every log up to the high watermark that a client was told "
        "before, and nothing changes on disk while the brokers stand still",
    ),
    _tests(
        "capture-rate",
        "five runs in turns at rising rates: median loss of the scapy engine at its stated maximum rate is 0, of the "
        "tcpdump and dumpcap engines at most that of tcpdump itself + 0.1 percentage points",
    ),
    _tests(
        "random-worlds",
        "50 random topologies that the model has not seen, on every engine of the lab, userland proxy on and off: from "
        "inspect at least 99.9 % of the cells as predicted, from the file before up 99 %; every miss told",
    ),
    _tests(
        "reachability-table",
        "the 42 rows of the decision table built on every engine of the lab, userland proxy on and off: each comes out "
        "as the table says and as predicted from inspect, and so does every other cell of that stack",
    ),
    _tests(
        "podman",
        "Podman 4.3.1 as root: each row of the decision table that can be built there comes out as the table says and "
        "as predicted, and so does every other cell of that stack; S02-S16 with KRaft, broken and repaired: predicted "
        "from inspect = observed = kcat in every cell, predicted from the file = observed where it is not unknown",
    ),
    _tests(
        "mesh-truth",
        "two clusters harmed from outside, nine kinds of fault alone and ten random pairs: the mesh names exactly the "
        "edges that are cut, as the injected rules and plain sockets from inside say",
    ),
    _tests(
        "registry",
        "clusters of three brokers with ZooKeeper (3.9.1) and KRaft (3.9.1, 4.3.1), steady, with another listener, "
        "with one ID twice, with the volume of another cluster, fenced, without controller, below a chroot, with ACLs: "
        "every registered endpoint is what zookeeper-shell, kafka-dump-log, kafka-metadata-shell and kafka-cluster "
        "say, and each state has its finding, once with --live too; ZooKeeper with TLS and SASL lets in and refuses "
        "netdiag as it does zookeeper-shell",
    ),
    _tests("live-time", "live check of the five-broker cluster, all vantages: under 5 s"),
    _tests(
        "live-scale",
        "live check of 50 containers on 12 networks, from every one of them to every endpoint (DNS, TCP and Kafka): "
        "under 6 s, start included, under 150 MiB; listings of every namespace, process list and file system before "
        "and after equal",
    ),
    _tests(
        "metrics",
        "check-listeners --live --watch --metrics: a broker that stops is seen by a real Prometheus within two looks "
        "and a scrape, and so is its return; 50 containers with at least 2,400 cells, over at least four looks: under "
        "150 MiB",
    ),
    _tests("live-leaks", "200 live checks in one process: no descriptor, thread or namespace is left"),
    _tests(
        "live-hostile",
        "a container whose resolv.conf, hosts file, labels, log, environment and services are adversarial: the check "
        "ends in time, under 150 MiB, and nothing of it gets to the terminal; the engine is only read",
    ),
    _tests(
        "two-projects",
        "two projects on one engine in five arrangements, on engines 20.10, 28 and 29: a check of one says what it "
        "says of it alone and what the arrangement causes, and nothing of the other; a name of both is told in every "
        "cell that it touches, and kcat 50 times, kafka-python and Java meet whom the cell names from every container",
    ),
    _tests(
        "connect",
        "Connect workers in nine arrangements, broken and repaired, each worker leading once: where a file foretells "
        "that a worker cannot forward, curl in its namespace gets 500 or 409 for a new connector, and 201 elsewhere; "
        "--live tells the leader that the workers print, and finds a packet filter that no file shows; replicas with "
        "one name; URLs of stand-ins for Schema Registry, REST Proxy and ksqlDB: predicted = observed = curl",
    ),
    _tests(
        "ci-jobs",
        "jobs of GitHub and GitLab in thirteen arrangements, as their runner starts their services: from the runner or "
        "the container of the steps predicted = observed = kcat at every address; an error where no address works",
    ),
    _tests(
        "swarm",
        "stacks on a swarm of two engines in ten arrangements (names of services and tasks, replicas, ports in host "
        "mode, two stacks, three brokers): from both nodes, from outside and from a container on each node what is "
        "observed is what kcat gets, and so is what the file and each engine foretell, or it is unknown",
    ),
    _tests(
        "strimzi",
        "Strimzi's published examples and the listings of its documentation (NETDIAG_STRIMZI names a clone) without a "
        "false error; at least 20 mistakes made in them found on the right line, and nothing else",
    ),
    _tests(
        "testcontainers",
        "sessions of Testcontainers for Java and Python in fourteen arrangements: what is found is what kcat fails at, "
        "and kcat works after the repair, with no error left",
    ),
    _tests(
        "watch-delay",
        "faults that befall a container under --live --watch (stopped, paused, packets dropped): told within two "
        "intervals",
    ),
    _tests(
        "playbooks",
        "playbooks beside real brokers: each broken stack of a scenario leads to its cause, each repaired one to "
        "nothing wrong, from what runs alone; under 15 s each",
        # 104 runs, each with ten seconds of traffic.
        processes=3,
    ),
    _tests("black-hole", "a cluster where every endpoint black-holes: bounded by --timeout + 2 s, whatever the cells"),
    _tests(
        "via-container",
        "--via container, where nothing but the engine's socket is to be had: in five scenarios and on every engine of "
        "the lab the docker host's own matrix, cell for cell, and topology; nothing is left, however it ends",
    ),
    _tests(
        "rights",
        "without root, docker group or capabilities: says which vantages it could not take, prints the sudo line, "
        "gives the others",
    ),
    _tests(
        "hostile-broker",
        "garbage, a size of 2 GiB, one byte a second, a close: a cell with a reason, bounded time, under 64 MiB, "
        "no traceback",
    ),
    _tests(
        "wire-oracle",
        "real 3.9.1 and 4.3.1 brokers with Java, librdkafka, kafka-python and aiokafka clients; captures by others: "
        "api key, version, correlation id, client id, sizes, error code and latency equal tshark's for every message "
        "that tshark decodes; each difference explained",
    ),
    _tests(
        "wire-truth",
        "what clients count and kafka-consumer-groups describes equals our tables: records, requests, bytes, committed "
        "offsets, lag, rebalances",
    ),
    _tests(
        "trace-truth",
        "netdiag trace predicts what a real connection does, and where it ends: for every pair of small worlds of "
        "namespaces, and for every namespace x address of a listener in the running five-broker stacks",
    ),
    _tests(
        "tls-sasl",
        "on a real broker, at least 24 combinations of listener protocol, client protocol and certificate fault: what "
        "netdiag's client gets equals what Java's gets, the faults of a certificate equal those of openssl s_client",
    ),
    _tests(
        "jmx",
        "JMX of real brokers in eight arrangements, broken and repaired, from the docker host, the LAN and containers: "
        "predicted from the file, predicted from the engine and observed = what Java's JMX client gets in every cell",
    ),
    _tests(
        "tls-before-up",
        "at least 24 combinations of the bar tls-sasl, and users of SCRAM that are created before the first start, "
        "after it, for another mechanism or not at all: what the Compose file and what it mounts foretell equals what "
        "Java's client gets after `up`, and the sentence that a finding quotes is in what Java prints",
    ),
    _module(
        "fuzz",
        "ten minutes of projects from a grammar around listeners, disturbed: no defect, 2 s, valid documents, "
        "no control character, no secret",
        *("tests.fuzz", "--minutes", "10"),
    ),
    _module(
        "capture-damage",
        "10,000 damaged captures (bits, lengths, order, packets missing, repeated or cut short, the file itself): no "
        "exception, 3 s, 64 MiB, every byte in a packet, a message, a header or a loss, and no message invented where "
        "packets are only missing",
        *("tests.fuzz.captures", "--count", "10000"),
    ),
    _module(
        "native-fuzz",
        "coverage-guided fuzzing of the capture engine (capture formats, TCP delivery, message interpreter, "
        "decompression, logs, saved state): an hour of core time for each target with this version, kept from run to "
        "run; 0 findings: no panic, 192 MiB, 10 s of CPU, nothing invented where packets are only missing",
        *("tests.fuzz.native", "--hours", "1"),
    ),
    _tests(
        "agents",
        "netdiag mcp: in ten broken scenario files without comments and telling names, the first finding that the "
        "tools give is of an expected rule and names a repair; every tool is called by the SDK's client and by one "
        "from npm, beside a real broker; 1,000 calls, hostile paths and huge files among them: one line or a bounded "
        "answer each, and at most 8 MiB more after the first 200",
    ),
    _module(
        "editor",
        "netdiag lsp with an 8 kB file: first diagnostics within 1 s of its start; then from a keystroke to "
        "diagnostics at most 150 ms in the median; after each of 1,000 random edits they equal those of "
        "check-listeners on the same text; memory grows by at most 8 MiB after the first tenth",
        "tests.bars.editor",
    ),
    _module(
        "speed",
        "check-listeners of an 8 kB file, and check-listeners --help, take at most 250 ms of CPU each above the bare "
        "interpreter; beside it the ratio to docker compose config -q (goal 1.5) and the whole corpus in one process "
        "(goal 3 s of CPU)",
        "tests.bars.speed",
    ),
    _module(
        "properties",
        "the property tests (Hypothesis) with 100 times the examples of make test, another choice each time: no "
        "example fails",
        *("pytest", "-q", "-m", "hypothesis and not lab", "--hypothesis-profile=bars", "-n", "2", "tests"),
    ),
    _tests(
        "truth-under-loss",
        "with 0.1 % of packets removed, and at snaplen 96: every message whose first 12 bytes were captured is found, "
        "none invented",
    ),
    _module(
        "analyze-100mb",
        "a capture of 100 MB from the command line to the answer in local[2], Spark's start included: under 60 s",
        "tests.bars.analyze",
    ),
    _tests(
        "report-size",
        "the page of analyze --report for a million exchanges (made as tables: 20,000 connections, 480 partitions, 30 "
        "groups): under 5 MB, first paint under 2 s in headless Chromium, no complaint and no request",
    ),
    _tests(
        "causes",
        "40 kinds of injected fault (the rows of the decision table, the members of `Mechanism`): the cause is named "
        "right at rank 1 in at least 95 %, with a repair that the predictor confirms",
    ),
    _tests(
        "filtering-truth",
        "rules of iptables, legacy and over nf_tables, and of nft at random, alone and together: what a connection "
        "through them would meet is predicted (connected to whom and seen as whom, refused, dropped), and comes true",
    ),
    _tests(
        "topology-truth",
        "labs of 5, 50 and 200 namespaces with every kind of link that the kernel can make: every link, address, "
        "route, rule, neighbour, forwarding entry, VLAN, socket with its processes, namespace and packet filter rule "
        "that iproute2, ss, lsns, nft and iptables-save show is in ours, and nothing else; all veth peers right",
    ),
    _module(
        "topology-speed",
        "200 namespaces, all facts, process start included, median of 7 alternating runs: at most 1.0 of the time of "
        "`ip -all netns exec ip -j -d link`, at most 1/15 of the full set of ip, bridge, ss and nft commands; under "
        "100 MiB; nothing left open after 100 readings",
        "tests.bars.topology_speed",
    ),
    _tests(
        "follow-killed",
        "--follow killed (SIGKILL) at 20 random moments of its work and started again: exactly the rows of one look at "
        "all files",
    ),
    _tests(
        "spark-cluster",
        "a standalone cluster of a master and two workers: a worker killed with SIGKILL in mid-job, tasks that fail at "
        "their first attempt, speculation, 1, 2, 3 and 7 partitions, captures behind a Hadoop file system: the answer "
        "is that of this machine alone",
    ),
    _tests(
        "analysis-folded",
        "every answer and finding of `analyze` made of folded tables is that of whole tables, exactly: rows by chance, "
        "and captures of real clients",
    ),
    _bench(
        "engine-rate",
        "`netdiag exchanges FILE --format arrow --columns C` (interpreter start included) on at least 3 GB, bulk and "
        "chatty: wall at most 1/45 of tshark 4.4 giving the same columns C, or 1/60 of 4.0; as many messages as tshark "
        "finds",
        *("bulk", "chatty", "--bar", "tshark"),
    ),
    _bench(
        "engine-first",
        "the first run on a machine, with empty caches, on 400 MB, tshark's columns: wall at most 1/30 of tshark 4.4, "
        "or 1/40 of 4.0; CSV at most twice the time of Arrow",
        *("first", "--bar", ""),
    ),
    _bench(
        "engine-cold",
        "the same from a file that is not in memory: wall within 15 % of cat",
        *("cold", "--bar", ""),
    ),
    _bench(
        "engine-memory",
        "the engine alone, all its processes together: at most 150 MB, also with one message of 100 MB",
        *("bulk", "connections", "linear", "--bar", "memory"),
    ),
    _bench(
        "engine-linear",
        "cost linear in size within 10 % from 1 to 16 GB (NETDIAG_BENCH_GIGABYTES='1 4 16'; without it to 4 GB)",
        *("linear", "--bar", "dearest"),
    ),
    _bench(
        "engine-connections",
        "cost at most 1.3 times for 100,000 connections against 100 in as many bytes, every message found",
        *("connections", "--bar", "100,000"),
    ),
    _bench(
        "engine-one-connection",
        "cost at most 1.1 times for one connection that holds everything, every message found",
        *("connections", "--bar", "1 connection"),
    ),
    _bench(
        "engine-copies",
        "cost at most 1.3 times for a capture whose packets are seen under three addresses, every message told once",
        *("connections", "--bar", "seen 3 times"),
    ),
    _bench(
        "engine-cores",
        "chatty, without the start: two cores at least 1.6 times as fast as one",
        *("cores", "--bar", ""),
    ),
    _bench("small-cpu", "`netdiag exchanges` of a small capture: at most 1.0 s of CPU", "small", "--bar", ""),
    _bench(
        "spark-rate",
        "PySpark in local[2], cold, end to end, on at least 3 GB: the time of a job that reads nothing + at most 0.8 s "
        "per GB",
        *("spark", "--bar", ""),
    ),
    _module(
        "spark-small",
        "`netdiag analyze` of a small capture, cold: at most 0.8 times a PySpark job that reads nothing",
        "tests.bars.spark_small",
    ),
    _module(
        "spark-memory",
        "`netdiag analyze` in local[2]: each Python worker at most 400 MB (goal 250), all processes together at most "
        "3 GB, with captures of 1 and 16 GB and with one message of 100 MB",
        "tests.bars.spark_memory",
    ),
    _tests(
        "spark-classes",
        "the archive of Java's classes (`netdiag doctor --warm`) is made once and used; a damaged one does no harm",
    ),
    _tests(
        "survey",
        "500 or more public files with Kafka: a second run says the same (NETDIAG_SURVEY_SNAPSHOTS names their "
        "snapshots); of 100 errors and 100 warnings drawn after the last repair of a rule, 98 % and 95 % are true",
    ),
    _module("spark-extra", "the wheel with [spark] installs into a fresh environment", "tests.bars.spark_extra"),
    _module("clean-clone", "make demo and make test pass in a clean clone", "tests.bars.clean_clone"),
    _module(
        "bare-machine",
        "on a bare Debian 12 with git, make and python3-venv only, in a root of its own: make demo and all of "
        "make test pass, the lab included",
        "tests.bars.bare_machine",
    ),
)
