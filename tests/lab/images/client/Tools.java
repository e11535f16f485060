import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import org.apache.kafka.common.utils.Exit;

/**
 * Runs the main methods of Kafka's own console tools, many in one JVM.
 *
 * <p>One request a line on standard input: number, class, arguments, separated by tabs. One answer a
 * line on standard output: number, exit status, what the tool printed (base64). Each request has a
 * thread of its own, and the output of a thread and of the threads it starts is kept apart, so tools
 * that wait for a time-out do not hold up others.
 */
public final class Tools {
    private static final InheritableThreadLocal<ByteArrayOutputStream> OUTPUT =
            new InheritableThreadLocal<>();

    private static final class Ended extends RuntimeException {
        final int status;

        Ended(int status) {
            super("exit " + status, null, false, false);
            this.status = status;
        }
    }

    private static final class PerThread extends OutputStream {
        @Override
        public void write(int b) {
            ByteArrayOutputStream mine = OUTPUT.get();
            if (mine != null) {
                mine.write(b);
            }
        }

        @Override
        public void write(byte[] bytes, int from, int length) {
            ByteArrayOutputStream mine = OUTPUT.get();
            if (mine != null) {
                mine.write(bytes, from, length);
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        PrintStream answers = System.out;
        System.setOut(new PrintStream(new PerThread(), true));
        System.setErr(new PrintStream(new PerThread(), true));
        Exit.setExitProcedure((status, message) -> {
            throw new Ended(status);
        });
        Exit.setHaltProcedure((status, message) -> {
            throw new Ended(status);
        });
        BufferedReader requests =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            String[] words = line.split("\t", -1);
            Thread thread = new Thread(() -> answer(words, answers));
            thread.setDaemon(true);
            thread.start();
        }
        Runtime.getRuntime().halt(0);
    }

    private static void answer(String[] words, PrintStream answers) {
        ByteArrayOutputStream mine = new ByteArrayOutputStream();
        OUTPUT.set(mine);
        int status = run(words[1], Arrays.copyOfRange(words, 2, words.length));
        String printed = Base64.getEncoder().encodeToString(mine.toByteArray());
        synchronized (answers) {
            answers.println(words[0] + "\t" + status + "\t" + printed);
            answers.flush();
        }
    }

    private static int run(String name, String[] arguments) {
        try {
            Class.forName(name).getMethod("main", String[].class).invoke(null, (Object) arguments);
            return 0;
        } catch (InvocationTargetException error) {
            Throwable cause = error.getCause();
            if (cause instanceof Ended ended) {
                return ended.status;
            }
            // What the launcher would have printed for an uncaught exception.
            cause.printStackTrace();
            return 1;
        } catch (ReflectiveOperationException error) {
            error.printStackTrace();
            return 127;
        }
    }
}
