-- The metrics of every run of before, as its tables show them. What they were does not change with the probes of today.
ALTER TABLE run ADD COLUMN metrics TEXT NOT NULL DEFAULT '[]';
UPDATE run SET metrics = '[
    {"name": "time.wall", "unit": "ns", "scope": "measurement", "kind": "counter"},
    {"name": "cpu.observer", "unit": "ns", "scope": "measurement", "kind": "counter"},
    {"name": "cpu.service", "unit": "ns", "scope": "service", "kind": "counter", "figure": {"label": "CPU per request", "higher_is": "costlier", "primary": true}},
    {"name": "cpu.service.user", "unit": "ns", "scope": "service", "kind": "counter", "figure": {"label": "  user", "higher_is": "costlier"}},
    {"name": "cpu.service.system", "unit": "ns", "scope": "service", "kind": "counter", "figure": {"label": "  system", "higher_is": "costlier"}},
    {"name": "cpu.machine", "unit": "ns", "scope": "machine", "kind": "counter", "figure": {"label": "machine''s CPU per request", "higher_is": "costlier"}},
    {"name": "machine.cpus", "unit": "1", "scope": "measurement", "kind": "level"},
    {"name": "cpu.machine.user", "unit": "ns", "scope": "machine", "kind": "counter"},
    {"name": "cpu.machine.nice", "unit": "ns", "scope": "machine", "kind": "counter"},
    {"name": "cpu.machine.system", "unit": "ns", "scope": "machine", "kind": "counter"},
    {"name": "cpu.machine.idle", "unit": "ns", "scope": "machine", "kind": "counter"},
    {"name": "cpu.machine.iowait", "unit": "ns", "scope": "machine", "kind": "counter"},
    {"name": "cpu.machine.irq", "unit": "ns", "scope": "machine", "kind": "counter"},
    {"name": "cpu.machine.softirq", "unit": "ns", "scope": "machine", "kind": "counter"},
    {"name": "cpu.machine.steal", "unit": "ns", "scope": "machine", "kind": "counter"},
    {"name": "softirqs.net_rx", "unit": "1", "scope": "machine", "kind": "counter", "figure": {"label": "  NET_RX", "higher_is": "more"}},
    {"name": "softirqs.net_tx", "unit": "1", "scope": "machine", "kind": "counter", "figure": {"label": "  NET_TX", "higher_is": "more"}},
    {"name": "cpu.run_queue_wait", "unit": "ns", "scope": "service", "kind": "counter", "figure": {"label": "run-queue wait per request", "higher_is": "slower"}},
    {"name": "switches.voluntary", "unit": "1", "scope": "service", "kind": "counter", "figure": {"label": "  voluntary", "higher_is": "more"}},
    {"name": "switches.involuntary", "unit": "1", "scope": "service", "kind": "counter", "figure": {"label": "  involuntary", "higher_is": "more"}},
    {"name": "cpu.throttled", "unit": "ns", "scope": "service", "kind": "counter", "figure": {"label": "throttled per request", "higher_is": "slower"}},
    {"name": "throttling.periods", "unit": "1", "scope": "service", "kind": "counter"},
    {"name": "throttling.throttled_periods", "unit": "1", "scope": "service", "kind": "counter"},
    {"name": "tcp.retransmits", "unit": "1", "scope": "service", "kind": "counter", "figure": {"label": "TCP retransmits", "higher_is": "more"}},
    {"name": "memory.resident", "unit": "bytes", "scope": "service", "kind": "level", "figure": {"label": "resident memory", "higher_is": "costlier"}},
    {"name": "memory.peak", "unit": "bytes", "scope": "service", "kind": "level", "figure": {"label": "resident memory, peak", "higher_is": "costlier"}},
    {"name": "memory.cgroup", "unit": "bytes", "scope": "service", "kind": "level"},
    {"name": "memory.cgroup_peak", "unit": "bytes", "scope": "service", "kind": "level"}
]';

-- Each cell said what it is compared with.
UPDATE run SET plan = json_set(plan, '$.contrasts', json((
    SELECT json_group_array(json_object(
        'candidate', cell.key, 'baseline', json_extract(cell.value, '$.against'),
        'kind', iif(json_extract(cell.value, '$.role') = 'twin', 'noise', 'planned')))
    FROM json_each(run.plan, '$.cells') AS cell
    WHERE json_extract(cell.value, '$.against') IS NOT NULL)));
