package io.loadline.micronaut;

import io.loadline.service.Telemetry;
import io.micronaut.http.BasicHttpAttributes;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.annotation.RequestFilter;
import io.micronaut.http.annotation.ResponseFilter;
import io.micronaut.http.annotation.ServerFilter;
import java.util.Set;

@ServerFilter(ServerFilter.MATCH_ALL_PATTERN)
class Metrics {
    private static final Set<String> NOT_COUNTED = Set.of("/healthz", "/metrics");
    private static final String START = "metrics.start";

    private final Telemetry telemetry;

    Metrics(Telemetry telemetry) {
        this.telemetry = telemetry;
    }

    @RequestFilter
    void start(HttpRequest<?> request) {
        if (!NOT_COUNTED.contains(request.getPath())) {
            request.setAttribute(START, System.nanoTime());
        }
    }

    @ResponseFilter
    void record(HttpRequest<?> request, HttpResponse<?> response) {
        request.getAttribute(START, Long.class).ifPresent(start -> {
            var route = BasicHttpAttributes.getUriTemplate(request).orElse(null);
            telemetry.request(request.getMethodName(), route, response.code(), start);
        });
    }
}
