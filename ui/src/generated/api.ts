// Made of docs/openapi.json by `npm run types`; change the model instead.

/**
 * An experiment: as YAML, or as the flags of `loadline compare`; with `--objective` among them, of `loadline capacity`.
 *
 * This interface was referenced by `Api`'s JSON-Schema
 * via the `definition` "Asked".
 */
export type Asked =
  | {
      /**
       * An experiment file.
       */
      yaml: string;
    }
  | {
      /**
       * Word by word: `["--on", "host", "--on", "pod"]`.
       */
      flags: string[];
    }
  | {
      stored: OfStored;
    };
/**
 * Where a run is.
 *
 * This interface was referenced by `Api`'s JSON-Schema
 * via the `definition` "State".
 */
export type State =
  | {
      state: "waiting";
    }
  | {
      state: "running";
    }
  | {
      state: "stopping";
    }
  | {
      /**
       * The exit code of `loadline run`; absent if it was killed, or never began.
       */
      code?: number | null;
      /**
       * The end of what it said on stderr.
       */
      said: string;
      state: "ended";
    };
/**
 * A run that was asked for, as the API shows it.
 *
 * This interface was referenced by `Api`'s JSON-Schema
 * via the `definition` "Status".
 */
export type Status = (
  | {
      state: "waiting";
    }
  | {
      state: "running";
    }
  | {
      state: "stopping";
    }
  | {
      /**
       * The exit code of `loadline run`; absent if it was killed, or never began.
       */
      code?: number | null;
      /**
       * The end of what it said on stderr.
       */
      said: string;
      state: "ended";
    }
) & {
  /**
   * How many are before it.
   */
  before: number;
  /**
   * Its number in the queue.
   */
  job: number;
  live: Live1;
  /**
   * What it is called.
   */
  name: string;
};

export interface Api {}
/**
 * A service of a stored run.
 */
export interface OfStored {
  /**
   * What is to be different: the flags of `loadline compare`, with `--objective` those of `loadline capacity`; none may name a service.
   */
  flags: string[];
  /**
   * The number of the run.
   */
  run: number;
  /**
   * What that run calls it.
   */
  service: string;
}
/**
 * A cell so far: rough, and meant to be watched.
 *
 * This interface was referenced by `Api`'s JSON-Schema
 * via the `definition` "CellNow".
 */
export interface CellNow {
  /**
   * Its number, which slices name; those between are twins.
   */
  cell: number;
  /**
   * By how much it is longer than that of its baseline, ns.
   */
  difference_ns?: number | null;
  /**
   * Half the width of the difference's 95 % interval, ns.
   */
  half_width_ns?: number | null;
  /**
   * Service and platform.
   */
  label: string;
  /**
   * `2000/s Poisson`
   */
  load: string;
  /**
   * Median of its slices' median response times, ns.
   */
  p50_ns?: number | null;
}
/**
 * What is to be different.
 *
 * This interface was referenced by `Api`'s JSON-Schema
 * via the `definition` "Change".
 */
export interface Change {
  /**
   * Its new name.
   */
  name?: string | null;
  /**
   * Its new tags, all of them.
   */
  tags?: string[] | null;
}
/**
 * An experiment that could be run.
 *
 * This interface was referenced by `Api`'s JSON-Schema
 * via the `definition` "Draft".
 */
export interface Draft {
  /**
   * What it is called.
   */
  name: string;
  /**
   * What it would do, as `loadline plan` prints it.
   */
  plan: string;
  /**
   * How long that takes at least and at most, s.
   */
  seconds: number[];
  /**
   * The experiment as YAML.
   */
  yaml: string;
}
/**
 * An experiment to run.
 *
 * This interface was referenced by `Api`'s JSON-Schema
 * via the `definition` "Experiment".
 */
export interface Experiment {
  /**
   * An experiment file.
   */
  yaml: string;
}
/**
 * The numbers that runs of another store have in this one.
 *
 * This interface was referenced by `Api`'s JSON-Schema
 * via the `definition` "Imported".
 */
export interface Imported {
  /**
   * In their order there.
   */
  runs: number[];
  /**
   * Those among them that were here already.
   */
  were_here: number[];
}
/**
 * A run, as the store knows it without looking at what was measured.
 *
 * This interface was referenced by `Api`'s JSON-Schema
 * via the `definition` "Listed".
 */
export interface Listed {
  /**
   * Its number.
   */
  id: number;
  /**
   * Whether it is measured now.
   */
  measured_now: boolean;
  /**
   * What it is called.
   */
  name: string;
  /**
   * RFC 3339.
   */
  started: string;
  /**
   * `complete`, `interrupted`, `failed`, or `unfinished`: killed, or still measured.
   */
  state: string;
  /**
   * Its tags.
   */
  tags: string[];
}
/**
 * A run so far.
 *
 * This interface was referenced by `Api`'s JSON-Schema
 * via the `definition` "Live".
 */
