// Made of docs/result.schema.json by `npm run types`; change the model instead.

/**
 * A cell of a plan: a site under a load.
 */
export type CellId = number;
/**
 * Unit of a figure.
 */
export type Unit = "ns" | "1" | "/s" | "bytes";
/**
 * A unit of time that figures are published in.
 */
export type TimeUnit = "ns" | "us" | "ms" | "s";

/**
 * One run, measured and judged.
 */
export interface RunResult {
  /**
   * The most that services carry, of a run that searched for it; nothing is then compared otherwise.
   */
  capacities?: Capacities | null;
  /**
   * One per measured service × platform × load, and the twins; ordered by load.
   */
  cells: Cell[];
  /**
   * What somebody said, and what this run says of it, in the order of the experiment.
   */
  claims: ClaimResult[];
  /**
   * The conditions on which the run fails, and whether they hold.
   */
  conditions?: ConditionResult[];
  /**
   * What is compared with what, in the order of the experiment; the twins' contrasts are in `noise`.
   */
  contrasts: Contrast[];
  /**
   * What each layer costs, one ladder per load; empty unless platforms stand above each other.
   */
  ladders: Ladder[];
  machine: Machine;
  /**
   * The metrics that stand under their names in the slices' observations; the others say their unit in their key.
   */
  metrics?: MetricDeclaration[];
  /**
   * Each twin against the cell that it is the second deployment of: what is seen here is noise.
   */
  noise: Contrast[];
  /**
   * Sentences that a reader must know: what was left out, what was chosen automatically.
   */
  notes: string[];
  plan: PlanInfo;
  run: RunInfo;
  /**
   * The services' language runtimes, of those that have one that loadline knows, twins left out.
   */
  runtimes?: SiteRuntime[];
  /**
   * How throughput grows with connections, of what was measured in closed loops of at least four sizes.
   */
  scalability?: Scalability[];
  /**
   * Always [`SCHEMA`].
   */
  schema: string;
  /**
   * Every slice in the order of measurement, repeats and failures included.
   */
  slices: Slice[];
  /**
   * How the services' starts went, one per service and platform, twins left out.
   */
  starts: Start[];
  /**
   * What the daemons and clusters were, by the platforms' names.
   */
  surroundings: {
    [k: string]: Surroundings;
  };
  /**
   * Cells that differ in one number alone.
   */
  sweeps?: Sweep[];
  trust: Trust;
}
/**
 * What a search found.
 */
export interface Capacities {
  /**
   * All cells at the smallest of their capacities, compared block by block.
   */
  at_the_same_rate: Contrast[];
  /**
   * Each cell at its own capacity, compared block by block; and with `capacity` as a metric, what is in `differences`.
   */
  at_their_own: Contrast[];
  /**
   * The same, each with its metric and its bound; times in ns, `success` and `sent` as shares.
   */
  bounds?: Objective[];
  /**
   * One per cell, in the order of the plan.
   */
  cells: CellCapacity[];
  /**
   * Each candidate against its baseline, of those of which it is known what they carry for longer.
   */
  differences: CapacityDifference[];
  /**
   * What a slice had to meet, as it was written.
   */
  objectives: string[];
  /**
   * Half the width that each interval was to have, relative to the capacity.
   */
  precision: number;
}
/**
 * A cell against another one.
 */
export interface Contrast {
  /**
   * Index of the baseline cell.
   */
  baseline: number;
  /**
   * The response times of each request, where both cells have the same mix of several.
   */
  by_request?: RequestRows[];
  /**
   * Index of the compared cell.
   */
  candidate: number;
  /**
   * One row per metric, in the order in which a table shows them.
   */
  rows: Row[];
  /**
   * How what the profiler saw of the two differs; absent without profiles of both.
   */
  seen?: SeenDifference | null;
  /**
   * Index of the baseline's twin where it is pooled into the baseline: the rows' baseline is then the mean of both cells' figures.
   */
  twin?: CellId | null;
}
/**
 * One request of a mix, compared.
 */
export interface RequestRows {
  /**
   * Method and path.
   */
  request: string;
  /**
   * Its response times: p50, p90, p99 and mean. Holm's correction covers all requests and contrasts.
   */
  rows: Row[];
}
/**
 * One metric of a contrast.
 */
export interface Row {
  /**
   * The baseline's figure; with a pooled twin the mean of both figures.
   */
  baseline: number;
  /**
   * Block by block, in order of measurement: candidate − baseline of the slices' own figures; empty for what is seen once a deployment.
   */
  block_differences: number[];
  /**
   * What the run shows of the size of the difference: it is at most this, either way; the farther end of the 90 % interval, which
   * `equivalent` holds against the margin. Absent when nothing can be claimed.
   */
  bound?: number | null;
  /**
   * The candidate's figure.
   */
  candidate: number;
  /**
   * Degrees of freedom of its standard error: one fewer than there are deployments, or fewer where a tail rests on few of them. Absent where
   * there is no interval, and in results of older versions.
   */
  degrees_of_freedom?: number | null;
  /**
   * Candidate − baseline.
   */
  difference: number;
  /**
   * Candidate − baseline over the first attempts at all blocks, disturbed ones included; absent where it differs from `difference` by no
   * more than half of the interval, and for rows that are neither means nor tails.
   */
  first_attempts?: number | null;
  /**
   * Interval of the difference; absent when nothing can be claimed (too few blocks or requests).
   *
   * @minItems 2
   * @maxItems 2
   */
  interval?: [number, number] | null;
  /**
   * Label, `response p50`.
   */
  label: string;
  /**
   * Differences within ± this are equivalent; fixed before the run.
   */
  margin: number;
  /**
   * Id of the metric, `response.p50`.
   */
  metric: string;
  /**
   * Why there is no claim, or what to know of this row.
   */
  note?: string | null;
  /**
   * p-value of "the difference is as large as the margin, or larger": the larger one of two one-sided tests.
   */
  p_equivalent?: number | null;
  /**
   * p-value of "no difference", Holm-corrected over the contrasts of this metric; of a twin, over the primary metrics of all twins.
   */
  p_holm?: number | null;
  /**
   * Whether a short table shows it.
   */
  primary: boolean;
  /**
   * Difference ÷ baseline; absent when the baseline is zero.
   */
  relative?: number | null;
  /**
   * The difference that this run would have found with 95 % power, all contrasts of this metric corrected for; absent when nothing can be
   * claimed.
   */
  resolution?: number | null;
  /**
   * Whether both cells can be trusted; otherwise the verdict claims nothing, and reports show it in parentheses.
   */
  trusted?: boolean;
  /**
   * Unit of the figures below.
   */
  unit: "ns" | "1" | "/s" | "bytes";
  /**
   * The verdict.
   */
  verdict: "slower" | "faster" | "costlier" | "cheaper" | "more" | "fewer" | "equivalent" | "unresolved";
}
/**
 * What the profiler saw of a cell, less what it saw of its baseline.
 */
