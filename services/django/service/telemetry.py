"""The metrics of this worker: recorded with OpenTelemetry, read by Prometheus' client, and pushed if the environment says where to."""

import os
from collections.abc import Callable
from time import perf_counter

from django.http import HttpRequest, HttpResponse
from opentelemetry.exporter.prometheus import PrometheusMetricReader
from opentelemetry.sdk.metrics import Histogram, MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from prometheus_client import CollectorRegistry

# Those that OpenTelemetry's conventions give for http.server.request.duration.
BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0]
NOT_COUNTED = ["healthz", "metrics"]

registry = CollectorRegistry()
_readers = [PrometheusMetricReader(disable_target_info=True, registry=registry)]
if os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT"):
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter

    _readers.append(PeriodicExportingMetricReader(OTLPMetricExporter()))
# Each worker pushes what it has counted; at its end, what it has not pushed yet.
_meter = MeterProvider(_readers, Resource.create({"service.instance.id": str(os.getpid())})).get_meter("service")


def _histogram(name: str, description: str) -> Histogram:
    return _meter.create_histogram(name, "s", description, explicit_bucket_boundaries_advisory=BUCKETS)


_requests = _histogram("http.server.request.duration", "Duration of HTTP server requests.")
_fetches = _histogram("order.fetch.latency", "Time to fetch all orders.")


def fetched(start: float) -> None:
    """Counts that all orders were fetched; `start` is what perf_counter() said before."""
    _fetches.record(perf_counter() - start)


def metered(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """A middleware that counts requests."""

    def answer(request: HttpRequest) -> HttpResponse:
        start = perf_counter()
        response = get_response(request)
        route = request.resolver_match.route if request.resolver_match else None
        if route not in NOT_COUNTED:
            _requests.record(perf_counter() - start, {
                "http.request.method": request.method,
                "http.route": f"/{route}" if route else "",
                "http.response.status_code": response.status_code,
            })
        return response

    return answer
