package work;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** Ten benchmarks of the same loop with another length; with EXTRA = 1 the fourth makes 5 % more steps. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class Work {
    static final int EXTRA = 0;

    @Param({"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"})
    public int number;

    @Benchmark
    public long work() {
        int steps = 10000 + 2000 * number;
        if (number == 4) {
            steps += steps / 20 * EXTRA;
        }
        long x = 88172645463325252L;
        for (int step = 0; step < steps; step++) {
            x = (x ^ (x >>> 12)) * 2685821657736338717L;
        }
        return x;
    }
}
