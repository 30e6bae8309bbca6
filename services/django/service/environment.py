"""What the environment says about how the service runs; a bad value ends the process with its name."""

import multiprocessing
import os
import re
import sys
from typing import NoReturn

MODES = ["platform"]


def fail(reason: str) -> NoReturn:
    print(f"error: {reason}", file=sys.stderr)
    sys.exit(2)


def number(name: str, missing: int, least: int, most: int) -> int:
    text = os.environ.get(name, str(missing))
    if re.fullmatch("[0-9]{1,9}", text) and least <= int(text) <= most:
        return int(text)
    fail(f'{name} must be a whole number from {least} to {most}, not "{text}"')


def mode() -> str:
    text = os.environ.get("MODE", MODES[0])
    return text if text in MODES else fail(f'MODE must be one of {", ".join(MODES)}, not "{text}"')


def delay() -> tuple[float, float]:
    """Two times in seconds."""
    text = os.environ.get("ORDERS_DELAY", "0ms..0ms")
    unit = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
    if parts := re.fullmatch(r"([0-9]+)(us|ms|s)\.\.([0-9]+)(us|ms|s)", text):
        shortest, longest = int(parts[1]) * unit[parts[2]], int(parts[3]) * unit[parts[4]]
        if shortest <= longest:
            return shortest, longest
    fail(f'ORDERS_DELAY must be two times, the shorter first, such as 1ms..5ms, not "{text}"')


PORT = number("PORT", 8080, 1, 65_535)
MODE = mode()
ORDERS = number("ORDERS", 1_000, 0, 1_000_000)
DELAY = delay()
# As many as gunicorn's guide recommends.
WORKERS = multiprocessing.cpu_count() * 2 + 1
# Of all workers about as many as Tomcat has, 200: a new connection has a thread until its first request comes, or for five seconds.
THREADS = max(1, 200 // WORKERS)
