package io.loadline.service;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** What the environment says about how the service runs. */
public record Settings(int port, String mode, int orders, Duration shortestDelay, Duration longestDelay) {
    private static final Pattern DELAYS = Pattern.compile("(\\d{1,9})(us|ms|s)\\.\\.(\\d{1,9})(us|ms|s)");

    /** Reads the environment of a service that has these modes, the default first; a bad value ends the process with its name. */
    public static Settings fromEnvironment(String... modes) {
        try {
            return of(System.getenv(), modes);
        } catch (IllegalArgumentException e) {
            System.err.println("error: " + e.getMessage());
            System.exit(2);
            throw e;
        }
    }

    static Settings of(Map<String, String> environment, String... modes) {
        var delays = delays(environment.getOrDefault("ORDERS_DELAY", "0ms..0ms"));
        return new Settings(
                number(environment, "PORT", 8080, 1, 65_535),
                mode(environment.getOrDefault("MODE", modes[0]), List.of(modes)),
                number(environment, "ORDERS", 1_000, 0, 1_000_000),
                delays[0],
                delays[1]);
    }

    private static int number(Map<String, String> environment, String name, int missing, int least, int most) {
        var text = environment.get(name);
        if (text == null) {
            return missing;
        }
        try {
            var number = Integer.parseInt(text);
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            // said below
        }
        throw new IllegalArgumentException("%s must be a whole number from %d to %d, not \"%s\"".formatted(name, least, most, text));
    }

    private static String mode(String text, List<String> modes) {
        if (!modes.contains(text)) {
            throw new IllegalArgumentException("MODE must be one of %s, not \"%s\"".formatted(String.join(", ", modes), text));
        }
        return text;
    }

    private static Duration[] delays(String text) {
        var parts = DELAYS.matcher(text);
        if (parts.matches()) {
            var shortest = duration(parts.group(1), parts.group(2));
            var longest = duration(parts.group(3), parts.group(4));
            if (shortest.compareTo(longest) <= 0) {
                return new Duration[] {shortest, longest};
            }
        }
        throw new IllegalArgumentException("ORDERS_DELAY must be two times, the shorter first, such as 1ms..5ms, not \"%s\"".formatted(text));
    }

    private static Duration duration(String number, String unit) {
        var count = Long.parseLong(number);
        return switch (unit) {
            case "us" -> Duration.ofNanos(count * 1_000);
            case "ms" -> Duration.ofMillis(count);
            default -> Duration.ofSeconds(count);
        };
    }
}
