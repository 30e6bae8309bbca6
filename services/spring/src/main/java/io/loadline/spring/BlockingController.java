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

@RestController
@Profile("!reactive")
class BlockingController {
    private final Values values;
    private final OrderService orders;

    BlockingController(Values values, OrderService orders) {
        this.values = values;
        this.orders = orders;
    }

    @GetMapping(path = "/hello/${MODE:platform}", produces = TEXT_PLAIN_VALUE)
    String hello(@RequestParam String key) {
        return values.get(key);
    }

    @GetMapping("/api/orders")
    List<Order> orders() throws InterruptedException {
        return orders.fetch();
    }

    @GetMapping(path = "/cpu", produces = TEXT_PLAIN_VALUE)
    String cpu(@RequestParam String n) {
        return Long.toString(Fibonacci.of(Fibonacci.parse(n)));
    }
}
