package io.loadline.quarkus;

import io.loadline.service.Settings;
import jakarta.ws.rs.container.ContainerRequestContext;
import java.util.Set;
import org.jboss.resteasy.reactive.server.ServerRequestFilter;

/**
 * Sends requests to the resource of the mode. The annotations that say on which thread a method runs are read when Quarkus builds the
 * service, so there is a resource for each mode, below the path of its name.
 */
class Modes {
    private static final Set<String> IN_ALL_MODES = Set.of("/healthz", "/metrics");

    private final String prefix;

    Modes(Settings settings) {
        prefix = "/" + settings.mode();
    }

    @ServerRequestFilter(preMatching = true)
    public void route(ContainerRequestContext request) {
        var uri = request.getUriInfo();
        if (!IN_ALL_MODES.contains(uri.getPath())) {
            request.setRequestUri(uri.getRequestUriBuilder().replacePath(prefix + uri.getPath()).build());
        }
    }
}