export interface SeenDifference {
  /**
   * Whether this and the contrast's difference of `cpu.path` are the same within a margin: 10 % of the difference, because sampling delays
   * what it watches, or the contrast's own margin if that is larger. `None` where the run cannot tell, and with fewer than four profiled
   * deployments.
   */
  agrees?: boolean | null;
  /**
   * By layer, the largest difference first.
   */
  layers: SeenLayer[];
  total: Estimate1;
}
/**
 * A layer's part of what was seen.
 */
export interface SeenLayer {
  difference: Estimate;
  /**
   * Its name.
   */
  layer: string;
}
/**
 * CPU time per request, ns.
 */
export interface Estimate {
  /**
   * Its interval; absent when nothing can be claimed.
   *
   * @minItems 2
   * @maxItems 2
   */
  interval?: [number, number] | null;
  /**
   * The figure.
   */
  value: number;
}
/**
 * CPU time per request, ns: the mean over deployments with Student's t interval.
 */
export interface Estimate1 {
  /**
   * Its interval; absent when nothing can be claimed.
   *
   * @minItems 2
   * @maxItems 2
   */
  interval?: [number, number] | null;
  /**
   * The figure.
   */
  value: number;
}
/**
 * What a slice must meet.
 */
export interface Objective {
  /**
   * What the figure of a slice must be.
   */
  bound:
    | {
        at_most: number;
      }
    | {
        at_least: number;
      };
  /**
   * Id of the metric: one that a claim may be about and slices have, `success`, `sent`, `errors`, or one that a probe declares.
   */
  metric: string;
  /**
   * In its author's words: `p99 <= 50ms`.
   */
  text: string;
  /**
   * The unit that the bound is written in, where only the declaration of the metric says whether that is its own.
   */
  unit?: Unit | null;
}
/**
 * The capacity of a cell.
 */
export interface CellCapacity {
  /**
   * What it carries for longer than a slice, requests a second, by which it is compared with others and costs are computed: the lower end of the
   * interval, or if a slice that was five times as long failed, what passes for longer. Absent if nothing did.
   */
  carried_per_second?: number | null;
  /**
   * A cell of a plan: a site under a load.
   */
  cell: number;
  /**
   * Answered requests a second at the lower bound: RFC 9971's conditional throughput.
   */
  conditional_throughput?: number | null;
  /**
   * Every rate that was tried, in ascending order.
   */
  curve: CurvePoint[];
  /**
   * What is not as it would be of a service with one capacity.
   */
  findings: string[];
  /**
   * The highest rate at which a slice passed that was five times as long; of several deployments the lowest, and `None` if in one there was none.
   */
  for_longer?: number | null;
  /**
   * What a load thread could send at most by the CPU time that requests cost it, requests a second.
   */
  generator_limit?: number | null;
  /**
   * Its interval: the central 95 % of the posterior, or of several deployments Student's.
   *
   * @minItems 2
   * @maxItems 2
   */
  interval?: [number, number] | null;
  /**
   * Where its curve has its knee; absent where too few rates were tried, or none on one side of it.
   */
  knee?: Knee | null;
  /**
   * The objective that most of the failing trials near the capacity failed.
   */
  limited_by?: string | null;
  /**
   * The highest rate that certainly passes (RFC 9971).
   */
  lower_bound?: number | null;
  /**
   * The rate at which half of the slices fail an objective, requests a second; absent where none was found.
   */
  rate_per_second?: number | null;
  /**
   * The length of its slices at the capacity, s; a service may carry more in shorter ones.
   */
  slice_s?: number | null;
  /**
   * Trials, those of all deployments.
   */
  trials: number;
  /**
   * The lowest rate that certainly fails.
   */
  upper_bound?: number | null;
}
/**
 * What was seen at one rate.
 */
export interface CurvePoint {
  /**
   * Answered before the slices were over, requests a second.
   */
  achieved_per_second: number;
  /**
   * Trials that did not.
   */
  failed: number;
  /**
   * Median response time, ns.
   */
  p50_ns: number;
  /**
   * 99th percentile of the response time, ns.
   */
  p99_ns: number;
  /**
   * Trials that met all objectives.
   */
  passed: number;
  /**
   * What they were for.
   */
  purpose: "search" | "confirm" | "overload" | "recover" | "common" | "own";
  /**
   * Asked for, requests a second.
   */
  rate_per_second: number;
  /**
   * Share of the due requests that were answered as expected.
   */
  success: number;
}
/**
 * Where a curve has its knee: of the rates that were tried the one at which most requests were answered by the time that one waited (Kleinrock's
 * power: throughput over response time, here its median). Beyond it waiting grows faster than throughput.
 */
export interface Knee {
  /**
   * The next rates that were tried below and above it.
   *
   * @minItems 2
   * @maxItems 2
   */
  between: [number, number];
  /**
   * That rate, requests a second.
   */
  rate_per_second: number;
}
/**
 * A capacity against another one.
 */
export interface CapacityDifference {
  /**
   * A cell of a plan: a site under a load.
   */
  baseline: number;
  /**
   * A cell of a plan: a site under a load.
   */
  candidate: number;
  /**
   * Its interval. It reaches to the difference of what both carry for longer, if a longer slice of one of them failed.
   *
   * @minItems 2
   * @maxItems 2
   */
  interval: [number, number];
  /**
   * Differences within this share are equivalent: twice the precision.
   */
  margin?: number;
  /**
   * p-value of "larger than the margin", by two one-sided tests.
   */
  p_equivalent?: number | null;
  /**
   * p-value of "no difference" in slices, Holm-corrected over all differences.
   */
  p_holm: number;
  /**
   * Candidate over baseline, less one: 0.92 is 92 % more.
   */
  relative: number;
  /**
   * Whether both cells can be trusted; otherwise the verdict claims nothing, and reports show it in parentheses.
   */
  trusted?: boolean;
  /**
   * `more`, `fewer`, `equivalent`, or `unresolved`.
   */
  verdict: "slower" | "faster" | "costlier" | "cheaper" | "more" | "fewer" | "equivalent" | "unresolved";
}
/**
 * One service × platform × load.
 */
