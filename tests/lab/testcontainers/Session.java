import com.github.dockerjava.api.model.ContainerNetwork;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.Testcontainers;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.Network;
import org.testcontainers.kafka.ConfluentKafkaContainer;
import org.testcontainers.kafka.KafkaContainer;
import org.testcontainers.shaded.com.fasterxml.jackson.databind.JsonNode;
import org.testcontainers.shaded.com.fasterxml.jackson.databind.ObjectMapper;
import org.testcontainers.utility.DockerImageName;

/**
 * A session of tests: starts the containers of a plan (JSON, the first argument), and keeps them until standard input
 * ends. It prints a line for each that has started, "NAME ID BOOTSTRAP", and then "ready".
 */
public final class Session {
    private static final Map<String, Network> NETWORKS = new HashMap<>();
    private static final List<GenericContainer<?>> STARTED = new ArrayList<>();

    /** What stands for PORT in variables: the mapped port of the broker that was started last. */
    private static String port = "";

    public static void main(String[] arguments) throws Exception {
        JsonNode plan = new ObjectMapper().readTree(arguments[0]);
        for (JsonNode container : plan.path("containers")) {
            Runnable start = () -> start(container);
            if (container.path("fails").asBoolean()) {
                CompletableFuture.runAsync(start).exceptionally(Session::told);
            } else {
                start.run();
            }
        }
        System.out.println("ready");
        System.in.read();
        STARTED.stream().filter(one -> !one.isShouldBeReused()).forEach(GenericContainer::stop);
        System.exit(0);
    }

    private static Void told(Throwable error) {
        System.out.println("failed " + error);
        return null;
    }

    private static void start(JsonNode plan) {
        String image = plan.path("image").asText();
        GenericContainer<?> made;
        List<String> networks = texts(plan.path("networks"));
        if (!plan.path("kafka").asBoolean()) {
            made = new GenericContainer<>(image);
        } else if (image.startsWith("apache/")) {
            made = networks.size() < 2 ? new KafkaContainer(image) : new KafkaContainer(image) {
                @Override
                protected void containerIsCreated(String identifier) {
                    join(identifier, plan);
                }
            };
        } else {
            made = new ConfluentKafkaContainer(image);
        }
        if (!networks.isEmpty()) {
            made.withNetwork(network(networks.get(0)));
        }
        made.withNetworkAliases(texts(plan.path("aliases")).toArray(new String[0]));
        plan.path("environment").fields().forEachRemaining(e -> made.withEnv(e.getKey(), e.getValue().asText().replace("PORT", port)));
        plan.path("listeners").fields().forEachRemaining(e -> listen(made, e.getKey(), e.getValue().asText()));
        made.withReuse(plan.path("reuse").asBoolean());
        made.withAccessToHost(plan.path("reaches_host").asBoolean());
        made.start();
        STARTED.add(made);
        port = made instanceof KafkaContainer ? String.valueOf(made.getFirstMappedPort()) : port;
        String bootstrap = "-";
        if (made instanceof KafkaContainer kafka) {
            bootstrap = kafka.getBootstrapServers();
        } else if (made instanceof ConfluentKafkaContainer kafka) {
            bootstrap = kafka.getBootstrapServers();
        }
        if (plan.path("exposes_port").asBoolean()) {
            Testcontainers.exposeHostPorts(made.getFirstMappedPort());
        }
        System.out.println(plan.path("name").asText() + " " + made.getContainerId() + " " + bootstrap);
    }

    /** The second network and those after it, before the container starts. */
    private static void join(String identifier, JsonNode plan) {
        List<String> networks = texts(plan.path("networks"));
        for (String further : networks.subList(1, networks.size())) {
            DockerClientFactory.lazyClient()
                    .connectToNetworkCmd()
                    .withContainerId(identifier)
                    .withNetworkId(network(further).getId())
                    .withContainerNetwork(new ContainerNetwork().withAliases(texts(plan.path("aliases"))))
                    .exec();
        }
    }

    /** A listener, and what it advertises where that is something else; PORT there is the first mapped port. */
    private static void listen(GenericContainer<?> made, String listener, String advertised) {
        Supplier<String> told = () -> advertised.isEmpty()
                ? listener
                : advertised.replace("PORT", String.valueOf(made.getFirstMappedPort()));
        if (made instanceof KafkaContainer kafka) {
            kafka.withListener(listener, told);
        } else if (made instanceof ConfluentKafkaContainer kafka) {
            kafka.withListener(listener, told);
        }
    }

    /** The session's own network of a name; one that begins with a slash is there already. */
    private static Network network(String name) {
        return NETWORKS.computeIfAbsent(name, Session::made);
    }

    private static Network made(String name) {
        if (!name.startsWith("/")) {
            return Network.newNetwork();
        }
        return new Network() {
            @Override
            public String getId() {
                return name.substring(1);
            }

            @Override
            public void close() {}
        };
    }

    private static List<String> texts(JsonNode array) {
        List<String> found = new ArrayList<>();
        array.forEach(one -> found.add(one.asText()));
        return found;
    }
}
