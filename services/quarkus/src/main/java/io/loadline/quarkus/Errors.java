package io.loadline.quarkus;

import jakarta.ws.rs.core.Response;
import org.jboss.resteasy.reactive.RestResponse;
import org.jboss.resteasy.reactive.server.ServerExceptionMapper;

class Errors {
    @ServerExceptionMapper
    public RestResponse<String> badRequest(IllegalArgumentException error) {
        return RestResponse.status(Response.Status.BAD_REQUEST, error.getMessage());
    }

    @ServerExceptionMapper({InterruptedException.class, IllegalStateException.class})
    public Response failed(Exception error) {
        return Response.serverError().header("X-Error", error.toString()).build();
    }
}
