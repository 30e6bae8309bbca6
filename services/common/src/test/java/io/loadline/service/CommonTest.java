package io.loadline.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CommonTest {
    @Test
    void anEmptyEnvironmentHasTheContractsDefaults() {
        assertEquals(new Settings(8080, "platform", 1_000, Duration.ZERO, Duration.ZERO), settings(Map.of()));
    }

    @Test
    void badValuesAreRefusedByName() {
        for (var bad : Map.of("PORT", "http", "MODE", "green", "ORDERS", "-1", "ORDERS_DELAY", "5ms..1ms").entrySet()) {
            var error = assertThrows(IllegalArgumentException.class, () -> settings(Map.of(bad.getKey(), bad.getValue())));
            assertTrue(error.getMessage().startsWith(bad.getKey() + " must be "), error.getMessage());
        }
    }

    @Test
    void ordersAreTheSameEachTimeAndWithinTheirBounds() {
        var orders = new Orders(settings(Map.of())).all();
        assertEquals(orders, new Orders(settings(Map.of())).all());
        assertEquals(1_000, orders.size());
        for (var order : orders) {
            assertTrue(order.total() >= 10 && order.total() <= 1_000, order.toString());
        }
    }

    @Test
    void delaysAreWithinTheirBounds() {
        var orders = new Orders(settings(Map.of("ORDERS_DELAY", "1ms..5ms")));
        for (var i = 0; i < 1_000; i++) {
            var millis = orders.nextDelay().toNanos() / 1e6;
            assertTrue(millis >= 1 && millis <= 5, millis + " ms");
        }
        assertEquals(Duration.ZERO, new Orders(settings(Map.of())).nextDelay());
    }

    @Test
    void fibonacciNumbersAndTheirBounds() {
        assertEquals(6_765, Fibonacci.of(Fibonacci.parse("20")));
        for (var bad : new String[] {null, "", "x", "-1", "46"}) {
            assertThrows(IllegalArgumentException.class, () -> Fibonacci.parse(bad));
        }
    }

    @Test
    void metricsHaveTheContractsNames() {
        try (var telemetry = new Telemetry()) {
            telemetry.request("GET", "/cpu", 200, System.nanoTime());
            telemetry.fetch(System.nanoTime());
            var text = telemetry.scrape();
            assertTrue(text.contains("\norder_fetch_latency_seconds_count"), text);
            assertTrue(text.contains("\nhttp_server_request_duration_seconds_bucket{http_request_method=\"GET\",http_response_status_code=\"200\",http_route=\"/cpu\""), text);
        }
    }

    private static Settings settings(Map<String, String> environment) {
        return Settings.of(environment, "platform", "virtual");
    }
}
