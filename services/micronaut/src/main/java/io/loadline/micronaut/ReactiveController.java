package io.loadline.micronaut;

import io.loadline.service.Fibonacci;
import io.loadline.service.Order;
import io.loadline.service.Values;
import io.micronaut.context.annotation.Requires;
import io.micronaut.http.MediaType;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.QueryValue;
import java.util.List;
import reactor.core.publisher.Mono;

@Controller
@Requires(property = "service.mode", value = "reactive")
class ReactiveController {
    private final Values values;
    private final OrderService orders;

    ReactiveController(Values values, OrderService orders) {
        this.values = values;
        this.orders = orders;
    }

    @Get(uri = "/hello/reactive", produces = MediaType.TEXT_PLAIN)
    Mono<String> hello(@QueryValue String key) {
        return Mono.fromSupplier(() -> values.get(key));
    }

    @Get("/api/orders")
    Mono<List<Order>> orders() {
        return orders.fetchReactively();
    }

    @Get(uri = "/cpu", produces = MediaType.TEXT_PLAIN)
    Mono<String> cpu(@QueryValue String n) {
        return Mono.fromSupplier(() -> Long.toString(Fibonacci.of(Fibonacci.parse(n))));
    }
}
