package io.loadline.micronaut;

import io.loadline.service.Fibonacci;
import io.loadline.service.Order;
import io.loadline.service.Values;
import io.micronaut.context.annotation.Requires;
import io.micronaut.http.MediaType;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.QueryValue;
import io.micronaut.scheduling.TaskExecutors;
import io.micronaut.scheduling.annotation.ExecuteOn;
import java.util.List;

@Controller
@ExecuteOn(TaskExecutors.VIRTUAL)
@Requires(property = "service.mode", value = "virtual")
class VirtualController {
    private final Values values;
    private final OrderService orders;

    VirtualController(Values values, OrderService orders) {
        this.values = values;
        this.orders = orders;
    }

    @Get(uri = "/hello/virtual", produces = MediaType.TEXT_PLAIN)
    String hello(@QueryValue String key) {
        return values.get(key);
    }

    @Get("/api/orders")
    List<Order> orders() throws InterruptedException {
        return orders.fetch();
    }

    @Get(uri = "/cpu", produces = MediaType.TEXT_PLAIN)
    String cpu(@QueryValue String n) {
        return Long.toString(Fibonacci.of(Fibonacci.parse(n)));
    }
}
