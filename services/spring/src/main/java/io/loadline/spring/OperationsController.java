package io.loadline.spring;

import io.loadline.service.Telemetry;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
class OperationsController {
    private final Telemetry telemetry;

    OperationsController(Telemetry telemetry) {
        this.telemetry = telemetry;
    }

    @GetMapping("/healthz")
    String health() {
        return "ok";
    }

    @GetMapping("/metrics")
    ResponseEntity<String> metrics() {
        return ResponseEntity.ok().header("Content-Type", Telemetry.CONTENT_TYPE).body(telemetry.scrape());
    }
}