export interface Cell {
  /**
   * Answered requests over all counted slices.
   */
  answered: number;
  /**
   * Connections kept open.
   */
  connections: number;
  /**
   * How far they lie apart; absent where fewer than two were measured.
   */
  deployment_spread?: DeploymentSpread | null;
  /**
   * One per deployment of its service.
   */
  deployments: Deployment[];
  /**
   * Errors over all counted slices by kind; statuses that were not expected by request, `GET /a: 401`.
   */
  errors: {
    [k: string]: number;
  };
  /**
   * The figures of the cell by metric id, with Student's t interval over deployments.
   */
  figures: Figure[];
  histograms: Histograms;
  /**
   * Requests at once on a connection of HTTP/2; absent with HTTP/1.1.
   */
  http2_streams?: number | null;
  /**
   * A cell of a plan: a site under a load.
   */
  id: number;
  /**
   * How its slices took turns with the others'.
   */
  interleave: string;
  /**
   * Whether the kernel's timestamps were taken; absent where the client's own were.
   */
  kernel_timestamps?: boolean;
  /**
   * The name a table shows: what sets the cell apart; twins end with a prime (`host′`).
   */
  label: string;
  limits?: Limits;
  /**
   * The load as text, `2000/s Poisson`.
   */
  load: string;
  /**
   * Whether each request has a connection of its own.
   */
  new_connections: boolean;
  /**
   * Name of the platform.
   */
  platform: string;
  /**
   * Asked rate, requests a second; absent in a closed loop.
   */
  rate_per_second?: number | null;
  /**
   * Requests after which a connection is closed; absent when it is kept, or new for each.
   */
  requests_per_connection?: number | null;
  /**
   * What the cell is for.
   */
  role: "baseline" | "twin" | "candidate" | "uncompared";
  /**
   * The run that it is of, where several are compared: `run 3`.
   */
  run?: string | null;
  /**
   * What the profiler saw; absent where it was not asked for.
   */
  seen?: Seen | null;
  /**
   * Name of the service.
   */
  service: string;
  /**
   * What the slowest requests met; absent where it was not asked for.
   */
  tail?: Tail | null;
  /**
   * How often its CPU limit held it back; absent where it never did.
   */
  throttling?: Throttling | null;
  /**
   * Longest wait for a response, seconds; absent where it is the usual ten.
   */
  timeout_s?: number | null;
}
/**
 * How far the deployments of a cell lie apart.
 */
export interface DeploymentSpread {
  /**
   * In what: `rate.achieved` in a closed loop, else `response.p50`.
   */
  metric: string;
  /**
   * Half of the distance from the lowest to the highest, as a share of the middle between them: 0.05 is ±5 %.
   */
  share: number;
}
/**
 * One start of a service.
 */
export interface Deployment {
  /**
   * What the platform could not do here, in sentences.
   */
  left_out: string[];
  /**
   * Answered requests a second over those slices.
   */
  rate_per_second: number;
  /**
   * Start to readiness, ms.
   */
  ready_ms: number;
  /**
   * Mean response time over the counted slices of this deployment, weighted by answered requests, ns; zero when none was answered.
   */
  response_mean_ns: number;
  /**
   * Median of the merged response histograms of the counted slices of this deployment, ns; zero when none was answered.
   */
  response_p50_ns?: number;
  /**
   * 99th percentile of the merged response histograms of those slices, ns; zero when none was answered.
   */
  response_p99_ns: number;
  /**
   * Which round of deployments, from 0.
   */
  round: number;
  /**
   * Whether the cell was stationary when the warm-up ended; without a warm-up it was not.
   */
  stationary: boolean;
  /**
   * Warm-up, s.
   */
  warmup_s: number;
  /**
   * The course of the warm-up: the median service time of each of its cycles, ns.
   */
  warmup_service_p50_ns?: number[];
}
/**
 * A cell's own figure of a metric.
 */
export interface Figure {
  /**
   * Label, `response p50`.
   */
  label: string;
  /**
   * Id of the metric, `response.p50`.
   */
  metric: string;
  /**
   * Whether short tables show it.
   */
  primary?: boolean;
  /**
   * Student's t interval over the deployments' figures (over blocks with one deployment), because people publish that.
   * Absent with fewer than two of them, for what is seen once a deployment with one deployment, and where it would reach below zero, which no
   * figure does.
   *
   * @minItems 2
   * @maxItems 2
   */
  t_interval?: [number, number] | null;
  /**
   * Unit of a figure.
   */
  unit: "ns" | "1" | "/s" | "bytes";
  /**
   * Over all counted slices, histograms merged.
   */
  value: number;
}
/**
 * The merged histograms of the counted slices.
 */
export interface Histograms {
  /**
   * From the moment a request was due to its last byte.
   */
  response: string;
  response_percentiles: Percentiles;
  /**
   * From the moment a request could have been written to when it was.
   */
  send_lag: string;
  send_lag_percentiles: Percentiles1;
  /**
   * From the moment a request was written to its last byte.
   */
  service: string;
  service_percentiles: Percentiles2;
}
/**
 * Quantiles of the same three.
 */
export interface Percentiles {
  /**
   * Largest value.
   */
  max: number;
  /**
   * Median.
   */
  p50: number;
  /**
   * 90th percentile.
   */
  p90: number;
  /**
   * 99th percentile.
   */
  p99: number;
  /**
   * 99.9th percentile.
   */
  p999: number;
}
/**
 * See `response_percentiles`.
 */
export interface Percentiles1 {
  /**
   * Largest value.
   */
  max: number;
  /**
   * Median.
   */
  p50: number;
  /**
   * 90th percentile.
   */
  p90: number;
  /**
   * 99th percentile.
   */
  p99: number;
  /**
   * 99.9th percentile.
   */
  p999: number;
}
/**
 * See `response_percentiles`.
 */
export interface Percentiles2 {
  /**
   * Largest value.
   */
  max: number;
  /**
   * Median.
   */
  p50: number;
  /**
   * 90th percentile.
   */
  p90: number;
  /**
   * 99th percentile.
   */
  p99: number;
  /**
   * 99.9th percentile.
   */
  p999: number;
}
/**
 * What its service may use, if that is limited.
 */
export interface Limits {
  /**
   * CPU time per time: 0.5 is half a CPU. At least 0.01.
   */
  cpus?: number | null;
  /**
   * Memory, without any swap on top, in bytes. At least 1 MiB.
   */
  memory_bytes?: number | null;
}
/**
 * What the profiler saw of a cell.
 */
