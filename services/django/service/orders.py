"""The orders of /api/orders, the same at each start."""

import random
import time

from . import environment

_seeded = random.Random(42)
_ALL = [
    {
        "id": number,
        "customerName": f"Customer-{number}",
        "total": _seeded.randint(10_00, 1000_00) / 100,
        "status": _seeded.choice(["SHIPPED", "PROCESSING"]),
    }
    for number in range(1, environment.ORDERS + 1)
]


def fetch_orders() -> list[dict]:
    """All of them, after the delay that the environment asks for."""
    shortest, longest = environment.DELAY
    if longest > 0:
        time.sleep(random.uniform(shortest, longest))
    return _ALL
