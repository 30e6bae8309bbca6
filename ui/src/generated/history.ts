// Made of docs/history.schema.json by `npm run types`; change the model instead.

/**
 * A metric of each cell that several runs measured, on machines that are alike.
 */
export interface History {
  /**
   * With fewer points than this a series is not searched for changes.
   */
  least_points: number;
  /**
   * Runs that are in no series, and why.
   */
  left_out: LeftOut[];
  /**
   * Id of the metric.
   */
  metric: string;
  /**
   * Version of this document's shape.
   */
  schema: string;
  /**
   * One for each cell and kind of machine.
   */
  series: Series[];
}
/**
 * A run that is in no series.
 */
export interface LeftOut {
  /**
   * Why.
   */
  reason: string;
  /**
   * Number of the run.
   */
  run: number;
}
/**
 * The figures of one cell.
 */
export interface Series {
  /**
   * Where they changed.
   */
  changes: Change[];
  /**
   * Service and platform, and what the service may use if that is limited.
   */
  label: string;
  /**
   * The load with its connections and requests.
   */
  load: string;
  /**
   * What kind of machine it is: CPU model, number of CPUs, kernel.
   */
  machine: string;
  /**
   * In the order of the runs.
   */
  points: Point[];
  /**
   * Unit of the figures.
   */
  unit: "ns" | "1" | "/s" | "bytes";
}
/**
 * A change.
 */
export interface Change {
  /**
   * Mean of the points between this change and the next one.
   */
  after: number;
  /**
   * Index of the first point after it.
   */
  at: number;
  /**
   * Mean of the points between the change before and this one.
   */
  before: number;
  /**
   * How often random orders of the points show as much.
   */
  p_value: number;
  /**
   * After over before, less one; absent where before is zero.
   */
  relative?: number | null;
  /**
   * Whether there are points enough after it to call it settled: the last few may be a spell.
   */
  settled: boolean;
}
/**
 * The figure of one run.
 */
export interface Point {
  /**
   * How many these are.
   */
  deployments?: number;
  /**
   * Its interval, over the deployments of the run alone; absent where it has none.
   *
   * @minItems 2
   * @maxItems 2
   */
  interval?: [number, number] | null;
  /**
   * Number of the run.
   */
  run: number;
  /**
   * When it began, RFC 3339.
   */
  started: string;
  /**
   * Whether gates of the run failed in this cell, so that the figure cannot be trusted. It takes part in the search for changes.
   */
  untrusted?: boolean;
  /**
   * The figure.
   */
  value: number;
}
