package warmup;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/** Small programs that warm up, slow down, stay or never settle; one iteration each time. */
final class Programs {
    interface Shape {
        double area(double x);
    }

    record Square() implements Shape {
        public double area(double x) {
            return x * x;
        }
    }

    record Circle() implements Shape {
        public double area(double x) {
            return 3.14 * x * x + 1;
        }
    }

    record Ring() implements Shape {
        public double area(double x) {
            return 6.28 * x - x * x;
        }
    }

    record Cross() implements Shape {
        public double area(double x) {
            return 5 * x + 2;
        }
    }

    private static final String WORDS =
        "the quick brown fox jumps over the lazy dog and the dog sleeps while the fox runs on and on";
    private static final Pattern PATTERN = Pattern.compile("(\\w+)@(\\w+)\\.(com|org)|(\\d+)-(\\d+)");

    private final String program;
    private final int iterations;
    private final Shape[] one = shapes(1);
    private final Shape[] mixed = shapes(4);
    private final List<Integer> grows = new ArrayList<>();
    private final byte[][] kept = new byte[2000][];
    private int i;

    Programs(String program, int iterations) {
        this.program = program;
        this.iterations = iterations;
    }

    /** Does one iteration. */
    double iterate() {
        int at = i++;
        switch (program) {
            case "tree":
                return evaluate(18, at);
            case "words": {
                double sum = 0;
                for (int k = 0; k < 96; k++) {
                    sum += words(at + k);
                }
                return sum;
            }
            case "shapes":
                // From three tenths on the call has four targets, and is no longer inlined.
                return sum(at < 3 * iterations / 10 ? one : mixed, 1500);
            case "step":
                // Half the work from four tenths on, as after a late compilation.
                return evaluate(at < 4 * iterations / 10 ? 19 : 18, at);
            case "growing": {
                for (int k = 0; k < 40; k++) {
                    grows.add(grows.size());
                }
                double sum = 0;
                for (int k = 0; k < 300; k++) {
                    sum += grows.indexOf(grows.size() - 1 - k % 40);
                }
                return sum;
            }
            case "phases":
                // Other work by turns, as of a service with two kinds of requests.
                return at * 8 / iterations % 2 == 0 ? evaluate(19, at) : evaluate(18, at);
            case "garbage": {
                for (int k = 0; k < 12000; k++) {
                    kept[(at * 31 + k * 7) % kept.length] = new byte[1000];
                }
                return kept[at % kept.length] == null ? 0 : 1;
            }
            case "regex": {
                int found = 0;
                for (int k = 0; k < 300; k++) {
                    var matcher = PATTERN.matcher(WORDS + k + "-" + at + " someone@example.org");
                    while (matcher.find()) {
                        found++;
                    }
                }
                return found;
            }
            default:
                throw new IllegalArgumentException(program);
        }
    }

    private static int evaluate(int depth, int x) {
        if (depth == 0) {
            return x * 31 + 7;
        }
        int left = evaluate(depth - 1, x + depth);
        int right = evaluate(depth - 1, x ^ depth);
        return depth % 2 == 0 ? left + right : left ^ right;
    }

    private static double sum(Shape[] shapes, int rounds) {
        double total = 0;
        for (int round = 0; round < rounds; round++) {
            for (Shape shape : shapes) {
                total += shape.area(round);
            }
        }
        return total;
    }

    private static Shape[] shapes(int kinds) {
        Shape[] all = {new Square(), new Circle(), new Ring(), new Cross()};
        Shape[] shapes = new Shape[1000];
        for (int i = 0; i < shapes.length; i++) {
            shapes[i] = all[i % kinds];
        }
        return shapes;
    }

    private static int words(int x) {
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
}