export interface Seen {
  /**
   * CPU time per request by layer of the kernel, with `user: service`, `user: load` and `unknown`, ns.
   */
  cpu_ns_by_layer: {
    [k: string]: number;
  };
  /**
   * Samples for which there was no room.
   */
  lost: number;
  /**
   * Requests in the profiled slices.
   */
  requests: number;
  /**
   * Samples, of all CPUs.
   */
  samples: number;
  /**
   * Why network soft interrupts were raised; empty where that may not be asked.
   */
  softirqs: SoftirqReason[];
  /**
   * Those functions and their part of it, the costliest first.
   */
  unknown: UnknownFunction[];
  /**
   * Part of the kernel's time in which no function was recognised.
   */
  unknown_share: number;
}
/**
 * A reason for soft interrupts.
 */
export interface SoftirqReason {
  /**
   * The innermost function outside the raising itself: `veth_xmit`.
   */
  function: string;
  /**
   * Its layer.
   */
  layer?: string | null;
  /**
   * Raises per request.
   */
  per_request: number;
  /**
   * `NET_RX` or `NET_TX`.
   */
  vector: string;
}
/**
 * A function of the kernel that belongs to no layer.
 */
export interface UnknownFunction {
  /**
   * Its name.
   */
  function: string;
  /**
   * Its part of the time without a layer.
   */
  share: number;
}
/**
 * The slowest requests of a cell, in slices in which it was watched when its service was held up.
 */
export interface Tail {
  /**
   * What held the service up, as far as it can be seen.
   */
  causes: TailCause[];
  /**
   * The least response time among them, ns.
   */
  from_ns: number;
  /**
   * How many requests: the slowest hundredth of each slice, 256 at most.
   */
  requests: number;
}
/**
 * One cause, beside the slowest requests.
 */
export interface TailCause {
  /**
   * Share that would, were they due at any other moment of their slices.
   */
  by_chance: number;
  /**
   * The cause.
   */
  cause:
    | "throttled"
    | "jvm_collected"
    | "jvm_stopped"
    | "go_stopped"
    | "run_queue"
    | "disk"
    | "memory"
    | "other_client"
    | "paused";
  /**
   * Share of all the time in which it was watched for: what the former would be by chance.
   */
  time_by_chance?: number;
  /**
   * Share of their time that overlaps with it.
   */
  time_share: number;
  /**
   * Share of the requests that overlap with it.
   */
  touched: number;
}
/**
 * How often a service used up its CPU quota while it was measured: `cpu.stat` of its cgroup, over the counted slices of a cell.
 */
export interface Throttling {
  /**
   * How long it was held back in a second of measuring, ns, summed over CPUs.
   */
  ns_per_second: number;
  /**
   * Periods of the quota in which it wanted to run; a period is 100 ms unless somebody set it otherwise.
   */
  periods: number;
  /**
   * Periods in which it was held back.
   */
  throttled_periods: number;
}
/**
 * A claim and what this run says of it.
 */
export interface ClaimResult {
  /**
   * What was found, one per cell that it is about.
   */
  findings: Finding[];
  /**
   * Confirmed where every finding confirms it, refuted where one refutes it.
   */
  judgement: "confirmed" | "refuted" | "out_of_reach" | "not_comparable";
  /**
   * Label of the metric, `response mean`.
   */
  metric: string;
  /**
   * Unit of a figure.
   */
  metric_unit?: "ns" | "1" | "/s" | "bytes";
  /**
   * Whether the run fails if it is refuted.
   */
  must?: boolean;
  /**
   * The baseline's figure where it was published, least and most, in the unit of the metric; absent where the experiment does not say.
   *
   * @minItems 2
   * @maxItems 2
   */
  published_baseline?: [number, number] | null;
  /**
   * Unit that times were published in, where the experiment says so.
   */
  published_in?: TimeUnit | null;
  /**
   * In its author's words.
   */
  text: string;
  /**
   * Whether what decides the judgement can be trusted; otherwise it says nothing, and reports show it in parentheses.
   */
  trusted?: boolean;
}
/**
 * What was found in one cell, or in one of its contrasts.
 */
export interface Finding {
  /**
   * Index of the cell that it is compared with, if it is compared with several.
   */
  against?: CellId | null;
  /**
   * The baseline's figure in this run, in the unit of the metric, where the published one is known.
   */
  baseline?: number | null;
  /**
   * A cell of a plan: a site under a load.
   */
  cell: number;
  /**
   * What is compared: ns, or a share where `is_share`.
   *
   * @minItems 2
   * @maxItems 2
   */
  claimed: [number, number];
  /**
   * The same figure in this run; absent when it can't be computed.
   */
  found?: number | null;
  /**
   * Its interval; absent when nothing can be claimed.
   *
   * @minItems 2
   * @maxItems 2
   */
  interval?: [number, number] | null;
  /**
   * Whether figures are shares (0.26 is 26 %) and not ns.
   */
  is_share: boolean;
  /**
   * What follows.
   */
  judgement: "confirmed" | "refuted" | "out_of_reach" | "not_comparable";
  /**
   * Why there is no figure, if there is a reason worth telling.
   */
  note?: string | null;
  /**
   * p-value of "the figure lies within what is claimed", Holm-corrected over the findings of the claim; absent without an interval.
   */
  p_holm?: number | null;
  /**
   * Whether the figures that are compared can be trusted.
   */
  trusted?: boolean;
}
/**
 * A condition on which a run fails, and whether it holds.
 */
export interface ConditionResult {
  /**
   * By more than this: a share of the baseline where `is_share`, else in the metric's unit.
   */
  by: number;
  /**
   * What was found, one per contrast in their order.
   */
  findings: ConditionFinding[];
  /**
   * Whether amounts and figures are shares of the baseline (0.05 is 5 %).
   */
  is_share: boolean;
  /**
   * Holds where one finding holds.
   */
  judgement: "holds" | "ruled_out" | "open" | "not_measured" | "not_trusted";
  /**
   * Label of the metric, `response p99`.
   */
  label: string;
  /**
   * Id of the metric, `response.p99`.
   */
  metric: string;
  /**
   * In its author's words: `p99 slower by > 5%`.
   */
  text: string;
  /**
   * Unit of a figure.
   */
  unit: "ns" | "1" | "/s" | "bytes";
  /**
   * What the candidate must not be.
   */
  verdict: "slower" | "faster" | "costlier" | "cheaper" | "more" | "fewer" | "equivalent" | "unresolved";
}
/**
 * What was found of a condition in one contrast.
 */
