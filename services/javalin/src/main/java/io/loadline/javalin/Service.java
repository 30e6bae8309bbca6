package io.loadline.javalin;

import io.javalin.Javalin;
import io.javalin.config.RoutesConfig;
import io.javalin.http.BadRequestResponse;
import io.javalin.http.Context;
import io.loadline.service.Fibonacci;
import io.loadline.service.Orders;
import io.loadline.service.Settings;
import io.loadline.service.Telemetry;
import io.loadline.service.Values;

public final class Service {
    private final Settings settings = Settings.fromEnvironment("platform", "virtual");
    private final Values values = new Values();
    private final Orders orders = new Orders(settings);
    private final Telemetry telemetry = new Telemetry();

    public static void main(String[] args) {
        new Service().start();
    }

    private void start() {
        var app = Javalin.create(config -> {
            config.concurrency.useVirtualThreads = settings.mode().equals("virtual");
            config.jetty.modifyServer(server -> server.setStopTimeout(5_000));
            config.requestLogger.http(this::count);
            routes(config.routes);
        });
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            app.stop();
            telemetry.close();
        }));
        app.start(settings.port());
    }

    private void routes(RoutesConfig routes) {
        routes.get("/hello/" + settings.mode(), this::hello);
        routes.get("/api/orders", this::orders);
        routes.get("/cpu", this::cpu);
        routes.get("/healthz", context -> {});
        routes.get("/metrics", context -> context.contentType(Telemetry.CONTENT_TYPE).result(telemetry.scrape()));
        routes.exception(Exception.class, (e, context) -> context.status(500).header("X-Error", e.toString()));
    }

    private void hello(Context context) {
        context.result(values.get(context.queryParamAsClass("key", String.class).get()));
    }

    private void orders(Context context) throws InterruptedException {
        var start = System.nanoTime();
        var delay = orders.nextDelay();
        if (!delay.isZero()) {
            Thread.sleep(delay);
        }
        var all = orders.all();
        telemetry.fetch(start);
        context.json(all);
    }

    private void cpu(Context context) {
        try {
            context.result(Long.toString(Fibonacci.of(Fibonacci.parse(context.queryParam("n")))));
        } catch (IllegalArgumentException e) {
            throw new BadRequestResponse(e.getMessage());
        }
    }

    private void count(Context context, float milliseconds) {
        if (!context.path().equals("/healthz") && !context.path().equals("/metrics")) {
            var endpoint = context.endpoints().lastHttpEndpoint();
            telemetry.request(
                    context.method().name(),
                    endpoint == null ? null : endpoint.path,
                    context.statusCode(),
                    System.nanoTime() - (long) (milliseconds * 1e6));
        }
    }
}
