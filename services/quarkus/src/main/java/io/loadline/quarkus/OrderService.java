package io.loadline.quarkus;

import io.loadline.service.Order;
import io.loadline.service.Orders;
import io.loadline.service.Telemetry;
import io.smallrye.mutiny.Uni;
import jakarta.inject.Singleton;
import java.util.List;

@Singleton
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
            Thread.sleep(delay);
        }
        telemetry.fetch(start);
        return orders.all();
    }

    Uni<List<Order>> fetchReactively() {
        return Uni.createFrom().deferred(() -> {
            var start = System.nanoTime();
            var delay = orders.nextDelay();
            var all = Uni.createFrom().item(orders.all());
            return (delay.isZero() ? all : all.onItem().delayIt().by(delay)).invoke(() -> telemetry.fetch(start));
        });
    }
}
