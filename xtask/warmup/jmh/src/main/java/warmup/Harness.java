package warmup;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** The same programs timed by JMH, each iteration one shot; prints beside how long each waited for a CPU. */
@State(Scope.Thread)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class Harness {
    @Param("words")
    public String program;

    @Param("500")
    public int iterations;

    private Programs programs;
    private Waiting waiting;
    private long before;
    private final List<Long> waited = new ArrayList<>();

    @Setup(Level.Trial)
    public void open() {
        programs = new Programs(program, iterations);
    }

    @Setup(Level.Iteration)
    public void start() {
        // JMH may give every iteration another thread.
        waiting = new Waiting();
        before = waiting.now();
    }

    @TearDown(Level.Iteration)
    public void stop() {
        waited.add(waiting.now() - before);
    }

    @TearDown(Level.Trial)
    public void print() {
        StringBuilder lines = new StringBuilder("\n");
        waited.forEach(one -> lines.append("waited ").append(one / 1e9).append('\n'));
        System.out.print(lines);
    }

    @Benchmark
    public double iterate() {
        return programs.iterate();
    }
}
