// The metrics: recorded with OpenTelemetry, read as Prometheus' text, and pushed if the environment says where to.
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';

// Those that OpenTelemetry's conventions give for http.server.request.duration.
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

const prometheus = new PrometheusExporter({ preventServerStart: true });
const readers = [prometheus];
if (process.env.OTEL_EXPORTER_OTLP_ENDPOINT) {
  const { OTLPMetricExporter } = await import('@opentelemetry/exporter-metrics-otlp-proto');
  readers.push(new PeriodicExportingMetricReader({ exporter: new OTLPMetricExporter() }));
}
const provider = new MeterProvider({ readers });
const requests = histogram('http.server.request.duration', 'Duration of HTTP server requests.');
const fetches = histogram('order.fetch.latency', 'Time to fetch all orders.');

// Counts an answered request; `start` is what performance.now() said when it came, `route` is empty if it has none.
export function countRequest(method, route, status, start) {
  requests.record(secondsSince(start), {
    'http.request.method': method,
    'http.route': route,
    'http.response.status_code': status,
  });
}

// Counts that all orders were fetched.
export function countFetch(start) {
  fetches.record(secondsSince(start));
}

// All metrics as Prometheus' text. Its names end in the unit, which the exporter leaves out, and all of these are seconds.
export async function scrape() {
  const { resourceMetrics } = await prometheus.collect();
  const named = ({ descriptor, ...metric }) => ({ ...metric, descriptor: { ...descriptor, name: `${descriptor.name}.seconds` } });
  const scopeMetrics = resourceMetrics.scopeMetrics.map((scope) => ({ ...scope, metrics: scope.metrics.map(named) }));
  return new PrometheusSerializer().serialize({ ...resourceMetrics, scopeMetrics });
}

// Pushes what was not pushed yet.
export function closeTelemetry() {
  return provider.shutdown();
}

function histogram(name, description) {
  return provider.getMeter('service').createHistogram(name, {
    unit: 's',
    description,
    advice: { explicitBucketBoundaries: BUCKETS },
  });
}

function secondsSince(start) {
  return (performance.now() - start) / 1000;
}
