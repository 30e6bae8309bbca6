package io.loadline.quarkus;

import io.loadline.service.Fibonacci;
import io.loadline.service.Order;
import io.loadline.service.Values;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.util.List;
import org.jboss.resteasy.reactive.RestQuery;

@Path("/virtual")
@RunOnVirtualThread
public class VirtualResource {
    private final Values values;
    private final OrderService orders;

    VirtualResource(Values values, OrderService orders) {
        this.values = values;
        this.orders = orders;
    }

    @GET
    @Path("/hello/virtual")
    @Produces(MediaType.TEXT_PLAIN)
    public String hello(@RestQuery String key) {
        return values.get(Parameters.required("key", key));
    }

    @GET
    @Path("/api/orders")
    public List<Order> orders() throws InterruptedException {
        return orders.fetch();
    }

    @GET
    @Path("/cpu")
    @Produces(MediaType.TEXT_PLAIN)
    public String cpu(@RestQuery String n) {
        return Long.toString(Fibonacci.of(Fibonacci.parse(n)));
    }
}
