import java.io.EOFException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.rmi.server.RMISocketFactory;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;
import javax.naming.NamingException;

/**
 * Connects to JMX as jconsole does, and counts the MBeans.
 *
 * <p>Each argument is host:port of a registry; each gets a line: the address, what came of it ("ok", or the hop and why
 * it fails), and the exception's own words, separated by tabs.
 */
public final class JmxClient {
    private static final int MILLISECONDS = 4000;

    /** As Java's own, which would wait for minutes. */
    private static final class Hasty extends RMISocketFactory {
        @Override
        public Socket createSocket(String host, int port) throws IOException {
            Socket socket = new Socket();
            try {
                InetSocketAddress address = new InetSocketAddress(host, port);
                if (address.isUnresolved()) {
                    throw new UnknownHostException(host);
                }
                socket.connect(address, MILLISECONDS);
            } catch (IOException error) {
                socket.close();
                throw error;
            }
            socket.setSoTimeout(MILLISECONDS);
            return socket;
        }

        @Override
        public ServerSocket createServerSocket(int port) throws IOException {
            return new ServerSocket(port);
        }
    }

    public static void main(String[] addresses) throws Exception {
        synchronized (JmxClient.class) {
            if (RMISocketFactory.getSocketFactory() == null) {
                RMISocketFactory.setSocketFactory(new Hasty());
            }
        }
        ExecutorService side = Executors.newFixedThreadPool(Math.max(1, addresses.length));
        List<Future<String>> asked =
                Arrays.stream(addresses).map(one -> side.submit(() -> ask(one))).toList();
        for (Future<String> one : asked) {
            System.out.println(one.get());
        }
        side.shutdown();
    }

    private static String ask(String address) {
        try {
            String url = "service:jmx:rmi:///jndi/rmi://" + address + "/jmxrmi";
            try (JMXConnector connector = JMXConnectorFactory.connect(new JMXServiceURL(url))) {
                return address + "\tok\t" + connector.getMBeanServerConnection().getMBeanCount() + " MBeans";
            }
        } catch (Exception error) {
            boolean first = below(error).stream().anyMatch(one -> one instanceof NamingException);
            String words = String.valueOf(error).replaceAll("\\s+", " ");
            return address + "\t" + (first ? "registry" : "stub") + ": " + reason(error) + "\t" + words;
        }
    }

    private static List<Throwable> below(Throwable error) {
        return java.util.stream.Stream.iterate(error, one -> one != null, JmxClient::cause).limit(12).toList();
    }

    private static Throwable cause(Throwable error) {
        if (error instanceof NamingException naming && naming.getRootCause() != null) {
            return naming.getRootCause();
        }
        return error.getCause();
    }

    private static String reason(Throwable error) {
        for (Throwable one : below(error)) {
            String said = String.valueOf(one.getMessage());
            if (one instanceof UnknownHostException) {
                return "unresolved";
            } else if (one instanceof SocketTimeoutException) {
                return "timeout";
            } else if (one instanceof NoRouteToHostException || said.contains("unreachable")) {
                return "unreachable";
            } else if (one instanceof ConnectException && said.contains("refused")) {
                return "refused";
            } else if (one instanceof EOFException || one instanceof SocketException) {
                return "closed";
            }
        }
        return "not-jmx";
    }
}
