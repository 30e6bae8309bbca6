package io.loadline.micronaut;

import io.loadline.service.Telemetry;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.MediaType;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;

@Controller
class OperationsController {
    private final Telemetry telemetry;

    OperationsController(Telemetry telemetry) {
        this.telemetry = telemetry;
    }

    @Get(uri = "/healthz", produces = MediaType.TEXT_PLAIN)
    String health() {
        return "ok";
    }

    @Get(uri = "/metrics", produces = MediaType.TEXT_PLAIN)
    HttpResponse<String> metrics() {
        return HttpResponse.ok(telemetry.scrape()).header("Content-Type", Telemetry.CONTENT_TYPE);
    }
}
