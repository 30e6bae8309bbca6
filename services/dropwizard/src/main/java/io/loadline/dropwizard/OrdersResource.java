package io.loadline.dropwizard;

import io.loadline.service.Order;
import io.loadline.service.Orders;
import io.loadline.service.Telemetry;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.InternalServerErrorException;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.util.List;

@Path("/api/orders")
@Produces(MediaType.APPLICATION_JSON)
public final class OrdersResource {
    private final Orders orders;
    private final Telemetry telemetry;

    OrdersResource(Orders orders, Telemetry telemetry) {
        this.orders = orders;
        this.telemetry = telemetry;
    }

    @GET
    public List<Order> orders() {
        try {
            return fetch();
        } catch (InterruptedException e) {
            throw new InternalServerErrorException(Response.serverError().header("X-Error", e.toString()).build());
        }
    }

    private List<Order> fetch() throws InterruptedException {
        var start = System.nanoTime();
        var delay = orders.nextDelay();
        if (!delay.isZero()) {
            Thread.sleep(delay);
        }
        var all = orders.all();
        telemetry.fetch(start);
        return all;
    }
}
