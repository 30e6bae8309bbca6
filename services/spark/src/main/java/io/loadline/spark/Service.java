package io.loadline.spark;

import static spark.Spark.afterAfter;
import static spark.Spark.awaitStop;
import static spark.Spark.before;
import static spark.Spark.exception;
import static spark.Spark.get;
import static spark.Spark.halt;
import static spark.Spark.port;
import static spark.Spark.stop;
import static spark.Spark.useVirtualThread;

import com.google.gson.Gson;
import io.loadline.service.Fibonacci;
import io.loadline.service.Order;
import io.loadline.service.Orders;
import io.loadline.service.Settings;
import io.loadline.service.Telemetry;
import io.loadline.service.Values;
import java.util.List;
import spark.Request;
import spark.Response;
import spark.embeddedserver.EmbeddedServers;
import spark.embeddedserver.jetty.EmbeddedJettyFactory;

public final class Service {
    private final Settings settings = Settings.fromEnvironment("platform", "virtual");
    private final Values values = new Values();
    private final Orders orders = new Orders(settings);
    private final Telemetry telemetry = new Telemetry();

    public static void main(String[] args) {
        new Service().start();
    }

    private void start() {
        port(settings.port());
        useVirtualThread(settings.mode().equals("virtual"));
        EmbeddedServers.add(EmbeddedServers.Identifiers.JETTY, new EmbeddedJettyFactory(new GracefulJetty()));
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            stop();
            awaitStop();
            telemetry.close();
        }));
        routes();
    }

    private void routes() {
        before((request, response) -> request.attribute("start", System.nanoTime()));
        afterAfter(this::count);
        get("/hello/" + settings.mode(), this::hello);
        get("/api/orders", this::orders, new Gson()::toJson);
        get("/cpu", this::cpu);
        get("/healthz", (request, response) -> "");
        get("/metrics", (request, response) -> {
            response.type(Telemetry.CONTENT_TYPE);
            return telemetry.scrape();
        });
        exception(Exception.class, (e, request, response) -> {
            response.status(500);
            response.header("X-Error", e.toString());
        });
    }

    private String hello(Request request, Response response) {
        var key = request.queryParams("key");
        if (key == null) {
            throw halt(400, "key is missing");
        }
        response.type("text/plain");
        return values.get(key);
    }

    private List<Order> orders(Request request, Response response) throws InterruptedException {
        var start = System.nanoTime();
        var delay = orders.nextDelay();
        if (!delay.isZero()) {
            Thread.sleep(delay);
        }
        var all = orders.all();
        telemetry.fetch(start);
        response.type("application/json");
        return all;
    }

    private long cpu(Request request, Response response) {
        response.type("text/plain");
        try {
            return Fibonacci.of(Fibonacci.parse(request.queryParams("n")));
        } catch (IllegalArgumentException e) {
            throw halt(400, e.getMessage());
        }
    }

    private void count(Request request, Response response) {
        var path = request.uri();
        if (!path.equals("/healthz") && !path.equals("/metrics")) {
            // No route has parameters, so a path that one answers is its name.
            var route = response.status() == 404 ? null : path;
            telemetry.request(request.requestMethod(), route, response.status(), request.attribute("start"));
        }
    }
}
