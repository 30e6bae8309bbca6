package io.loadline.dropwizard;

import io.loadline.service.Values;
import jakarta.ws.rs.BadRequestException;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;

@Path("/hello/platform")
@Produces(MediaType.TEXT_PLAIN)
public final class HelloResource {
    private final Values values;

    HelloResource(Values values) {
        this.values = values;
    }

    @GET
    public String hello(@QueryParam("key") String key) {
        if (key == null) {
            throw new BadRequestException("key is missing");
        }
        return values.get(key);
    }
}
