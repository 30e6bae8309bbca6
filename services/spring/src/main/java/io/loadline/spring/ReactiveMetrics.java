package io.loadline.spring;

import io.loadline.service.Telemetry;
import java.util.Set;
import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;
import org.springframework.web.reactive.HandlerMapping;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;

@Component
@Profile("reactive")
class ReactiveMetrics implements WebFilter {
    private static final Set<String> NOT_COUNTED = Set.of("/healthz", "/metrics");

    private final Telemetry telemetry;

    ReactiveMetrics(Telemetry telemetry) {
        this.telemetry = telemetry;
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
        if (NOT_COUNTED.contains(exchange.getRequest().getPath().value())) {
            return chain.filter(exchange);
        }
        var start = System.nanoTime();
        exchange.getResponse().beforeCommit(() -> Mono.fromRunnable(() -> record(exchange, start)));
        return chain.filter(exchange);
    }

    private void record(ServerWebExchange exchange, long start) {
        var route = exchange.getAttribute(HandlerMapping.BEST_MATCHING_PATTERN_ATTRIBUTE);
        var status = exchange.getResponse().getStatusCode();
        telemetry.request(
                exchange.getRequest().getMethod().name(),
                route == null ? null : route.toString(),
                status == null ? 200 : status.value(),
                start);
    }
}
