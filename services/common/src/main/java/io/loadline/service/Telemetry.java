package io.loadline.service;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.metrics.DoubleHistogram;
import io.opentelemetry.api.metrics.Meter;
import io.opentelemetry.exporter.otlp.http.metrics.OtlpHttpMetricExporter;
import io.opentelemetry.exporter.prometheus.PrometheusMetricReader;
import io.opentelemetry.sdk.metrics.SdkMeterProvider;
import io.opentelemetry.sdk.metrics.export.PeriodicMetricReader;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** The metrics of a service: recorded with OpenTelemetry, read as Prometheus' text, and pushed if the environment says where to. */
public final class Telemetry implements AutoCloseable {
    public static final String CONTENT_TYPE = PrometheusTextFormatWriter.CONTENT_TYPE;

    private static final AttributeKey<String> METHOD = AttributeKey.stringKey("http.request.method");
    private static final AttributeKey<String> ROUTE = AttributeKey.stringKey("http.route");
    private static final AttributeKey<Long> STATUS = AttributeKey.longKey("http.response.status_code");
    /** Those that OpenTelemetry's conventions give for http.server.request.duration. */
    private static final List<Double> BUCKETS =
            List.of(0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0);

    private final PrometheusMetricReader reader = PrometheusMetricReader.create();
    private final PrometheusTextFormatWriter writer = PrometheusTextFormatWriter.create();
    private final SdkMeterProvider provider;
    private final DoubleHistogram requests;
    private final DoubleHistogram fetches;

    public Telemetry() {
        var builder = SdkMeterProvider.builder().registerMetricReader(reader);
        var endpoint = System.getenv("OTEL_EXPORTER_OTLP_ENDPOINT");
        if (endpoint != null && !endpoint.isBlank()) {
            builder.registerMetricReader(PeriodicMetricReader.create(
                    OtlpHttpMetricExporter.builder().setEndpoint(endpoint.replaceAll("/+$", "") + "/v1/metrics").build()));
        }
        provider = builder.build();
        var meter = provider.get("io.loadline.service");
        requests = histogram(meter, "http.server.request.duration", "Duration of HTTP server requests.");
        fetches = histogram(meter, "order.fetch.latency", "Time to fetch all orders.");
    }

    /** Counts an answered request; {@code startNanos} is what {@link System#nanoTime} said when it came. */
    public void request(String method, String route, int status, long startNanos) {
        requests.record(secondsSince(startNanos), Attributes.of(METHOD, method, ROUTE, route, STATUS, (long) status));
    }

    /** Counts that all orders were fetched. */
    public void fetch(long startNanos) {
        fetches.record(secondsSince(startNanos));
    }

    /** All metrics as Prometheus' text format. */
    public String scrape() {
        var text = new ByteArrayOutputStream();
        try {
            writer.write(text, reader.collect());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return text.toString(StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
        provider.close();
    }

    private static DoubleHistogram histogram(Meter meter, String name, String description) {
        return meter.histogramBuilder(name)
                .setUnit("s")
                .setDescription(description)
                .setExplicitBucketBoundariesAdvice(BUCKETS)
                .build();
    }

    private static double secondsSince(long startNanos) {
        return (System.nanoTime() - startNanos) / 1e9;
    }
}
