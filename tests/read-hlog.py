"""Reads an HdrHistogram log with the public Python library, and prints as JSON what it holds under each tag:
the number of intervals, and of all of them together the count, quantiles and maximum in ns.
"""

import json
import sys

from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader

LONGEST_NS = 3_600_000_000_000
QUANTILES = [50, 90, 99, 99.9]

tags = {}
reader = HistogramLogReader(sys.argv[1], HdrHistogram(1, LONGEST_NS, 3))
while (interval := reader.get_next_interval_histogram()) is not None:
    found = tags.setdefault(interval.get_tag(), {"intervals": 0, "all": HdrHistogram(1, LONGEST_NS, 3)})
    found["intervals"] += 1
    found["all"].add(interval)

json.dump(
    {
        "start_time_s": reader.get_start_time_sec(),
        "tags": {
            tag: {
                "intervals": found["intervals"],
                "count": found["all"].get_total_count(),
                "quantiles_ns": [found["all"].get_value_at_percentile(percent) for percent in QUANTILES],
                "max_ns": found["all"].get_max_value(),
            }
            for tag, found in tags.items()
        },
    },
    sys.stdout,
)
