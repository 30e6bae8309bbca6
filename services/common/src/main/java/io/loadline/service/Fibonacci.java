package io.loadline.service;

/** The work of {@code /cpu}. */
public final class Fibonacci {
    private static final int LARGEST = 45;

    private Fibonacci() {
    }

    /** The N of a request; an {@link IllegalArgumentException} if there is none or it is out of range, which is a 400. */
    public static int parse(String text) {
        try {
            var n = Integer.parseInt(text);
            if (n >= 0 && n <= LARGEST) {
                return n;
            }
        } catch (NumberFormatException e) {
            // said below
        }
        throw new IllegalArgumentException("n must be a whole number from 0 to " + LARGEST);
    }

    public static long of(int n) {
        return n < 2 ? n : of(n - 1) + of(n - 2);
    }
}