export interface ConditionFinding {
  /**
   * Index of the contrast; of a search, in `capacities.at_their_own`.
   */
  contrast: number;
  /**
   * Candidate − baseline, a share of the baseline where the condition's amount is one; absent where it was not measured, and where the
   * baseline is zero.
   */
  found?: number | null;
  /**
   * Its interval; absent when nothing can be claimed.
   *
   * @minItems 2
   * @maxItems 2
   */
  interval?: [number, number] | null;
  /**
   * What follows.
   */
  judgement: "holds" | "ruled_out" | "open" | "not_measured" | "not_trusted";
}
/**
 * Platforms that each add a layer to the one below, under one load.
 */
export interface Ladder {
  /**
   * A cell of a plan: a site under a load.
   */
  bottom: number;
  /**
   * The cells above it, in the order of the experiment.
   */
  rungs: Rung[];
  /**
   * The layers of a path summed up, one per top.
   */
  sums: LadderSum[];
}
/**
 * A cell of a ladder.
 */
export interface Rung {
  /**
   * A cell of a plan: a site under a load.
   */
  below: number;
  /**
   * A cell of a plan: a site under a load.
   */
  cell: number;
  /**
   * Index of the contrast between the two: the layer's cost.
   */
  contrast: number;
}
/**
 * The costs of the layers between the bottom and a top, and the same difference measured anew.
 *
 * The layers' costs add up to the difference of the top and the bottom that they were computed from, whatever they are. So the end to
 * end difference is that of a second deployment of both.
 */
export interface LadderSum {
  /**
   * The cells from the bottom to the top.
   */
  path: CellId[];
  /**
   * By metric.
   */
  rows: SumRow[];
  /**
   * A cell of a plan: a site under a load.
   */
  top: number;
}
/**
 * One metric of a sum.
 */
export interface SumRow {
  /**
   * Whether the residual was shown to be smaller than the margin, or shown not to be zero; `None` where the run cannot tell. Both are
   * corrected over all residuals of the run.
   */
  closes?: boolean | null;
  /**
   * The top's second deployment less the bottom's; absent without these.
   */
  end_to_end?: Estimate2 | null;
  /**
   * The largest residual, either way, that does not matter.
   */
  margin?: number;
  /**
   * Id of the metric, `response.p50`.
   */
  metric: string;
  /**
   * End to end less the sum.
   */
  residual?: Estimate2 | null;
  sum: Estimate3;
  /**
   * Unit of a figure.
   */
  unit: "ns" | "1" | "/s" | "bytes";
}
/**
 * A figure and its interval.
 */
export interface Estimate2 {
  /**
   * Its interval; absent when nothing can be claimed.
   *
   * @minItems 2
   * @maxItems 2
   */
  interval?: [number, number] | null;
  /**
   * The figure.
   */
  value: number;
}
/**
 * A figure and its interval.
 */
export interface Estimate3 {
  /**
   * Its interval; absent when nothing can be claimed.
   *
   * @minItems 2
   * @maxItems 2
   */
  interval?: [number, number] | null;
  /**
   * The figure.
   */
  value: number;
}
/**
 * The machine it ran on.
 */
export interface Machine {
  /**
   * `uname -m`.
   */
  architecture?: string | null;
  /**
   * Differs after each boot.
   */
  boot_id?: string | null;
  /**
   * The versions of cgroup that are mounted, in ascending order.
   */
  cgroup_versions: number[];
  /**
   * What the kernel tells the time by, such as `tsc`.
   */
  clocksource?: string | null;
  /**
   * `model name` of the first CPU in `/proc/cpuinfo`; not there on every architecture.
   */
  cpu_model?: string | null;
  /**
   * Number of CPUs online.
   */
  cpus?: number | null;
  /**
   * `PRETTY_NAME` of os-release(5).
   */
  distribution?: string | null;
  /**
   * Frequency governor of the first CPU; `None` where the kernel does not set the frequency, as in most virtual machines.
   */
  governor?: string | null;
  /**
   * `uname -n`.
   */
  hostname?: string | null;
  /**
   * Who made the virtual machine that this is, `unknown` if it does not say, `None` on bare metal.
   */
  hypervisor?: string | null;
  /**
   * Whether the time of interrupts, soft ones too, is kept apart from that of the process they interrupt
   * (`CONFIG_IRQ_TIME_ACCOUNTING`), so that CPU per request leaves it out; `None` where the kernel's configuration is not at hand.
   */
  interrupt_time_apart?: boolean | null;
  /**
   * `uname -r`.
   */
  kernel?: string | null;
  /**
   * `MemTotal` in `/proc/meminfo`.
   */
  memory_bytes?: number | null;
  /**
   * For each known weakness of CPUs, what the kernel does about it: `/sys/devices/system/cpu/vulnerabilities`.
   */
  mitigations: {
    [k: string]: string;
  };
  /**
   * The CPUs online as the kernel lists them, such as `0-3,8`.
   */
  online_cpus?: string | null;
  /**
   * `on`, `off`, `forceoff`, `notsupported` or `notimplemented`: `/sys/devices/system/cpu/smt/control`.
   */
  smt?: string | null;
  /**
   * `always`, `madvise` or `never`.
   */
  transparent_hugepages?: string | null;
}
/**
 * What a probe says of one of its metrics.
 */
export interface MetricDeclaration {
  /**
   * How tables show it; without it, it is in the slices alone.
   */
  figure?: FigureDeclaration | null;
  /**
   * What a value is.
   */
  kind: "counter" | "level";
  /**
   * Its name.
   */
  name: string;
  /**
   * Whose it is.
   */
  scope: "service" | "machine" | "measurement";
  /**
   * Unit of a figure.
   */
  unit: "ns" | "1" | "/s" | "bytes";
}
/**
 * How tables show a metric.
 */
export interface FigureDeclaration {
  /**
   * What a higher figure means.
   */
  higher_is: "slower" | "costlier" | "more";
  /**
   * What a table calls it. A label that begins with two spaces belongs to the metric above.
   */
  label: string;
  /**
   * Whether short tables show it, too.
   */
  primary?: boolean;
}
/**
 * How it was measured.
 */
