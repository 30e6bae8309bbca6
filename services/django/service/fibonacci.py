"""The work of /cpu."""

import re

LARGEST = 45


def parse_n(text: str) -> int:
    """The N of a request; a ValueError if it is out of range, which is a 400."""
    if re.fullmatch("[0-9]{1,2}", text) and int(text) <= LARGEST:
        return int(text)
    raise ValueError(f"n must be a whole number from 0 to {LARGEST}")


def fibonacci(n: int) -> int:
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)
