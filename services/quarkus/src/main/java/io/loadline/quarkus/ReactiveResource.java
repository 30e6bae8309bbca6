package io.loadline.quarkus;

import io.loadline.service.Fibonacci;
import io.loadline.service.Order;
import io.loadline.service.Values;
import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.util.List;
import org.jboss.resteasy.reactive.RestQuery;

@Path("/reactive")
public class ReactiveResource {
    private final Values values;
    private final OrderService orders;

    ReactiveResource(Values values, OrderService orders) {
        this.values = values;
        this.orders = orders;
    }

    @GET
    @Path("/hello/reactive")
    @Produces(MediaType.TEXT_PLAIN)
    public Uni<String> hello(@RestQuery String key) {
        return Uni.createFrom().item(() -> values.get(Parameters.required("key", key)));
    }

    @GET
    @Path("/api/orders")
    public Uni<List<Order>> orders() {
        return orders.fetchReactively();
    }

    @GET
    @Path("/cpu")
    @Produces(MediaType.TEXT_PLAIN)
    public Uni<String> cpu(@RestQuery String n) {
        return Uni.createFrom().item(() -> Long.toString(Fibonacci.of(Fibonacci.parse(n))));
    }
}