export interface PlanInfo {
  /**
   * Blocks in a deployment.
   */
  blocks: number;
  /**
   * Blocks that count, over all deployments.
   */
  blocks_measured: number;
  /**
   * Confidence of the intervals, 0.95.
   */
  confidence: number;
  /**
   * Deployments that count.
   */
  deployments: number;
  /**
   * Deployments planned (without `until`).
   */
  deployments_planned: number;
  /**
   * The kind of interval in a sentence, with its source.
   */
  interval_method: string;
  /**
   * CPUs of the load.
   */
  load_cpus: number[];
  /**
   * Length of the longest slice, s, where loads have slices of several lengths.
   */
  longest_slice_s?: number | null;
  /**
   * How long a run takes that settles what is unresolved; absent when nothing is.
   */
  seconds_to_settle?: SecondsToSettle | null;
  /**
   * CPUs of the services.
   */
  service_cpus: number[];
  /**
   * Length of a slice, s; of the shortest, where loads have slices of several lengths.
   */
  slice_s: number;
  /**
   * What was to be measured until it was this precise (`--until`).
   */
  until?: Precision[] | null;
}
/**
 * How long a run takes that settles an unresolved metric.
 */
export interface SecondsToSettle {
  /**
   * Its deployments.
   */
  deployments: number;
  /**
   * Label of the metric, `response p99`.
   */
  metric: string;
  /**
   * Whether the run's own time limit (`within`) would end it before.
   */
  needs_more_time?: boolean;
  /**
   * Wall time of that run, s, with starting, warming up and ending its deployments as they went in this one.
   */
  run_seconds?: number;
  /**
   * What that run takes beyond what this one took, s.
   */
  seconds: number;
  /**
   * Half-width asked for, relative to the baseline.
   */
  within: number;
}
/**
 * How narrow the interval of a metric's difference is to be.
 */
export interface Precision {
  /**
   * Id of the metric, one of [`CLAIM_METRICS`](super::CLAIM_METRICS).
   */
  metric: string;
  /**
   * Half the interval's width, relative to the baseline: 0.01 for ±1 %.
   */
  within: number;
}
/**
 * What was run, when, by which command.
 */
export interface RunInfo {
  /**
   * The command line, word by word.
   */
  command_line: string[];
  /**
   * The experiment as it was understood.
   */
  experiment: {
    [k: string]: unknown;
  };
  /**
   * What went wrong, for `failed`, and cells given up in a run that went on.
   */
  failures: string[];
  /**
   * RFC 3339; absent when the run was killed.
   */
  finished?: string | null;
  /**
   * Number of the run in its store.
   */
  id: number;
  /**
   * Name of the experiment.
   */
  name: string;
  /**
   * The author's question.
   */
  question?: string | null;
  /**
   * Seed of order and schedules.
   */
  seed: number;
  /**
   * RFC 3339.
   */
  started: string;
  /**
   * How it ended.
   */
  state: "complete" | "interrupted" | "failed" | "unfinished";
  /**
   * What its user calls it (`loadline store tag`).
   */
  tags?: string[];
  /**
   * Where the wall time went; runs of before did not say.
   */
  time_spent?: TimeSpent | null;
  /**
   * Version of loadline.
   */
  version: string;
}
/**
 * Where the wall time of a run went, s. The parts do not overlap; what is in none of them is the rest of the total.
 */
export interface TimeSpent {
  /**
   * Reading counters before and after slices.
   */
  counters_s?: number;
  /**
   * Load of slices, except repeats.
   */
  measuring_s?: number;
  /**
   * Slices that are profiled or watched, and what is made of the samples.
   */
  profiling_s?: number;
  /**
   * Waiting until services answer.
   */
  ready_s?: number;
  /**
   * Load of repeated slices.
   */
  repeating_s?: number;
  /**
   * Creating networks, containers and processes.
   */
  starting_s?: number;
  /**
   * Stopping services, and removing what was created for them.
   */
  stopping_s?: number;
  /**
   * Storing slices.
   */
  storing_s?: number;
  /**
   * From the first preparation to the last removal.
   */
  total_s?: number;
  /**
   * Waiting for a quieter machine.
   */
  waiting_s?: number;
  /**
   * Warming up.
   */
  warming_up_s?: number;
}
/**
 * The language runtime of the service of a site, once it was warm, in the last deployment that told of it.
 */
export interface SiteRuntime {
  /**
   * How it is set up, by name: `jvm.collector`, `go.gomaxprocs`.
   */
  facts: {
    [k: string]: string;
  };
  /**
   * The share of the service's CPU time that its JIT compiler took while it was measured, in the cell where it was largest; without a
   * value if it has none that could be seen.
   */
  jit_share?: number | null;
  /**
   * Service and platform, as tables name them.
   */
  label: string;
  /**
   * What could not be seen, a sentence each.
   */
  unseen?: string[];
}
/**
 * A service on a platform, measured in closed loops of several sizes.
 */
export interface Scalability {
  contention: Fitted;
  crosstalk: Fitted1;
  /**
   * Whether the law describes the points: no error is larger than 10 %.
   */
  holds: boolean;
  /**
   * Service and platform.
   */
  label: string;
  one_per_second: Fitted2;
  /**
   * Connections with the most throughput; absent where more always gives more.
   */
  peak?: number | null;
  /**
   * Connections and answered requests a second.
   */
  points: [unknown, unknown][];
  /**
   * The largest relative error of a point.
   */
  worst_error: number;
}
/**
 * Contention, σ: the share of the work that only one does at a time.
 */
export interface Fitted {
  /**
   * Its interval over the deployments; absent with fewer than two.
   *
   * @minItems 2
   * @maxItems 2
   */
  interval?: [number, number] | null;
  /**
   * What fits best.
   */
  value: number;
}
/**
 * Crosstalk, κ: what each pair of connections costs.
 */
export interface Fitted1 {
  /**
   * Its interval over the deployments; absent with fewer than two.
   *
   * @minItems 2
   * @maxItems 2
   */
  interval?: [number, number] | null;
  /**
   * What fits best.
   */
  value: number;
}
/**
 * Throughput of one connection, λ, and its interval.
 */
export interface Fitted2 {
  /**
   * Its interval over the deployments; absent with fewer than two.
   *
   * @minItems 2
   * @maxItems 2
   */
  interval?: [number, number] | null;
  /**
   * What fits best.
   */
  value: number;
}
/**
 * One measured interval of a cell.
 */
