package service

import (
	"context"
	"net/http"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/metric"
	sdk "go.opentelemetry.io/otel/sdk/metric"
)

// Those that OpenTelemetry's conventions give for http.server.request.duration.
var buckets = []float64{0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10}

// Telemetry is the metrics of a service: recorded with OpenTelemetry, read as Prometheus' text, and pushed if the environment says where to.
type Telemetry struct {
	// Handler answers with all metrics.
	Handler  http.Handler
	provider *sdk.MeterProvider
	requests metric.Float64Histogram
	fetches  metric.Float64Histogram
}

// NewTelemetry starts to push if the environment says where to.
func NewTelemetry() (*Telemetry, error) {
	registry := prometheus.NewRegistry()
	reader, err := exporter.New(exporter.WithRegisterer(registry))
	if err != nil {
		return nil, err
	}
	options := []sdk.Option{sdk.WithReader(reader)}
	if os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" {
		push, err := otlpmetrichttp.New(context.Background())
		if err != nil {
			return nil, err
		}
		options = append(options, sdk.WithReader(sdk.NewPeriodicReader(push)))
	}
	provider := sdk.NewMeterProvider(options...)
	requests, err := histogram(provider, "http.server.request.duration", "Duration of HTTP server requests.")
	if err != nil {
		return nil, err
	}
	fetches, err := histogram(provider, "order.fetch.latency", "Time to fetch all orders.")
	if err != nil {
		return nil, err
	}
	return &Telemetry{promhttp.HandlerFor(registry, promhttp.HandlerOpts{}), provider, requests, fetches}, nil
}

// Request counts an answered request, which came at start. The route is empty if it has none.
func (t *Telemetry) Request(ctx context.Context, method, route string, status int, start time.Time) {
	t.requests.Record(ctx, time.Since(start).Seconds(), metric.WithAttributes(
		attribute.String("http.request.method", method),
		attribute.String("http.route", route),
		attribute.Int("http.response.status_code", status),
	))
}

// Fetch counts that all orders were fetched.
func (t *Telemetry) Fetch(ctx context.Context, start time.Time) {
	t.fetches.Record(ctx, time.Since(start).Seconds())
}

// Close pushes what was not pushed yet.
func (t *Telemetry) Close(ctx context.Context) error {
	return t.provider.Shutdown(ctx)
}

func histogram(provider *sdk.MeterProvider, name, description string) (metric.Float64Histogram, error) {
	return provider.Meter("loadline.io/services").Float64Histogram(name,
		metric.WithUnit("s"), metric.WithDescription(description), metric.WithExplicitBucketBoundaries(buckets...))
}
