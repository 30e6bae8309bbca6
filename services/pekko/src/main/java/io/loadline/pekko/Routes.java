package io.loadline.pekko;

import static org.apache.pekko.http.javadsl.server.PathMatchers.segment;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.loadline.service.Fibonacci;
import io.loadline.service.Order;
import io.loadline.service.Orders;
import io.loadline.service.Telemetry;
import io.loadline.service.Values;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.http.javadsl.marshallers.jackson.Jackson;
import org.apache.pekko.http.javadsl.model.ContentTypes;
import org.apache.pekko.http.javadsl.model.HttpEntities;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.StatusCodes;
import org.apache.pekko.http.javadsl.model.headers.RawHeader;
import org.apache.pekko.http.javadsl.server.AllDirectives;
import org.apache.pekko.http.javadsl.server.ExceptionHandler;
import org.apache.pekko.http.javadsl.server.Route;

final class Routes extends AllDirectives {
    private final ObjectMapper json = new ObjectMapper();
    private final Values values;
    private final Orders orders;
    private final Telemetry telemetry;

    Routes(Values values, Orders orders, Telemetry telemetry) {
        this.values = values;
        this.orders = orders;
        this.telemetry = telemetry;
    }

    Route all() {
        return concat(
                path("healthz", () -> get(() -> complete(StatusCodes.OK))),
                path("metrics", () -> get(() -> complete(metrics()))),
                extractRequest(request -> counted(request, concat(
                        path(segment("hello").slash("reactive"), () -> get(() -> parameterOptional("key", this::hello))),
                        path(segment("api").slash("orders"), () -> get(() -> handleExceptions(tellReason(), this::orders))),
                        path("cpu", () -> get(() -> parameterOptional("n", this::cpu)))))));
    }

    private Route hello(Optional<String> key) {
        return key.map(each -> complete(values.get(each))).orElseGet(() -> complete(StatusCodes.BAD_REQUEST, "key is missing"));
    }

    private Route orders() {
        return completeOKWithFuture(fetch(), Jackson.marshaller(json));
    }

    private CompletionStage<List<Order>> fetch() {
        var start = System.nanoTime();
        var delay = orders.nextDelay();
        if (delay.isZero()) {
            return CompletableFuture.completedFuture(fetched(start));
        }
        var later = CompletableFuture.delayedExecutor(delay.toNanos(), TimeUnit.NANOSECONDS);
        return CompletableFuture.supplyAsync(() -> fetched(start), later);
    }

    private List<Order> fetched(long start) {
        var all = orders.all();
        telemetry.fetch(start);
        return all;
    }

    private Route cpu(Optional<String> n) {
        try {
            return complete(Long.toString(Fibonacci.of(Fibonacci.parse(n.orElse(null)))));
        } catch (IllegalArgumentException e) {
            return complete(StatusCodes.BAD_REQUEST, e.getMessage());
        }
    }

    private HttpResponse metrics() {
        var type = ContentTypes.parse(Telemetry.CONTENT_TYPE);
        return HttpResponse.create().withEntity(HttpEntities.create(type, telemetry.scrape().getBytes()));
    }

    /** Sealed, so that what no route answers is counted as well. */
    private Route counted(HttpRequest request, Route inner) {
        var start = System.nanoTime();
        return mapResponse(response -> {
            // No route has parameters, so a path that one answers is its name.
            var route = response.status().equals(StatusCodes.NOT_FOUND) ? null : request.getUri().path();
            telemetry.request(request.method().value(), route, response.status().intValue(), start);
            return response;
        }, inner::seal);
    }

    private ExceptionHandler tellReason() {
        return ExceptionHandler.newBuilder()
                .matchAny(e -> complete(HttpResponse.create()
                        .withStatus(StatusCodes.INTERNAL_SERVER_ERROR)
                        .addHeader(RawHeader.create("X-Error", e.toString()))))
                .build();
    }
}