export interface Slice {
  /**
   * Requests answered.
   */
  answered: number;
  /**
   * Seconds since the start of the run; of several runs that are compared, as if each had gone on where the one before it ended.
   */
  at_s: number;
  /**
   * 0, then 1, 2 … for repeats.
   */
  attempt: number;
  /**
   * Block within the round.
   */
  block: number;
  /**
   * A cell of a plan: a site under a load.
   */
  cell: number;
  /**
   * Whether its figures count: of each block at most one attempt does, and none of a block in which the machine was never quiet, if enough others
   * were.
   */
  counted: boolean;
  /**
   * Requests that were due.
   */
  due: number;
  /**
   * Length, s.
   */
  duration_s: number;
  /**
   * Errors by kind; statuses that were not expected by request, `GET /a: 401`.
   */
  errors: {
    [k: string]: number;
  };
  /**
   * Gates that failed, in sentences.
   */
  failed_gates: string[];
  observations: Observations;
  /**
   * Seconds since the start of its own run, where several are compared.
   */
  own_at_s?: number | null;
  /**
   * Position within the block.
   */
  position: number;
  /**
   * Answered requests a second.
   */
  rate_per_second: number;
  response: Percentiles3;
  /**
   * Mean response time, ns.
   */
  response_mean_ns: number;
  /**
   * Round of deployments.
   */
  round: number;
  send_lag: Percentiles4;
  service: Percentiles5;
}
/**
 * What the machine and the service did.
 */
export interface Observations {
  /**
   * Memory charged to its cgroup after the slice, with page cache: `memory.usage_in_bytes` (v1) or `memory.current` (v2). Not comparable with platforms that have no cgroup.
   */
  cgroup_memory_bytes?: number | null;
  /**
   * The most ever charged to its cgroup: `memory.max_usage_in_bytes` (v1) or `memory.peak` (v2).
   */
  cgroup_memory_peak_bytes?: number | null;
  /**
   * CPUs online on that machine, which need not be that of the load; not known of older runs.
   */
  cpus?: number | null;
  /**
   * How often its threads had to make way: `nonvoluntary_ctxt_switches` in `/proc/PID/task/TID/status`.
   */
  involuntary_switches?: number | null;
  /**
   * CPU time of the whole machine by mode (`/proc/stat`).
   */
  machine?: MachineCpu | null;
  /**
   * The part of `machine` in which CPUs worked: all but idle, iowait and steal. Less the service's and the load's, it is what other programs used.
   */
  machine_busy_ns?: number | null;
  /**
   * Resident memory of its processes after the slice: the sum of `VmRSS` in `/proc/PID/status`. Memory that they share is counted for each.
   */
  memory_bytes?: number | null;
  /**
   * The most that its processes ever had resident: the sum of `VmHWM` in `/proc/PID/status`, since each began.
   */
  memory_peak_bytes?: number | null;
  /**
   * Receive soft interrupts of the whole machine: `NET_RX` in `/proc/softirqs`.
   */
  net_rx_softirqs?: number | null;
  /**
   * Transmit soft interrupts of the whole machine: `NET_TX` in `/proc/softirqs`.
   */
  net_tx_softirqs?: number | null;
  /**
   * CPU time of the process that took the snapshots, which may be that of the load as well.
   */
  observer_cpu_ns?: number | null;
  /**
   * Periods in which the service had something to run: `nr_periods` in the cgroup's `cpu.stat`. Zero without a quota.
   */
  periods?: number | null;
  /**
   * How long its threads were ready to run and did not: the second figure of `/proc/PID/task/TID/schedstat`.
   */
  run_queue_wait_ns?: number | null;
  /**
   * CPU time of the service. From its cgroup: `cpuacct.usage` (v1) or `usage_usec` in `cpu.stat` (v2). Without one: the sum of its processes' CPU clocks (clock_getcpuclockid(3)).
   */
  service_cpu_ns?: number | null;
  /**
   * The rest of `service_cpu_ns`: in the kernel.
   */
  service_system_ns?: number | null;
  /**
   * The part of `service_cpu_ns` in user mode, in the proportion of `cpuacct.usage_user` to `usage_sys` (v1), `user_usec` to `system_usec` (v2), or `utime` to `stime` in `/proc/PID/stat`. These are sampled at ticks, so the proportion is rougher than the sum; `null` if no tick fell into the slice.
   */
  service_user_ns?: number | null;
  /**
   * TCP segments sent again in the service's network namespace: `RetransSegs` in `/proc/PID/net/snmp`.
   */
  tcp_retransmits?: number | null;
  /**
   * Time that it was held back, summed over CPUs: `throttled_time` (v1) or `throttled_usec` (v2) in `cpu.stat`.
   */
  throttled_ns?: number | null;
  /**
   * Periods in which it used up its quota: `nr_throttled` in `cpu.stat`.
   */
  throttled_periods?: number | null;
  /**
   * How often its threads waited for something: `voluntary_ctxt_switches` in `/proc/PID/task/TID/status`.
   */
  voluntary_switches?: number | null;
  /**
   * The length of the slice as the snapshots saw it (`CLOCK_MONOTONIC`).
   */
  wall_ns?: number | null;
  [k: string]: number | null | MachineCpu | undefined;
}
/**
 * CPU time by mode, in nanoseconds summed over all CPUs; source: the `cpu` line of `/proc/stat` (proc_stat(5)).
 *
 * Time spent for virtual machines on this machine is part of `user_ns` and `nice_ns`, as the kernel has it.
 */
export interface MachineCpu {
  /**
   * Nothing to do.
   */
  idle_ns: number;
  /**
   * Nothing to do but wait for a disk; the kernel's own documentation calls it unreliable.
   */
  iowait_ns: number;
  /**
   * Hardware interrupts.
   */
  irq_ns: number;
  /**
   * Programs at lowered priority.
   */
  nice_ns: number;
  /**
   * Soft interrupts.
   */
  softirq_ns: number;
  /**
   * Ready to run, but the hypervisor ran somebody else.
   */
  steal_ns: number;
  /**
   * The kernel on behalf of programs.
   */
  system_ns: number;
  /**
   * Programs at normal priority.
   */
  user_ns: number;
}
/**
 * Quantiles of the response time, ns.
 */
export interface Percentiles3 {
  /**
   * Largest value.
   */
  max: number;
  /**
   * Median.
   */
  p50: number;
  /**
   * 90th percentile.
   */
  p90: number;
  /**
   * 99th percentile.
   */
  p99: number;
  /**
   * 99.9th percentile.
   */
  p999: number;
}
/**
 * Quantiles of the send lag, ns.
 */
