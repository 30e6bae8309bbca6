"""What is answered."""

from time import perf_counter

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_GET

from . import telemetry, workers
from .fibonacci import fibonacci, parse_n
from .orders import fetch_orders
from .values import value_of


@require_GET
def hello(request: HttpRequest) -> HttpResponse:
    key = request.GET.get("key")
    return text(value_of(key)) if key else text("key is missing", 400)


@require_GET
def orders(request: HttpRequest) -> HttpResponse:
    try:
        start = perf_counter()
        found = fetch_orders()
        telemetry.fetched(start)
        return JsonResponse(found, safe=False, json_dumps_params={"separators": (",", ":")})
    except Exception as error:
        return HttpResponse(status=500, headers={"X-Error": str(error)})


@require_GET
def cpu(request: HttpRequest) -> HttpResponse:
    try:
        n = parse_n(request.GET.get("n", ""))
    except ValueError as error:
        return text(str(error), 400)
    return text(str(fibonacci(n)))


def healthz(request: HttpRequest) -> HttpResponse:
    return text("ok") if workers.all_are_up() else text("some workers are still starting", 503)


def metrics(request: HttpRequest) -> HttpResponse:
    return text(workers.metrics_of_all())


def text(body: str | bytes, status: int = 200) -> HttpResponse:
    return HttpResponse(body, status=status, content_type="text/plain; charset=utf-8")
