import java.io.BufferedReader;
import java.io.FileReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.TopicPartition;

/**
 * A group member that does what standard input says and tells what happens, one JSON object a line.
 *
 * <p>Arguments: a properties file, then topics. Words on standard input: stall SECONDS, commit, enforce, close.
 */
public final class Member {
    private static final Map<String, Long> consumed = new TreeMap<>();
    private static final BlockingQueue<String> words = new LinkedBlockingQueue<>();
    private static boolean isOpen = true;

    public static void main(String[] arguments) throws Exception {
        Properties properties = new Properties();
        try (FileReader file = new FileReader(arguments[0])) {
            properties.load(file);
        }
        String bytes = "org.apache.kafka.common.serialization.ByteArrayDeserializer";
        properties.put("key.deserializer", bytes);
        properties.put("value.deserializer", bytes);
        Thread reader = new Thread(Member::read);
        reader.setDaemon(true);
        reader.start();
        KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(properties);
        consumer.subscribe(List.of(arguments).subList(1, arguments.length), new Told());
        while (isOpen) {
            ConsumerRecords<byte[], byte[]> records = consumer.poll(Duration.ofMillis(100));
            for (ConsumerRecord<byte[], byte[]> record : records) {
                consumed.merge(record.topic() + "-" + record.partition(), 1L, Long::sum);
            }
            if (!records.isEmpty()) {
                say("consumed", total());
            }
            String word = words.poll();
            if (word != null) {
                obey(consumer, word.split(" "));
            }
        }
        Map<MetricName, ? extends Metric> metrics = Map.copyOf(consumer.metrics());
        consumer.close();
        say("closed", total() + ",\"metrics\":" + metrics(metrics));
        Runtime.getRuntime().halt(0);
    }

    private static void obey(KafkaConsumer<byte[], byte[]> consumer, String[] word) throws Exception {
        switch (word[0]) {
            case "stall" -> Thread.sleep((long) (1000 * Double.parseDouble(word[1])));
            case "enforce" -> consumer.enforceRebalance("asked for");
            case "commit" -> {
                consumer.commitSync();
                Set<TopicPartition> mine = consumer.assignment();
                Map<TopicPartition, OffsetAndMetadata> committed = consumer.committed(mine);
                String offsets = committed.entrySet().stream()
                        .filter(entry -> entry.getValue() != null)
                        .map(entry -> "\"" + entry.getKey() + "\":" + entry.getValue().offset())
                        .collect(Collectors.joining(","));
                say("committed", "\"offsets\":{" + offsets + "}");
            }
            case "close" -> isOpen = false;
            default -> throw new IllegalArgumentException(word[0]);
        }
    }

    private static void read() {
        try {
            BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                words.add(line);
            }
        } catch (java.io.IOException error) {
            error.printStackTrace();
        }
        words.add("close");
    }

    private static String total() {
        return "\"total\":{" + consumed.entrySet().stream()
                .map(entry -> "\"" + entry.getKey() + "\":" + entry.getValue())
                .collect(Collectors.joining(",")) + "}";
    }

    private static String metrics(Map<MetricName, ? extends Metric> metrics) {
        return "{" + metrics.entrySet().stream()
                .filter(entry -> entry.getKey().name().endsWith("-total"))
                .filter(entry -> entry.getKey().tags().size() == 1)
                .map(entry -> "\"" + entry.getKey().group() + "/" + entry.getKey().name() + "\":"
                        + entry.getValue().metricValue())
                .collect(Collectors.joining(",")) + "}";
    }

    private static synchronized void say(String event, String rest) {
        System.out.println("{\"event\":\"" + event + "\"," + rest + "}");
    }

    private static String names(Collection<TopicPartition> partitions) {
        return "\"partitions\":[" + partitions.stream()
                .map(partition -> "\"" + partition + "\"")
                .sorted()
                .collect(Collectors.joining(",")) + "]";
    }

    private static final class Told implements ConsumerRebalanceListener {
        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
            say("assigned", names(partitions));
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
            say("revoked", names(partitions));
        }

        @Override
        public void onPartitionsLost(Collection<TopicPartition> partitions) {
            say("lost", names(partitions));
        }
    }
}