export interface Percentiles4 {
  /**
   * Largest value.
   */
  max: number;
  /**
   * Median.
   */
  p50: number;
  /**
   * 90th percentile.
   */
  p90: number;
  /**
   * 99th percentile.
   */
  p99: number;
  /**
   * 99.9th percentile.
   */
  p999: number;
}
/**
 * Quantiles of the service time, ns.
 */
export interface Percentiles5 {
  /**
   * Largest value.
   */
  max: number;
  /**
   * Median.
   */
  p50: number;
  /**
   * 90th percentile.
   */
  p90: number;
  /**
   * 99th percentile.
   */
  p99: number;
  /**
   * 99.9th percentile.
   */
  p999: number;
}
/**
 * How a service's starts on a platform went: medians over its deployments.
 */
export interface Start {
  /**
   * Deployments that the medians are of.
   */
  deployments: number;
  /**
   * Resident memory of the service when it was ready, before any load; of a pod whose kubelet is asked, its working set.
   */
  idle_memory_bytes?: number | null;
  /**
   * Size of the image in the platform's store.
   */
  image_bytes?: number | null;
  /**
   * The name a table shows.
   */
  label: string;
  /**
   * What was reached when, in order; the last is `answered`, the first successful request.
   */
  phases: StartPhase[];
}
/**
 * One step of a start.
 */
export interface StartPhase {
  /**
   * Median over deployments, since the start was asked for, ms.
   */
  median_ms: number;
  /**
   * What was reached.
   */
  name: string;
  /**
   * Least and most.
   *
   * @minItems 2
   * @maxItems 2
   */
  range_ms: [number, number];
}
/**
 * What a platform's daemon or cluster was.
 */
export interface Surroundings {
  /**
   * All that is known of it, in the platform's own shape.
   */
  facts: {
    [k: string]: unknown;
  };
  /**
   * In one line, for people.
   */
  summary: string;
}
/**
 * Cells that are alike but for one number: each figure of theirs is a curve over it.
 */
export interface Sweep {
  /**
   * What the cells have in common: `orders on host at 2000/s`.
   */
  label: string;
  /**
   * What people call it: `CPU limit`.
   */
  name: string;
  /**
   * The number, as an experiment file has it: `limits.cpu`, `limits.memory`, `replicas`, `env.GOMAXPROCS`, `connections`, `rate`, or the
   * option of a command line, `--orders`.
   */
  over: string;
  /**
   * From the smallest number to the largest; three different ones at least.
   */
  points: SweepPoint[];
  /**
   * Unit of a figure.
   */
  unit: "ns" | "1" | "/s" | "bytes";
}
/**
 * One number of a sweep.
 */
export interface SweepPoint {
  /**
   * A cell of a plan: a site under a load.
   */
  cell: number;
  /**
   * The number.
   */
  value: number;
}
/**
 * Whether the figures can be trusted, gate by gate.
 */
export interface Trust {
  /**
   * Each gate over the whole run.
   */
  gates: GateSummary[];
  repeats?: Repeats;
  /**
   * Slices measured, repeats included.
   */
  slices: number;
  /**
   * Slices that failed a gate.
   */
  slices_failed: number;
  /**
   * Slices that were repeats.
   */
  slices_repeated: number;
  /**
   * Whether all gates hold for all cells.
   */
  trusted: boolean;
  /**
   * Where a twin differs significantly from what it is the twin of, though both are the same: at most one run in twenty has any by chance.
   */
  twins_differ?: TwinDifference[];
}
/**
 * One gate over the whole run.
 */
export interface GateSummary {
  /**
   * Indices of the cells for which it does not hold.
   */
  cells?: CellId[];
  /**
   * Slices of the same cells that count and failed it.
   */
  failed: number;
  /**
   * `rate`, `send_lag`, `pauses`, `generator`, `errors`, `steal`, `foreign_cpu`, `stationary`.
   */
  gate: string;
  /**
   * Whether it holds for the run: no cell lost more than the tolerated share of its slices to it.
   */
  holds: boolean;
  /**
   * What to do when it fails.
   */
  remedy: string;
  /**
   * Short text with the figure, `send lag p99 6 µs`: over the cells for which it does not hold, if there are any, or else over all.
   */
  text: string;
}
/**
 * What was measured again because the machine was disturbed.
 */
export interface Repeats {
  /**
   * Disturbed blocks that count as they are, because too few were quiet.
   */
  as_they_are?: number;
  /**
   * Blocks measured, each load of a block for itself.
   */
  blocks: number;
  /**
   * Those of them in which a slice of the first attempt was disturbed.
   */
  disturbed: number;
  /**
   * Blocks that count for some of their comparisons, those whose cells were quiet in an attempt.
   */
  in_part?: number;
  /**
   * Blocks that do not count: those that were never quiet, and all of a deployment with hardly any others.
   */
  left_out?: number;
  /**
   * By load.
   */
  loads: LoadRepeats[];
  /**
   * Whether that is so many that a reader must know.
   */
  many: boolean;
}
/**
 * How often the cells of a load were disturbed.
 */
export interface LoadRepeats {
  /**
   * Each cell of the load.
   */
  cells: CellRepeats[];
  /**
   * Whether they were not: a cell may then have disturbed itself, and means and tails of this load claim nothing.
   */
  differ: boolean;
  /**
   * p-value of "all equally often" (Cochran's Q), Holm-corrected over the loads; absent with a single cell.
   */
  p_holm?: number | null;
}
/**
 * How often the slices of a cell were disturbed, repeats included.
 */
export interface CellRepeats {
  /**
   * A cell of a plan: a site under a load.
   */
  cell: number;
  /**
   * Those of them in which a gate of the machine failed or, where blocks are left out, time was stolen.
   */
  disturbed: number;
  /**
   * Slices measured together with those of all other cells of the load.
   */
  slices: number;
}
/**
 * A metric in which a twin differs.
 */
export interface TwinDifference {
  /**
   * A cell of a plan: a site under a load.
   */
  baseline: number;
  /**
   * Twin − baseline.
   */
  difference: number;
  /**
   * Its interval.
   *
   * @minItems 2
   * @maxItems 2
   */
  interval: [number, number];
  /**
   * Label of the metric, `response p50`.
   */
  metric: string;
  /**
   * The p-value, Holm-corrected over the primary metrics of all twins.
   */
  p_holm: number;
  /**
   * A cell of a plan: a site under a load.
   */
  twin: number;
  /**
   * Unit of a figure.
   */
  unit: "ns" | "1" | "/s" | "bytes";
}
