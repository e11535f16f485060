"""Small projects on which compose and netdiag have to agree: files, environment, and what makes them hard.

Each is run through `docker compose config` where it exists; what they must mean is also written down in the
tests that use them one by one.
"""

# ruff: noqa: E501

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A project: the files of its folder, those given with -f, and the environment."""

    name: str
    files: Mapping[str, str]
    chain: tuple[str, ...] = ("compose.yaml",)
    environ: Mapping[str, str] = field(default_factory=dict)


def one(name: str, yaml: str, **files: str) -> Case:
    """A project of one compose file; other files are named with `_` for `.`."""
    return Case(name=name, files={"compose.yaml": yaml, **_named(files)})


def two(name: str, base: str, override: str, **files: str) -> Case:
    """A project of a base file and an override."""
    held = {"compose.yaml": base, "over.yaml": override, **_named(files)}
    return Case(name=f"files {name}", files=held, chain=("compose.yaml", "over.yaml"))


def service(name: str, fields: str) -> Case:
    """A project of one service with these fields, in flow style."""
    return one(name, f"services: {{a: {{image: x, {fields}}}}}\n")


def over(name: str, base: str, override: str) -> Case:
    """One service `a` in a base file and in an override."""
    return two(f"merge {name}", f"services: {{a: {{image: x, {base}}}}}\n", f"services: {{a: {{{override}}}}}\n")


def _named(files: Mapping[str, str]) -> dict[str, str]:
    return {name.replace("__", "/").replace("_", "."): text for name, text in files.items()}


PORTS = [
    service(f"port {entry}", f"ports: [{entry}]")
    for entry in (
        "80", "'80'", "'8080:80'", "8080:80", "'8080:80/udp'", "'127.0.0.1:8080:80'", "'127.0.0.1::80'",
        "'[::1]:8080:80'", "'::1:8080:80'", "'3000-3002'", "'3000-3001:4000-4001'", "'8000-9000:80'", "':80'",
        "'::80'", "'80/UDP'", "'8080:80/http'", "'99999'", "''", "':'", "'8080:'", "'x:80'", "'1:2:3:4'",
        "'80-81-82'", "'3000-3002:80-81'", "'3000-2999'", "80.5", "true", "~", "[80]", "0", "'0:80'",
        "{target: 80}", "{target: 80, published: 8080}", "{target: '80', published: '8080', protocol: udp}",
        "{target: 80, published: '8000-9000'}", "{target: 80, host_ip: 127.0.0.1, published: 1}",
        "{published: 80}", "{target: 80, mode: host}", "{target: 80, name: web, app_protocol: http}",
        "{target: 80, typo: 1}", "'8080:80', '8080:80'", "'8080:80', '9090:80'", "'8080:80', {target: 80, published: 8080}",
        "'8080:80', '0.0.0.0:8080:80'", "80, 80", "'127.0.0.1:8080:80', '8080:80'", "'1-2:1-2', '2:2'",
        "'65535:65535'", "'65536:80'", "'80:65536'", "'-1:80'", "'80-80:90-90'", "'127.0.0.1:3000-3001:4000-4001/udp'",
        "'[::1]::80'", "'[::]:8080:80'", "'localhost:8080:80'", "'0.0.0.0:8080:80'", "'8080:80/tcp', '8080:80/udp'",
        "'${P:-8080}:80'", "'${P}:80'", "'80/sctp'", "'8080:80/'", "' 8080:80'", "'8080 : 80'", "'127.0.0.1:80'",
        "'1.2.3:8080:80'", "{target: 80, published: '9000-8000'}", "{target: 80-81}", "{target: '80-81', published: '80-81'}",
        "{target: 80, published: x}", "{target: x}", "{target: 80, host_ip: x}", "{target: 80, protocol: x}",
        "{target: 80, mode: x}", "{target: 0}", "{target: 80, published: 0}", "{target: 80, published: ''}", "{}",
        "'8000-8002:80'", "'8000-8002:80-82/udp'", "'127.0.0.1:8000-8002:80'", "'22:22'", "22:22", "0x50", "'0x50'",
        "'+80'", "80_00", "'80:80:80'", "'::1:80'", "{target: 80, published: 1, x-a: 1}",
    )
]  # fmt: skip

TYPES = [
    service(f"environment {value}", f"environment: {{K: {value}}}")
    for value in (
        "1", "'1'", "01", "0777", "0o17", "0x1F", "1_000", "1.50", "1e6", "123456.78", "1e21", "0.00001", "-1", "+1",
        "true", "True", "yes", "off", "~", "null", "''", ".5", "5.", ".inf", "-.inf", ".nan", "1:30", "22:22",
        "2020-01-02", "2020-01-02T03:04:05Z", "0b101", "'yes'", "!!str 1", "1.0", "12345678901234567890", "=", "a=b",
        "-0", "1e3", "0.1e-7", "'a: b'", "'${X}'", "'$$X'", "0x", "-", "_1", "1_", "08", "0.0", "[1]", "{a: 1}",
    )
]  # fmt: skip

SERVICES = [
    service(name, fields)
    for name, fields in {
        "list environment": "environment: [A=1, B=, C, 'D=a=b', A=2, 'E= x ']",
        "environment with a blank": "environment: ['A =1']",
        "environment from the shell": "environment: {HOME: , NOPE: ~}",
        "empty environment": "environment: []",
        "null environment": "environment: ",
        "string environment": "environment: A=1",
        "networks by list": "networks: [default]",
        "networks empty": "networks: {}",
        "networks null": "networks: ",
        "undefined network": "networks: [n]",
        "network_mode": "network_mode: host, ports: ['1:1']",
        "network_mode none": "network_mode: none",
        "network_mode and networks": "network_mode: host, networks: [default]",
        "network of itself": "network_mode: 'service:b'",
        "aliases": "networks: {default: {aliases: [b, c, b]}}",
        "scale": "scale: 2",
        "replicas": "deploy: {replicas: 3}",
        "scale and replicas": "scale: 2, deploy: {replicas: 3}",
        "scale and name": "scale: 2, container_name: c",
        "scale string": "scale: '2'",
        "scale word": "scale: two",
        "expose": "expose: [80, '81', 80, '82/udp']",
        "extra hosts": "extra_hosts: ['a:1.2.3.4', 'b=::1', 'c=[::2]', 'd:host-gateway']",
        "extra hosts mapping": "extra_hosts: {a: 1.2.3.4, b: '::1'}",
        "extra host wrong": "extra_hosts: [a]",
        "links": "links: [b]",
        "profiles": "profiles: [p, p]",
        "volumes": "volumes: ['/d', './h:/t:ro', '~/x:/y', 'C:\\x:/z', '/a:/b:rw,z']",
        "volume undefined": "volumes: ['vol:/t']",
        "volume long": "volumes: [{type: bind, source: ./h, target: /t/, read_only: true}]",
        "volume twice": "volumes: ['/h:/t', '/i:/t']",
        "volume empty part": "volumes: ['a::b']",
        "volume four parts": "volumes: ['a:b:c:d']",
        "env file missing": "env_file: nope.env",
        "env file optional": "env_file: [{path: nope.env, required: false}]",
        "command list": "command: [a, 'b c', 1]",
        "command string": "command: a b c",
        "command null": "command: ",
        "healthcheck": "healthcheck: {test: [CMD, x]}",
        "healthcheck string": "healthcheck: {test: x y}",
        "healthcheck wrong": "healthcheck: {test: [x]}",
        "labels": "labels: {a: 1, b: }",
        "labels list": "labels: [a=1, b]",
        "dns": "dns: 1.1.1.1",
        "dns list": "dns: [1.1.1.1, 1.1.1.1, 8.8.8.8], dns_search: d",
        "hostname": "hostname: h, domainname: d",
        "depends on itself": "depends_on: [a]",
        "depends on nothing": "depends_on: [b]",
        "unknown field": "imagee: y",
        "extension": "x-imagee: y",
        "image number": "hostname: 12",
        "no interpolation of keys": "environment: {'$K': v}",
    }.items()
] + [
    one("no services", "x-a: 1\n"),
    one("no image", "services: {a: {}}\n"),
    one("null service", "services: {a: }\n"),
    one("null services", "services:\n"),
    one("build", "services: {a: {build: .}}\n"),
    one("typo at the top", "service: {a: {image: x}}\n"),
    one("version", "version: '3.8'\nservices: {a: {image: x}}\n"),
    one("two services", "services: {a: {image: x, depends_on: [b], links: ['b:c']}, b: {image: x}}\n"),
    one("long depends_on", "services: {a: {image: x, depends_on: {b: {condition: service_healthy}}}, b: {image: x}}\n"),
    one("optional depends_on", "services: {a: {image: x, depends_on: {b: {condition: service_started, required: false}}}}\n"),
    one("circle", "services: {a: {image: x, depends_on: [b]}, b: {image: x, depends_on: [a]}}\n"),
    one("same container name", "services: {a: {image: x, container_name: c}, b: {image: x, container_name: c}}\n"),
    one("shared namespace", "services: {a: {image: x, network_mode: 'service:b'}, b: {image: x}}\n"),
    one("project name", "name: My.Project\nservices: {a: {image: x}}\n"),
    one("project name only signs", "name: '...'\nservices: {a: {image: x}}\n"),
    one("networks", "services: {a: {image: x, networks: {n: {ipv4_address: 10.0.0.5}}}}\n"
        "networks: {n: {internal: true, driver: bridge, ipam: {config: [{subnet: 10.0.0.0/16}]}}}\n"),
    one("external network", "services: {a: {image: x, networks: [n]}}\nnetworks: {n: {external: true}}\n"),
    one("external network named", "services: {a: {image: x, networks: [n]}}\nnetworks: {n: {external: {name: m}}}\n"),
    one("external network two names", "services: {a: {image: x}}\nnetworks: {n: {name: o, external: {name: m}}}\n"),
    one("named network", "services: {a: {image: x, networks: [n]}}\nnetworks: {n: {name: 'm${X:-1}'}}\n"),
    one("default network configured", "services: {a: {image: x}}\nnetworks: {default: {driver: macvlan}}\n"),
    one("unused network", "services: {a: {image: x}}\nnetworks: {n: }\n"),
    one("default unused", "services: {a: {image: x, network_mode: host}}\n"),
    one("anchors", "x-c: &c {image: x, environment: &e {A: 1, B: 2}}\n"
        "services: {a: {<<: *c, environment: {<<: *e, B: 3}}, b: *c, c: {<<: [*c, {image: y, hostname: h}]}}\n"),
    one("merge key twice", "services: {a: {<<: {image: x}, <<: {image: y}}}\n"),
    one("merge of a scalar", "services: {a: {<<: 1, image: x}}\n"),
    one("duplicate key", "services: {a: {image: x, image: x}}\n"),
    one("duplicate service", "services:\n  a: {image: x}\n  a: {image: y}\n"),
    one("duplicate in an extension", "x-a: {b: 1, b: 2}\nservices: {a: {image: x}}\n"),
    one("two documents", "services: {a: {image: x, environment: {A: 1}}}\n---\nservices: {a: {environment: {B: 2}}, b: {image: y}}\n"),
    one("empty second document", "services: {a: {image: x}}\n---\n"),
    one("reset alone", "services: {a: {image: x, ports: !reset ['80'], hostname: !override h}}\n"),
    one("tabs", "services:\n  a:\n\timage: x\n"),
    one("crlf", "services:\r\n  a:\r\n    image: x\r\n    command: >-\r\n      a\r\n      b\r\n"),
    one("bom", "\ufeffservices: {a: {image: x}}\n"),
    one("scalars", "services:\n  a:\n    image: x\n    environment:\n      P: a\n        b\n\n        c\n      Q: \"a \\\n        b\\tc\\u00e9\"\n"
        "      R: 'it''s\n        two'\n      S: |\n        one\n          two\n\n        three\n      T: >-\n        one\n        two\n\n        three\n"
        "          four\n        five\n      U: |2-\n          x\n         y\n      V: \"${X:-'a b'}\"\n      W: >+\n        end\n\n"),
    one("env files", "services: {a: {image: x, env_file: [a.env, {path: b.env}], environment: {C: own, D: }}}\n",
        a_env="A=1\nB=a\nC=file\nD=file\n", b_env="B=b\nE=${A}-${C}-${HOME}\n"),
    one("raw env file", "services: {a: {image: x, env_file: [{path: a.env, format: raw}]}}\n", a_env="A='1' # no\nB=$HOME\n"),
    one("unknown env file format", "services: {a: {image: x, env_file: [{path: a.env, format: x}]}}\n", a_env="A=1\n"),
    one("bad env file", "services: {a: {image: x, env_file: a.env}}\n", a_env="A='1\n"),
]  # fmt: skip
