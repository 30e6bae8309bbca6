// What probes saw in each slice, by the keys of the result, and how it is shown.
import type { Unit } from "./format";
import type { RunResult, Slice } from "./generated/result";

/** A counter is shown for each answered request, or for each second of the slice; a level as it is. */
type Per = "request" | "second" | "level";

export interface Probe {
  /** Keys under `observations`. */
  path: string[];
  label: string;
  unit: Unit;
  per: Per;
  /** Whether it is drawn before anybody asks for it, if anything was seen. */
  first?: boolean;
}

const KNOWN: Probe[] = [
  { path: ["service_cpu_ns"], label: "CPU per request", unit: "ns", per: "request", first: true },
  { path: ["throttled_ns"], label: "throttled, per second", unit: "ns", per: "second", first: true },
  { path: ["voluntary_switches"], label: "voluntary context switches per request", unit: "1", per: "request", first: true },
  { path: ["run_queue_wait_ns"], label: "run-queue wait per request", unit: "ns", per: "request", first: true },
  { path: ["machine", "steal_ns"], label: "stolen CPU, per second", unit: "ns", per: "second", first: true },
  { path: ["involuntary_switches"], label: "involuntary context switches per request", unit: "1", per: "request" },
  { path: ["service_user_ns"], label: "CPU in user mode per request", unit: "ns", per: "request" },
  { path: ["service_system_ns"], label: "CPU in the kernel per request", unit: "ns", per: "request" },
  { path: ["net_rx_softirqs"], label: "NET_RX softirqs per request", unit: "1", per: "request" },
  { path: ["net_tx_softirqs"], label: "NET_TX softirqs per request", unit: "1", per: "request" },
  { path: ["machine_busy_ns"], label: "all CPUs busy, per second", unit: "ns", per: "second" },
  { path: ["machine", "softirq_ns"], label: "CPU in softirqs, per second", unit: "ns", per: "second" },
  { path: ["tcp_retransmits"], label: "TCP retransmits per second", unit: "1", per: "second" },
  { path: ["memory_bytes"], label: "resident memory", unit: "bytes", per: "level" },
  { path: ["cgroup_memory_bytes"], label: "memory of the cgroup", unit: "bytes", per: "level" },
];

/** The probes of a run: the known ones, and those that it declares. */
export function probesOf(result: RunResult): Probe[] {
  const declared = (result.metrics ?? []).map(({ name, unit, kind, scope, figure }): Probe => {
    const per: Per = kind === "level" ? "level" : scope === "service" ? "request" : "second";
    const label = figure?.label.trim() ?? name;
    return { path: [name], label: per === "second" ? `${label}, per second` : label, unit, per };
  });
  return [...KNOWN, ...declared];
}

/** The value of a slice; undefined where nothing was seen. */
export function observed(slice: Slice, probe: Probe): number | undefined {
  let value: unknown = slice.observations;
  for (const key of probe.path) value = (value as Record<string, unknown> | null | undefined)?.[key];
  if (typeof value !== "number") return undefined;
  switch (probe.per) {
    case "level":
      return value;
    case "request":
      return slice.answered > 0 ? value / slice.answered : undefined;
    case "second":
      return slice.duration_s > 0 ? value / slice.duration_s : undefined;
  }
}
