package io.loadline.helidon;

import io.helidon.http.HeaderNames;
import io.helidon.http.Status;
import io.helidon.logging.common.LogConfig;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.http.FilterChain;
import io.helidon.webserver.http.HttpRouting;
import io.helidon.webserver.http.RoutingRequest;
import io.helidon.webserver.http.RoutingResponse;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.loadline.service.Fibonacci;
import io.loadline.service.Order;
import io.loadline.service.Orders;
import io.loadline.service.Settings;
import io.loadline.service.Telemetry;
import io.loadline.service.Values;
import java.time.Duration;
import java.util.List;
import java.util.Set;

public final class Service {
    private static final Set<String> NOT_COUNTED = Set.of("/healthz", "/metrics");

    private final Settings settings = Settings.fromEnvironment("virtual");
    private final Values values = new Values();
    private final Orders orders = new Orders(settings);
    private final Telemetry telemetry = new Telemetry();

    public static void main(String[] args) {
        LogConfig.configureRuntime();
        new Service().start();
    }

    private void start() {
        Runtime.getRuntime().addShutdownHook(new Thread(telemetry::close));
        WebServer.builder()
                .port(settings.port())
                .shutdownGracePeriod(Duration.ofSeconds(5))
                .routing(this::routing)
                .build()
                .start();
    }

    private void routing(HttpRouting.Builder routing) {
        routing.addFilter(this::count)
                .get("/hello/virtual", this::hello)
                .get("/api/orders", this::orders)
                .get("/cpu", this::cpu)
                .get("/healthz", (request, response) -> response.send())
                .get("/metrics", (request, response) -> text(response, Telemetry.CONTENT_TYPE, telemetry.scrape()));
    }

    private void hello(ServerRequest request, ServerResponse response) {
        request.query().first("key").ifPresentOrElse(
                key -> text(response, "text/plain", values.get(key)),
                () -> response.status(Status.BAD_REQUEST_400).send("key is missing"));
    }

    private void orders(ServerRequest request, ServerResponse response) {
        try {
            response.send(fetch());
        } catch (InterruptedException e) {
            response.status(Status.INTERNAL_SERVER_ERROR_500).header("X-Error", e.toString()).send();
        }
    }

    private List<Order> fetch() throws InterruptedException {
        var start = System.nanoTime();
        var delay = orders.nextDelay();
        if (!delay.isZero()) {
            Thread.sleep(delay);
        }
        var all = orders.all();
        telemetry.fetch(start);
        return all;
    }

    private void cpu(ServerRequest request, ServerResponse response) {
        try {
            var n = Fibonacci.parse(request.query().first("n").orElse(null));
            text(response, "text/plain", Long.toString(Fibonacci.of(n)));
        } catch (IllegalArgumentException e) {
            response.status(Status.BAD_REQUEST_400).send(e.getMessage());
        }
    }

    /** Once it is sent, whatever answered it. A handler that throws answers past this, so those above do not. */
    private void count(FilterChain chain, RoutingRequest request, RoutingResponse response) {
        if (!NOT_COUNTED.contains(request.path().path())) {
            var start = System.nanoTime();
            response.whenSent(() -> telemetry.request(
                    request.prologue().method().text(), request.matchingPattern().orElse(null), response.status().code(), start));
        }
        chain.proceed();
    }

    private static void text(ServerResponse response, String type, String body) {
        response.header(HeaderNames.CONTENT_TYPE.defaultCase(), type).send(body);
    }
}
