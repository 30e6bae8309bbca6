"""The cache behind /hello, warm from the start."""

from threading import Lock

from cachetools import LRUCache, cached


@cached(LRUCache(maxsize=10_000), lock=Lock())
def value_of(key: str) -> str:
    return f"value-{key}"


for warm in range(1_000):
    value_of(str(warm))
