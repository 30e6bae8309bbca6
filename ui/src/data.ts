// The result that stands in the page as JSON, with its slices put together again.
import type { Cell, RunResult, Slice } from "./generated/result";

/** Slices by columns: `response/p50` is `p50` in `response` of each. A column of one value holds for all; one that is a text is that other one. */
interface Columns {
  length: number;
  columns: Record<string, unknown[] | string>;
}

/** Counts in bins of equal width on a logarithmic scale: bin `i` begins at 2^((first + i) / per_doubling) ns. */
export interface Bins {
  per_doubling: number;
  first: number;
  counts: number[];
}

/** How the times of a cell are distributed. */
export interface Distribution {
  cell: number;
  of: "response" | "service";
  /** Quantiles below 1, each with the time that so many did not exceed, ns. Between two with the same time it is the same. */
  quantiles: [number, number][];
  bins: Bins;
}

/** One or several slices: the first bin, and from there on the most requests that one of them has in each. */
export type Column = [number, number[]];

/** The response times of the slices that count, over time: by cell, in the order of measurement. */
export interface Heat {
  per_doubling: number;
  /** The last column of a cell may have fewer. */
  slices_per_column: number;
  cells: Column[][];
}

/** Stacks of a profiled cell: each node has its parent plus one (0 for none), a name, and the nanoseconds seen with it innermost. */
export interface Profile {
  cell: number;
  requests: number;
  stacks: { names: string[]; nodes: [number, number, number][] };
}

/** All that a page holds. */
export interface Page {
  result: RunResult;
  distributions: Distribution[];
  heat: Heat | undefined;
  profiles: Profile[];
}

type Written = Omit<Page, "heat"> & { slices: Columns; heat?: Heat };

export function read(text: string): Page {
  const { slices, heat, ...page } = JSON.parse(text) as Written;
  return { ...page, heat, result: { ...page.result, slices: rows(slices) } };
}

/** Where a slice stands on the time axis, s: runs that are compared are laid over each other, each from its own start on. */
export function when(slice: Slice): number {
  return slice.own_at_s ?? slice.at_s;
}

/** The slices of some cells, in the order in which they stand on the time axis. */
export function inTime(slices: Slice[], cells: Cell[]): Slice[] {
  return slices.filter(({ cell }) => cells.some(({ id }) => id === cell)).sort((one, other) => when(one) - when(other));
}

/** The slices, one by one. */
export function rows({ length, columns }: Columns): Slice[] {
  const slices = Array.from({ length }, () => ({}) as Record<string, unknown>);
  for (const [path, own] of Object.entries(columns)) {
    const column = typeof own === "string" ? (columns[own] as unknown[]) : own;
    const keys = path.split("/").map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
    slices.forEach((slice, at) => enter(slice, keys, column.length === 1 ? column[0] : column[at]));
  }
  return slices as unknown as Slice[];
}

function enter(into: Record<string, unknown>, keys: string[], value: unknown): void {
  const [key, ...rest] = keys;
  if (key === undefined || key === "__proto__") return;
  if (rest.length === 0) {
    into[key] = value;
    return;
  }
  into[key] ??= {};
  enter(into[key] as Record<string, unknown>, rest, value);
}
