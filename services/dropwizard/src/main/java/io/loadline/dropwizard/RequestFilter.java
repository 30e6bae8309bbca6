package io.loadline.dropwizard;

import io.loadline.service.Telemetry;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerRequestFilter;
import jakarta.ws.rs.container.ContainerResponseContext;
import jakarta.ws.rs.container.ContainerResponseFilter;
import jakarta.ws.rs.container.PreMatching;
import java.util.Set;
import org.glassfish.jersey.server.ExtendedUriInfo;

/** Counts each request but those about the service itself. */
@PreMatching
public final class RequestFilter implements ContainerRequestFilter, ContainerResponseFilter {
    private static final Set<String> NOT_COUNTED = Set.of("healthz", "metrics");
    private static final String START = "start";

    private final Telemetry telemetry;

    RequestFilter(Telemetry telemetry) {
        this.telemetry = telemetry;
    }

    @Override
    public void filter(ContainerRequestContext request) {
        request.setProperty(START, System.nanoTime());
    }

    @Override
    public void filter(ContainerRequestContext request, ContainerResponseContext response) {
        if (!NOT_COUNTED.contains(request.getUriInfo().getPath())) {
            var templates = ((ExtendedUriInfo) request.getUriInfo()).getMatchedTemplates();
            var route = templates.isEmpty() ? null : templates.getLast().getTemplate();
            telemetry.request(request.getMethod(), route, response.getStatus(), (long) request.getProperty(START));
        }
    }
}
