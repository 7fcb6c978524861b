package warmup;

/** Times iterations itself: a line of seconds and seconds waited for each, after the last. */
public final class Plain {
    public static void main(String[] arguments) {
        int iterations = Integer.parseInt(arguments[1]);
        Programs programs = new Programs(arguments[0], iterations);
        Waiting waiting = new Waiting();
        long[] times = new long[iterations];
        long[] waited = new long[iterations];
        double sink = 0;
        for (int i = 0; i < iterations; i++) {
            long waitedBefore = waiting.now();
            long start = System.nanoTime();
            sink += programs.iterate();
            times[i] = System.nanoTime() - start;
            waited[i] = waiting.now() - waitedBefore;
        }
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < iterations; i++) {
            lines.append(times[i] / 1e9).append(' ').append(waited[i] / 1e9).append('\n');
        }
        System.out.print(lines);
        System.err.println(sink);
    }
}
