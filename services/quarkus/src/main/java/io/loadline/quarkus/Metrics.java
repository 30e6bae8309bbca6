package io.loadline.quarkus;

import io.loadline.service.Settings;
import io.loadline.service.Telemetry;
import io.quarkus.vertx.http.runtime.filters.Filters;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.util.Set;

/** A filter of Quarkus' HTTP layer, since those of Jakarta REST do not see requests that no resource answers. */
@Singleton
class Metrics {
    private static final Set<String> NOT_COUNTED = Set.of("/healthz", "/metrics");
    private static final int PRIORITY = 100;

    private final Telemetry telemetry;
    private final Set<String> routes;

    Metrics(Telemetry telemetry, Settings settings) {
        this.telemetry = telemetry;
        routes = Set.of("/hello/" + settings.mode(), "/api/orders", "/cpu");
    }

    void register(@Observes Filters filters) {
        filters.register(this::count, PRIORITY);
    }

    private void count(RoutingContext context) {
        var path = context.request().path();
        if (!NOT_COUNTED.contains(path)) {
            var start = System.nanoTime();
            var method = context.request().method().name();
            var route = routes.contains(path) ? path : null;
            context.addEndHandler(end -> telemetry.request(method, route, context.response().getStatusCode(), start));
        }
        context.next();
    }
}
