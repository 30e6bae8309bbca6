package io.loadline.vertx;

import io.loadline.service.Fibonacci;
import io.loadline.service.Order;
import io.loadline.service.Orders;
import io.loadline.service.Settings;
import io.loadline.service.Telemetry;
import io.loadline.service.Values;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.http.HttpServer;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

final class HttpVerticle extends VerticleBase {
    private static final Set<String> NOT_COUNTED = Set.of("/healthz", "/metrics");

    private final Settings settings;
    private final Values values;
    private final Orders orders;
    private final Telemetry telemetry;
    private HttpServer server;

    HttpVerticle(Settings settings, Values values, Orders orders, Telemetry telemetry) {
        this.settings = settings;
        this.values = values;
        this.orders = orders;
        this.telemetry = telemetry;
    }

    @Override
    public Future<?> start() {
        server = vertx.createHttpServer().requestHandler(router());
        return server.listen(settings.port());
    }

    @Override
    public Future<?> stop() {
        return server.shutdown(5, TimeUnit.SECONDS);
    }

    private Router router() {
        var router = Router.router(vertx);
        router.route().handler(this::count);
        router.get("/hello/reactive").handler(this::hello);
        router.get("/api/orders").handler(this::orders).failureHandler(HttpVerticle::tellReason);
        router.get("/cpu").handler(this::cpu);
        router.get("/healthz").handler(context -> context.end());
        router.get("/metrics").handler(context -> text(context, Telemetry.CONTENT_TYPE, telemetry.scrape()));
        return router;
    }

    private void hello(RoutingContext context) {
        var key = context.request().getParam("key");
        if (key == null) {
            context.response().setStatusCode(400).end("key is missing");
        } else {
            text(context, "text/plain", values.get(key));
        }
    }

    private void orders(RoutingContext context) {
        fetch().onSuccess(context::json).onFailure(context::fail);
    }

    private Future<List<Order>> fetch() {
        var start = System.nanoTime();
        var delay = orders.nextDelay();
        var waited = delay.isZero() ? Future.succeededFuture() : vertx.timer(delay.toNanos(), TimeUnit.NANOSECONDS);
        return waited.map(ignored -> orders.all()).onSuccess(all -> telemetry.fetch(start));
    }

    private void cpu(RoutingContext context) {
        int n;
        try {
            n = Fibonacci.parse(context.request().getParam("n"));
        } catch (IllegalArgumentException e) {
            context.response().setStatusCode(400).end(e.getMessage());
            return;
        }
        vertx.executeBlocking(() -> Fibonacci.of(n), false)
                .onSuccess(number -> text(context, "text/plain", Long.toString(number)))
                .onFailure(context::fail);
    }

    private void count(RoutingContext context) {
        if (!NOT_COUNTED.contains(context.normalizedPath())) {
            var start = System.nanoTime();
            context.addEndHandler(ended -> telemetry.request(
                    context.request().method().name(), route(context), context.response().getStatusCode(), start));
        }
        context.next();
    }

    private static String route(RoutingContext context) {
        var route = context.currentRoute();
        return route == null ? null : route.getPath();
    }

    private static void text(RoutingContext context, String type, String body) {
        context.response().putHeader("Content-Type", type).end(body);
    }

    private static void tellReason(RoutingContext context) {
        context.response().setStatusCode(500).putHeader("X-Error", String.valueOf(context.failure())).end();
    }
}
