package io.loadline.service;

import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.LongStream;

/** The orders of {@code /api/orders}, the same at each start, and how long a request for them takes. */
public final class Orders {
    private static final long SEED = 42;

    private final List<Order> all;
    private final Duration shortestDelay;
    private final Duration longestDelay;

    public Orders(Settings settings) {
        var random = new Random(SEED);
        all = LongStream.rangeClosed(1, settings.orders()).mapToObj(id -> order(id, random)).toList();
        shortestDelay = settings.shortestDelay();
        longestDelay = settings.longestDelay();
    }

    public List<Order> all() {
        return all;
    }

    /** How long the next request waits; it is up to the caller to wait as its mode does, and not at all for zero. */
    public Duration nextDelay() {
        if (longestDelay.isZero()) {
            return Duration.ZERO;
        }
        return Duration.ofNanos(ThreadLocalRandom.current().nextLong(shortestDelay.toNanos(), longestDelay.toNanos() + 1));
    }

    private static Order order(long id, Random random) {
        var cents = random.nextInt(10_00, 1000_00 + 1);
        return new Order(id, "Customer-" + id, cents / 100.0, random.nextBoolean() ? "SHIPPED" : "PROCESSING");
    }
}
