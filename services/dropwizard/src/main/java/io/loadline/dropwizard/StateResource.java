package io.loadline.dropwizard;

import io.loadline.service.Telemetry;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;

/** What is asked about the service itself. */
@Path("/")
public final class StateResource {
    private final Telemetry telemetry;

    StateResource(Telemetry telemetry) {
        this.telemetry = telemetry;
    }

    @GET
    @Path("healthz")
    @Produces(MediaType.TEXT_PLAIN)
    public String healthz() {
        return "";
    }

    @GET
    @Path("metrics")
    @Produces(Telemetry.CONTENT_TYPE)
    public String metrics() {
        return telemetry.scrape();
    }
}
