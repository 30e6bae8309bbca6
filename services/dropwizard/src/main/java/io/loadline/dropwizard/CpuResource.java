package io.loadline.dropwizard;

import io.loadline.service.Fibonacci;
import jakarta.ws.rs.BadRequestException;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;

@Path("/cpu")
@Produces(MediaType.TEXT_PLAIN)
public final class CpuResource {
    @GET
    public long cpu(@QueryParam("n") String n) {
        return Fibonacci.of(parse(n));
    }

    private static int parse(String n) {
        try {
            return Fibonacci.parse(n);
        } catch (IllegalArgumentException e) {
            throw new BadRequestException(e.getMessage());
        }
    }
}
