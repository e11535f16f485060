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

MERGES = [
    over(name, base, override)
    for name, base, override in (
        ("scalar", "hostname: a", "hostname: b"),
        ("scalar null", "hostname: a", "hostname: "),
        ("image", "hostname: a", "image: y"),
        ("command", "command: [a, b]", "command: [c]"),
        ("command null", "command: [a, b]", "command: "),
        ("command string", "command: [a, b]", "command: c d"),
        ("entrypoint", "entrypoint: [a]", "entrypoint: []"),
        ("environment maps", "environment: {A: 1, B: 2}", "environment: {B: 3, C: 4}"),
        ("environment list and map", "environment: [A=1, B=2]", "environment: {B: 3, C: }"),
        ("environment map and list", "environment: {A: 1, B: 2}", "environment: [B=3, A]"),
        ("environment null", "environment: {A: 1}", "environment: "),
        ("ports", "ports: ['8080:80']", "ports: ['8080:80', '9090:80']"),
        ("ports long", "ports: ['8080:80']", "ports: [{target: 80, published: '8080'}]"),
        ("ports range", "ports: ['8080-8081:80-81']", "ports: ['8081:81']"),
        ("expose", "expose: [80]", "expose: ['80', 81]"),
        ("volumes", "volumes: ['/a:/t', '/b:/u']", "volumes: ['/c:/t:ro']"),
        ("volumes long", "volumes: ['/a:/t']", "volumes: [{type: bind, source: /c, target: /t}]"),
        ("networks list", "networks: [default]", "networks: {default: {aliases: [b]}}"),
        ("networks aliases", "networks: {default: {aliases: [b]}}", "networks: {default: {aliases: [c, b]}}"),
        ("network null", "networks: {default: {aliases: [b]}}", "networks: {default: }"),
        ("extra_hosts", "extra_hosts: ['a:1.1.1.1']", "extra_hosts: ['a:1.1.1.1', 'b:2.2.2.2']"),
        ("extra_hosts map", "extra_hosts: {a: 1.1.1.1}", "extra_hosts: {b: 2.2.2.2, a: 3.3.3.3}"),
        ("dns", "dns: 1.1.1.1", "dns: [2.2.2.2, 1.1.1.1]"),
        ("labels", "labels: {a: 1}", "labels: [a=2, b=3]"),
        ("healthcheck", "healthcheck: {test: [CMD, a], retries: 1}", "healthcheck: {test: [CMD, b]}"),
        ("profiles", "profiles: [a]", "profiles: [b, a]"),
        ("build", "build: .", "build: {target: t}"),
        ("deploy", "deploy: {replicas: 2, mode: replicated}", "deploy: {replicas: 3}"),
        ("list by mapping", "ports: ['80']", "ports: {a: b}"),
        ("mapping by scalar", "healthcheck: {retries: 1}", "healthcheck: x"),
        ("ulimits", "ulimits: {nofile: 1}", "ulimits: {nofile: {soft: 1, hard: 2}}"),
        ("logging", "logging: {driver: a, options: {x: '1'}}", "logging: {driver: b}"),
        ("sysctls", "sysctls: {a: 1}", "sysctls: [a=2]"),
        ("tmpfs", "tmpfs: /a", "tmpfs: [/b]"),
        ("reset scalar", "hostname: a", "hostname: !reset null"),
        ("reset list", "ports: ['80:80']", "ports: !reset []"),
        ("reset mapping", "environment: {A: 1, B: 2}", "environment: !reset {}"),
        ("reset key", "environment: {A: 1, B: 2}", "environment: {A: !reset null}"),
        ("reset key of a list", "environment: [A=1, B=2]", "environment: {A: !reset null}"),
        ("override list", "ports: ['80:80']", "ports: !override ['81:81']"),
        ("override mapping", "environment: {A: 1, B: 2}", "environment: !override {C: 3}"),
        ("override scalar", "hostname: a", "hostname: !override b"),
        ("reset with content", "ports: ['80:80']", "ports: !reset ['81:81']"),
        ("env_file", "env_file: a.env", "env_file: [b.env]"),
    )
] + [
    two("another service", "services: {a: {image: x}}\n", "services: {b: {image: y}}\n"),
    two("service reset", "services: {a: {image: x}, b: {image: y}}\n", "services: {b: !reset null}\n"),
    two("depends_on", "services: {a: {image: x, depends_on: [b]}, b: {image: x}}\n",
        "services: {a: {depends_on: {c: {condition: service_healthy}}}, c: {image: x}}\n"),
    two("depends_on condition", "services: {a: {image: x, depends_on: [b]}, b: {image: x}}\n",
        "services: {a: {depends_on: {b: {condition: service_healthy}}}}\n"),
    two("links", "services: {a: {image: x, links: [b]}, b: {image: x}}\n", "services: {a: {links: ['b:c', b]}}\n"),
    two("name", "name: one\nservices: {a: {image: x}}\n", "name: two\n"),
    two("networks", "services: {a: {image: x, networks: [n]}}\nnetworks: {n: {driver: bridge}}\n",
        "networks: {n: {internal: true}, m: }\n"),
    two("ipam", "services: {a: {image: x, networks: [n]}}\nnetworks: {n: {ipam: {config: [{subnet: 10.0.0.0/8}]}}}\n",
        "networks: {n: {ipam: {config: [{subnet: 10.0.0.0/8, gateway: 10.0.0.1}]}}}\n"),
    two("override under an anchor", "services: {a: {image: x, ports: ['80:80'], environment: {A: 1}}}\n",
        "x-c: &c {ports: !override ['81:81'], environment: !reset {}}\nservices: {a: {<<: *c}}\n"),
    two("override defined twice", "services: {a: {image: x}}\n", "services: {a: {image: y, image: z}}\n"),
    two("empty override", "services: {a: {image: x}}\n", "services: {}\n"),
    two("variables in both", "services: {a: {image: 'x:${T}'}}\n", "services: {a: {hostname: '${T}'}}\n", _env="T=1\n"),
]  # fmt: skip