export interface Live {
  /**
   * Blocks that were measured.
   */
  blocks: number;
  /**
   * The cells that it measures, in the order of the plan.
   */
  cells: CellNow[];
  /**
   * What it is doing: `deployment 2/8: orders on pod`.
   */
  doing: string;
  /**
   * What it said: warm-ups without an end, waits, services that were given up.
   */
  log: string[];
  machine: MachineNow;
  /**
   * Blocks in all; 0 if that is not known beforehand.
   */
  of_blocks: number;
  /**
   * Slices that were measured again, because the machine disturbed them.
   */
  repeated: number;
  /**
   * Its number in the store, once it has begun.
   */
  run?: number | null;
  /**
   * Seconds until it ends, about; absent while nothing tells.
   */
  seconds_left?: number | null;
}
/**
 * What the machine did in the latest slices.
 */
export interface MachineNow {
  /**
   * Share of its CPUs that other programs took.
   */
  foreign?: number | null;
  /**
   * Pauses of 1 ms and more in a second, ms.
   */
  paused_ms_per_second?: number | null;
  /**
   * Share that the hypervisor took.
   */
  stolen?: number | null;
}
/**
 * What the machine did; absent where nothing tells.
 *
 * This interface was referenced by `Api`'s JSON-Schema
 * via the `definition` "MachineNow".
 */
export interface MachineNow1 {
  /**
   * Share of its CPUs that other programs took.
   */
  foreign?: number | null;
  /**
   * Pauses of 1 ms and more in a second, ms.
   */
  paused_ms_per_second?: number | null;
  /**
   * Share that the hypervisor took.
   */
  stolen?: number | null;
}
/**
 * A service of a stored run, with all that was said of it there.
 *
 * This interface was referenced by `Api`'s JSON-Schema
 * via the `definition` "OfStored".
 */
export interface OfStored1 {
  /**
   * What is to be different: the flags of `loadline compare`, with `--objective` those of `loadline capacity`; none may name a service.
   */
  flags: string[];
  /**
   * The number of the run.
   */
  run: number;
  /**
   * What that run calls it.
   */
  service: string;
}
/**
 * A platform that a run could use.
 *
 * This interface was referenced by `Api`'s JSON-Schema
 * via the `definition` "Offer".
 */
export interface Offer {
  /**
   * What it is, in a few words.
   */
  about: string;
  /**
   * Why this machine cannot; absent if it can.
   */
  missing?: string | null;
  /**
   * As of `--on`: `host`, `docker`.
   */
  name: string;
}
/**
 * Why not.
 *
 * This interface was referenced by `Api`'s JSON-Schema
 * via the `definition` "Refusal".
 */
export interface Refusal {
  /**
   * What is wrong, and what to do; as the command line says it.
   */
  error: string;
}
/**
 * A slice, as far as it is drawn.
 *
 * This interface was referenced by `Api`'s JSON-Schema
 * via the `definition` "Slice".
 */
export interface Slice {
  /**
   * When, s since the run began.
   */
  at_s: number;
  /**
   * Which cell.
   */
  cell: number;
  /**
   * CPU time of the service per answered request, ns.
   */
  cpu_ns?: number | null;
  /**
   * Whether the machine disturbed it.
   */
  disturbed: boolean;
  /**
   * Its memory, bytes.
   */
  memory_bytes?: number | null;
  /**
   * Median response time, ns; absent if nothing was answered.
   */
  p50_ns?: number | null;
  /**
   * How long its threads waited for a CPU per answered request, ns.
   */
  run_queue_wait_ns?: number | null;
  /**
   * For how long its limit held it back, ns a second.
   */
  throttled_ns?: number | null;
}
/**
 * What is known of it.
 */
export interface Live1 {
  /**
   * Blocks that were measured.
   */
  blocks: number;
  /**
   * The cells that it measures, in the order of the plan.
   */
  cells: CellNow[];
  /**
   * What it is doing: `deployment 2/8: orders on pod`.
   */
  doing: string;
  /**
   * What it said: warm-ups without an end, waits, services that were given up.
   */
  log: string[];
  machine: MachineNow;
  /**
   * Blocks in all; 0 if that is not known beforehand.
   */
  of_blocks: number;
  /**
   * Slices that were measured again, because the machine disturbed them.
   */
  repeated: number;
  /**
   * Its number in the store, once it has begun.
   */
  run?: number | null;
  /**
   * Seconds until it ends, about; absent while nothing tells.
   */
  seconds_left?: number | null;
}
/**
 * A service that a stored run measured.
 *
 * This interface was referenced by `Api`'s JSON-Schema
 * via the `definition` "Stored".
 */
export interface Stored {
  /**
   * The command that starts it, or its image.
   */
  about: string;
  /**
   * The latest run that measured it.
   */
  run: number;
  /**
   * What that run calls it.
   */
  service: string;
}
/**
 * What was asked for, and what came out.
 *
 * This interface was referenced by `Api`'s JSON-Schema
 * via the `definition` "Summary".
 */
export interface Summary {
  /**
   * The question with its answer; further sentences.
   */
  outcome: string[];
  /**
   * How it ended, `complete, trusted in part`.
   */
  state: string;
  /**
   * Services, platforms and loads.
   */
  subject: string[];
}
