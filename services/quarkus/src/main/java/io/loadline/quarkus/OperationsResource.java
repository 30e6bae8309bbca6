package io.loadline.quarkus;

import io.loadline.service.Telemetry;
import io.smallrye.common.annotation.NonBlocking;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;

@Path("/")
public class OperationsResource {
    private final Telemetry telemetry;

    OperationsResource(Telemetry telemetry) {
        this.telemetry = telemetry;
    }

    @GET
    @Path("/healthz")
    @Produces(MediaType.TEXT_PLAIN)
    @NonBlocking
    public String health() {
        return "ok";
    }

    @GET
    @Path("/metrics")
    public Response metrics() {
        return Response.ok(telemetry.scrape(), Telemetry.CONTENT_TYPE).build();
    }
}
