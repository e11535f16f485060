"""How a broker's JVM serves JMX: the registry's port, and the stub's host and port that the registry gives to clients.

A JMX client connects twice. The registry at the first port only hands out a stub, and the client goes on to the host
and port inside it. The JVM takes both from its system properties, and the last one of a name on its command line
counts; JAVA_TOOL_OPTIONS and JDK_JAVA_OPTIONS come before the command line.

Sources: `docker/jvm/launch` of Apache Kafka and `launch` of Confluent's images, which are the same here;
`bin/kafka-run-class.sh`, which names the RMI port since 3.4 (KAFKA-14430); sun.management.jmxremote and java.rmi.
"""

from collections.abc import Iterator, Mapping

from netdiag.digits import number_of
from netdiag.kafka.images.reference import ImageFamily, ImageReference
from netdiag.patterns import regex
from netdiag.values import dataclass

PORT = "com.sun.management.jmxremote.port"
RMI_PORT = "com.sun.management.jmxremote.rmi.port"
HOSTNAME = "java.rmi.server.hostname"
OPTIONS = "KAFKA_JMX_OPTS"
_BIND = "com.sun.management.jmxremote.host"
# On by default; Kafka's script and the images turn both off where KAFKA_JMX_OPTS is empty.
_TLS, _PASSWORD = "com.sun.management.jmxremote.ssl", "com.sun.management.jmxremote.authenticate"
# The agent that serves the same metrics over HTTP: -javaagent:jmx_prometheus_javaagent.jar=[HOST:]PORT:CONFIG
_EXPORTER = regex(r"jmx_prometheus[^\s=]*=(?:[^\s:]+:)?(\d{1,9})")
_OPTION = regex(r"-D(?P<name>[\w.]+)=(?P<value>[^\s\"']*)")
# In the order in which the JVM and the start scripts read them, before and behind what the scripts add.
_BEFORE = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "KAFKA_HEAP_OPTS", "KAFKA_JVM_PERFORMANCE_OPTS", OPTIONS)
_BEHIND = ("KAFKA_LOG4J_OPTS", "KAFKA_OPTS")
# Images whose own script makes properties of KAFKA_JMX_PORT and KAFKA_JMX_HOSTNAME, and those that leave JMX_PORT to
# Kafka's.
_LAUNCHED = frozenset({ImageFamily.APACHE, ImageFamily.CONFLUENT, ImageFamily.CONFLUENT_LOCAL})
_BY_KAFKAS_SCRIPT = _LAUNCHED | {ImageFamily.BITNAMI, ImageFamily.WURSTMEISTER}


@dataclass(frozen=True, slots=True, kw_only=True)
class JmxSetting:
    """A value and where it stands: characters start..end of a variable."""

    value: str
    variable: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JmxAgent:
    """What a JVM serves JMX with.

    `rmi_port` None is any free port, `hostname` None the first address of the container; `rmi_port_set` and
    `hostname_set` are where somebody wrote them. `bound` is the address that both ports are bound to, "" for all;
    `uses_tls` and `asks_password` are about the RMI server.
    """

    port: int
    port_set: JmxSetting
    rmi_port: int | None
    rmi_port_set: JmxSetting | None
    hostname: str | None
    hostname_set: JmxSetting | None
    bound: str = ""
    uses_tls: bool = False
    asks_password: bool = False


def jmx_agent(image: ImageReference, variables: Mapping[str, str]) -> JmxAgent | None:
    """The JMX agent that a container of this image starts; None where there is none, or where nobody can tell."""
    if image.repository.endswith("kafka-native"):
        return None
    found = _properties(image, variables)
    port = found.get(PORT)
    number = _port(port)
    if port is None or not number:
        return None
    rmi, hostname, bound = found.get(RMI_PORT), found.get(HOSTNAME), found.get(_BIND)
    rmi_number = _port(rmi)
    if (rmi is not None and rmi_number is None) or (hostname is not None and not hostname.value):
        return None
    return JmxAgent(
        port=number,
        port_set=port,
        # 0 asks for any free port, as no number does.
        rmi_port=rmi_number or None,
        rmi_port_set=rmi,
        hostname=hostname.value if hostname else None,
        hostname_set=hostname,
        bound=bound.value if bound else "",
        uses_tls=_is_on(found.get(_TLS), image, variables),
        asks_password=_is_on(found.get(_PASSWORD), image, variables),
    )


def exporter_ports(variables: Mapping[str, str]) -> frozenset[int]:
    """The ports of exporters of JMX metrics that run in the JVM."""
    return frozenset(int(port) for value in variables.values() for port in _EXPORTER.findall(value))


def _is_on(setting: JmxSetting | None, image: ImageReference, variables: Mapping[str, str]) -> bool:
    if setting is not None:
        return setting.value.lower() == "true"
    return image.family not in _BY_KAFKAS_SCRIPT or bool(variables.get(OPTIONS))


def _port(setting: JmxSetting | None) -> int | None:
    number = number_of(setting.value) if setting else None
    return number if number is not None and number < 65536 else None


def _properties(image: ImageReference, variables: Mapping[str, str]) -> dict[str, JmxSetting]:
    """The system properties that are about JMX; of two for one name the later counts."""
    found: dict[str, JmxSetting] = {}
    for variable in _BEFORE:
        found.update(_options(variable, variables))
    port = _whole("KAFKA_JMX_PORT", variables)
    if image.family in _LAUNCHED and port is not None:
        # Without KAFKA_JMX_HOSTNAME the script takes the first address of `hostname -i`, whatever was said before.
        found.pop(HOSTNAME, None)
        hostname = _whole("KAFKA_JMX_HOSTNAME", variables)
        found |= {PORT: port, RMI_PORT: port} | ({HOSTNAME: hostname} if hostname else {})
    elif image.family in _BY_KAFKAS_SCRIPT:
        found.update(_of_kafkas_script(image, variables))
    for variable in _BEHIND:
        found.update(_options(variable, variables))
    return found


def _options(variable: str, variables: Mapping[str, str]) -> Iterator[tuple[str, JmxSetting]]:
    for match in _OPTION.finditer(variables.get(variable, "")):
        start, end = match.span("value")
        yield match["name"], JmxSetting(value=match["value"], variable=variable, start=start, end=end)


def _of_kafkas_script(image: ImageReference, variables: Mapping[str, str]) -> Iterator[tuple[str, JmxSetting]]:
    """What Kafka's own script adds; nothing where the release, which decides about the RMI port, is not known."""
    port, version = _whole("JMX_PORT", variables), image.kafka_version
    if port is None or (version is None and not image.is_newest):
        return
    yield PORT, port
    is_new = version is None or version.at_least(3, 4)
    if is_new and f"-D{RMI_PORT}=" not in variables.get(OPTIONS, ""):
        yield RMI_PORT, port


def _whole(variable: str, variables: Mapping[str, str]) -> JmxSetting | None:
    text = variables.get(variable, "")
    value, start = text.strip(), len(text) - len(text.lstrip())
    return JmxSetting(value=value, variable=variable, start=start, end=start + len(value)) if value else None