_BASE = "services: {b: {image: x, hostname: h, environment: {A: 1, B: 2}, ports: ['80:80'], command: [a]}"
EXTENDS = [
    one("extends", _BASE + ", a: {extends: b, environment: {B: 3}, ports: ['81:81']}}\n"),
    one("extends mapping", _BASE + ", a: {extends: {service: b}, command: [c]}}\n"),
    one("extends chain", _BASE + ", a: {extends: c}, c: {extends: b, hostname: i}}\n"),
    one("extends circle", "services: {a: {image: x, extends: b}, b: {image: x, extends: a}}\n"),
    one("extends itself", "services: {a: {image: x, extends: a}}\n"),
    one("extends nothing", "services: {a: {image: x, extends: c}}\n"),
    one("extends without service", "services: {a: {image: x, extends: {file: o.yaml}}}\n", o_yaml=_BASE + "}\n"),
    one("extends file", "services: {a: {extends: {service: b, file: o.yaml}, hostname: j}}\n", o_yaml=_BASE + "}\n"),
    one("extends missing file", "services: {a: {image: x, extends: {service: b, file: o.yaml}}}\n"),
    one("extends missing service", "services: {a: {extends: {service: z, file: o.yaml}}}\n", o_yaml=_BASE + "}\n"),
    one("extends file chain", "services: {a: {extends: {service: c, file: o.yaml}}}\n",
        o_yaml=_BASE + ", c: {extends: b, environment: {C: 4}}}\n"),
    one("extends into a folder", "services: {a: {extends: {service: b, file: d/o.yaml}}}\n",
        d__o_yaml="services: {b: {image: x, env_file: v.env, volumes: ['./data:/data', '../up:/up']}}\n", d__v_env="V=1\n"),
    one("extends across folders", "services: {a: {extends: {service: b, file: d/o.yaml}}}\n",
        d__o_yaml="services: {b: {extends: {service: c, file: e/p.yaml}, volumes: ['./o:/o']}}\n",
        d__e__p_yaml="services: {c: {image: x, volumes: ['./p:/p']}}\n"),
    one("extends with variables", "services: {a: {extends: {service: b, file: 'o.yaml'}}}\n",
        o_yaml="services: {b: {image: 'x:${T:-1}', environment: {V: '$T'}}}\n", _env="T=2\n"),
    one("extends with reset", _BASE + ", a: {extends: b, ports: !reset [], environment: {A: !reset null}}}\n"),
    one("extends with override", _BASE + ", a: {extends: b, ports: !override ['82:82']}}\n"),
    one("extends file circle", "services: {a: {image: x, extends: {service: b, file: o.yaml}}}\n",
        o_yaml="services: {b: {image: x, extends: {service: a, file: compose.yaml}}}\n"),
    one("extends with depends_on", "services: {a: {extends: b}, b: {image: x, depends_on: [c]}, c: {image: x}}\n"),
    one("extends with networks", "services: {a: {extends: b}, b: {image: x, networks: [n]}}\nnetworks: {n: }\n"),
    one("extends with network_mode", "services: {a: {extends: b, network_mode: host}, b: {image: x, networks: [n]}}\nnetworks: {n: }\n"),
    two("extends in an override", "services: {a: {image: x}}\n", "services: {a: {extends: c}, c: {image: y, hostname: h}}\n"),
    one("include", "include: [o.yaml]\nservices: {a: {image: x}}\n", o_yaml=_BASE + "}\n"),
    one("include mapping", "include: [{path: o.yaml}]\nservices: {a: {image: x, depends_on: [b]}}\n", o_yaml=_BASE + "}\n"),
    one("include several", "include: [{path: [o.yaml, p.yaml]}]\n", o_yaml=_BASE + "}\n", p_yaml="services: {b: {hostname: k}}\n"),
    one("include string", "include: o.yaml\nservices: {a: {image: x}}\n", o_yaml=_BASE + "}\n"),
    one("include missing", "include: [o.yaml]\nservices: {a: {image: x}}\n"),
    one("include itself", "include: [compose.yaml]\nservices: {a: {image: x}}\n"),
    one("include circle", "include: [o.yaml]\nservices: {a: {image: x}}\n", o_yaml="include: [compose.yaml]\nservices: {b: {image: x}}\n"),
    one("include conflict", "include: [o.yaml]\nservices: {b: {image: y}}\n", o_yaml=_BASE + "}\n"),
    one("include twice", "include: [o.yaml, p.yaml]\nservices: {a: {image: x}}\n", o_yaml="include: [q.yaml]\n",
        p_yaml="include: [q.yaml]\n", q_yaml=_BASE + "}\n"),
    one("include with its own env", "include: [d/o.yaml]\nservices: {a: {image: 'x:${T:-0}'}}\n",
        d__o_yaml="services: {b: {image: 'x:${T}', env_file: v.env, volumes: ['./data:/data']}}\n", d___env="T=9\n", d__v_env="V=1\n"),
    one("include under the outer env", "include: [d/o.yaml]\n", d__o_yaml="services: {b: {image: 'x:${T}'}}\n", d___env="T=9\n", _env="T=1\n"),
    one("include with env_file", "include: [{path: d/o.yaml, env_file: e.env}]\n",
        d__o_yaml="services: {b: {image: 'x:${T:-none}', environment: [T]}}\n", d___env="T=9\n", e_env="T=5\n"),
    one("include with project_directory", "include: [{path: d/o.yaml, project_directory: .}]\n",
        d__o_yaml="services: {b: {image: x, volumes: ['./data:/data']}}\n"),
    one("include networks", "include: [o.yaml]\nservices: {a: {image: x, networks: [n]}}\n",
        o_yaml="services: {b: {image: x, networks: [n]}}\nnetworks: {n: {internal: true}}\n"),
    one("include with missing env_file", "include: [{path: o.yaml, env_file: nope.env}]\n", o_yaml=_BASE + "}\n"),
    two("include reset", "include: [o.yaml]\nservices: {a: {image: x}}\n", "services: {b: {ports: !reset []}}\n", o_yaml=_BASE + "}\n"),
]  # fmt: skip

ALL = [*PORTS, *TYPES, *SERVICES, *MERGES, *EXTENDS]
