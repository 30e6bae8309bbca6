package io.loadline.spring;

import io.loadline.service.Order;
import io.loadline.service.Orders;
import io.loadline.service.Telemetry;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.springframework.stereotype.Service;
import reactor.core.publisher.Mono;

@Service
class OrderService {
    private final Orders orders;
    private final Telemetry telemetry;

    OrderService(Orders orders, Telemetry telemetry) {
        this.orders = orders;
        this.telemetry = telemetry;
    }

    List<Order> fetch() throws InterruptedException {
        var start = System.nanoTime();
        var delay = orders.nextDelay();
        if (!delay.isZero()) {
            TimeUnit.NANOSECONDS.sleep(delay.toNanos());
        }
        telemetry.fetch(start);
        return orders.all();
    }

    Mono<List<Order>> fetchReactively() {
        return Mono.defer(() -> {
            var start = System.nanoTime();
            var delay = orders.nextDelay();
            var all = Mono.just(orders.all());
            return (delay.isZero() ? all : all.delayElement(delay)).doOnNext(fetched -> telemetry.fetch(start));
        });
    }
}
