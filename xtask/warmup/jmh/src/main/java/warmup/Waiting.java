package warmup;

import java.io.IOException;
import java.io.RandomAccessFile;

/** How long this thread was ready and waited for a CPU: field 2 of its schedstat. */
final class Waiting {
    private final RandomAccessFile file;
    private final byte[] bytes = new byte[100];

    Waiting() {
        try {
            file = new RandomAccessFile("/proc/thread-self/schedstat", "r");
        } catch (IOException error) {
            throw new IllegalStateException(error);
        }
    }

    /** Nanoseconds so far. */
    long now() {
        try {
            file.seek(0);
            int length = file.read(bytes);
            int at = 0;
            while (bytes[at] != ' ') {
                at++;
            }
            long value = 0;
            for (at++; at < length && bytes[at] != ' '; at++) {
                value = 10 * value + bytes[at] - '0';
            }
            return value;
        } catch (IOException error) {
            throw new IllegalStateException(error);
        }
    }
}
