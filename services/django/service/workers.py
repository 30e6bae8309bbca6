"""The metrics of all workers. Each is a process that has counted its own requests, and hands its metrics to whichever is asked for all."""

import os
import pathlib
import threading
from collections.abc import Iterable
from multiprocessing.connection import Client, Listener

from prometheus_client import CollectorRegistry, Metric, generate_latest

from .environment import WORKERS
from .telemetry import registry

# Shared by the workers of one gunicorn.
_SOCKETS = pathlib.Path(f"/tmp/service-{os.getppid()}")


def share() -> None:
    """Hands the metrics of this worker to whoever asks, as long as it lives."""
    _SOCKETS.mkdir(mode=0o700, exist_ok=True)
    address = _SOCKETS / str(os.getpid())
    address.unlink(missing_ok=True)
    listener = Listener(str(address))

    def serve() -> None:
        while True:
            with listener.accept() as asker:
                asker.send(list(registry.collect()))

    threading.Thread(target=serve, daemon=True).start()


def all_are_up() -> bool:
    """gunicorn takes the end of a worker that is still starting for a failure."""
    return len(list(_SOCKETS.iterdir())) >= WORKERS


def unshare() -> None:
    (_SOCKETS / str(os.getpid())).unlink(missing_ok=True)
    try:
        _SOCKETS.rmdir()
    except OSError:
        pass  # other workers still share theirs


def metrics_of_all() -> bytes:
    sums = CollectorRegistry()
    sums.register(_Sums())
    return generate_latest(sums)


class _Sums:
    """A collector of Prometheus' client."""

    def collect(self) -> Iterable[Metric]:
        sums: dict[str, Metric] = {}
        values: dict[tuple, float] = {}
        for metric in _metrics_of_each():
            sums.setdefault(metric.name, metric)
            for sample in metric.samples:
                key = metric.name, sample.name, tuple(sorted(sample.labels.items()))
                values[key] = values.get(key, 0.0) + sample.value
        for metric in sums.values():
            metric.samples = []
        for (name, sample, labels), value in values.items():
            sums[name].add_sample(sample, dict(labels), value)
        return sums.values()


def _metrics_of_each() -> Iterable[Metric]:
    for address in _SOCKETS.iterdir():
        try:
            with Client(str(address)) as worker:
                yield from worker.recv()
        except (ConnectionError, EOFError, FileNotFoundError):
            continue  # it has ended meanwhile
