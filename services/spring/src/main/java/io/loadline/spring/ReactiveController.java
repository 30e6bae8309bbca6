package io.loadline.spring;

import static org.springframework.http.MediaType.TEXT_PLAIN_VALUE;

import io.loadline.service.Fibonacci;
import io.loadline.service.Order;
import io.loadline.service.Values;
import java.util.List;
import org.springframework.context.annotation.Profile;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

@RestController
@Profile("reactive")
class ReactiveController {
    private final Values values;
    private final OrderService orders;

    ReactiveController(Values values, OrderService orders) {
        this.values = values;
        this.orders = orders;
    }

    @GetMapping(path = "/hello/reactive", produces = TEXT_PLAIN_VALUE)
    Mono<String> hello(@RequestParam String key) {
        return Mono.fromSupplier(() -> values.get(key));
    }

    @GetMapping("/api/orders")
    Mono<List<Order>> orders() {
        return orders.fetchReactively();
    }

    @GetMapping(path = "/cpu", produces = TEXT_PLAIN_VALUE)
    Mono<String> cpu(@RequestParam String n) {
        return Mono.fromSupplier(() -> Long.toString(Fibonacci.of(Fibonacci.parse(n))));
    }
}
