import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Times iterations of a small program and prints one line of seconds for each, after the last. */
public final class Warmup {
    interface Shape {
        double area(double x);
    }

    static final class Square implements Shape {
        public double area(double x) {
            return x * x;
        }
    }

    static final class Circle implements Shape {
        public double area(double x) {
            return 3.14 * x * x + 1;
        }
    }

    static final class Ring implements Shape {
        public double area(double x) {
            return 6.28 * x - x * x;
        }
    }

    static final class Cross implements Shape {
        public double area(double x) {
            return 5 * x + 2;
        }
    }

    /** An expression tree, interpreted: what a JIT compiler takes some iterations to get fast. */
    static int evaluate(int depth, int x) {
        if (depth == 0) {
            return x * 31 + 7;
        }
        int left = evaluate(depth - 1, x + depth);
        int right = evaluate(depth - 1, x ^ depth);
        return depth % 2 == 0 ? left + right : left ^ right;
    }

    static double sum(Shape[] shapes, int rounds) {
        double total = 0;
        for (int round = 0; round < rounds; round++) {
            for (Shape shape : shapes) {
                total += shape.area(round);
            }
        }
        return total;
    }

    static Shape[] shapes(int kinds) {
        Shape[] all = {new Square(), new Circle(), new Ring(), new Cross()};
        Shape[] shapes = new Shape[1000];
        for (int i = 0; i < shapes.length; i++) {
            shapes[i] = all[i % kinds];
        }
        return shapes;
    }

    static final String WORDS =
        "the quick brown fox jumps over the lazy dog and the dog sleeps while the fox runs on and on";

    /** Counts words and sorts them: many small methods, each called some dozen times. */
    static int words(int x) {
        Map<String, Integer> counts = new TreeMap<>();
        for (String word : (WORDS + " " + x).split(" ")) {
            counts.merge(word.toUpperCase(), 1, Integer::sum);
        }
        StringBuilder text = new StringBuilder();
        counts.entrySet().stream()
            .sorted((a, b) -> b.getValue() - a.getValue())
            .forEach(entry -> text.append(entry.getKey()).append('=').append(entry.getValue()));
        return text.toString().hashCode() + String.format("%08x", x).length();
    }

    public static void main(String[] arguments) {
        String program = arguments[0];
        int iterations = Integer.parseInt(arguments[1]);
        long[] times = new long[iterations];
        double[] sink = new double[1];
        List<Integer> grows = new ArrayList<>();
        Shape[] one = shapes(1);
        Shape[] mixed = shapes(4);
        for (int i = 0; i < iterations; i++) {
            long start = System.nanoTime();
            switch (program) {
                case "tree":
                    sink[0] += evaluate(13, i);
                    break;
                case "words":
                    for (int k = 0; k < 16; k++) {
                        sink[0] += words(i + k);
                    }
                    break;
                case "shapes":
                    // From iteration 600 on the call has four targets, and is no longer inlined.
                    sink[0] += sum(i < 600 ? one : mixed, 100);
                    break;
                case "growing":
                    for (int k = 0; k < 20; k++) {
                        grows.add(grows.size());
                    }
                    for (int k = 0; k < 20; k++) {
                        sink[0] += grows.indexOf(grows.size() - 1 - k);
                    }
                    break;
                case "phases":
                    // Other work every 230 iterations, as of a service with two kinds of requests.
                    sink[0] += i / 230 % 2 == 0 ? evaluate(14, i) : evaluate(15, i);
                    break;
                default:
                    throw new IllegalArgumentException(program);
            }
            times[i] = System.nanoTime() - start;
        }
        StringBuilder lines = new StringBuilder();
        for (long time : times) {
            lines.append(time / 1e9).append('\n');
        }
        System.out.print(lines);
        System.err.println(sink[0]);
    }
}
