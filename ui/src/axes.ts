// What the cells of a run can be drawn over: a number in which they differ, or its loads one after the other.
import { loadName, loads, looks, seriesLook } from "./cells";
import type { Look } from "./cells";
import { round } from "./format";
import type { Cell, RunResult } from "./generated/result";

export interface Line {
  label: string;
  look: Look;
  /** From left to right. */
  points: { at: number; cell: Cell }[];
}

export interface Axis {
  key: string;
  /** `CPU limit` */
  name: string;
  lines: Line[];
  /** Where something stands on it, and its name. */
  marks: { at: number; name: string }[];
  /** Its ends. */
  ends: [number, number];
  logarithmic: boolean;
}

/** Loads have an axis of their own, which has all of them. */
const OF_LOADS = ["rate", "connections"];
/** Values that lie further apart than this are drawn by their logarithms. */
const WIDE = 8;

/** All of a run. The loads of a search for capacities are where it begins. */
export function axes(result: RunResult): Axis[] {
  const keys = [...new Set((result.sweeps ?? []).map(({ over }) => over))].filter((key) => result.capacities || !OF_LOADS.includes(key));
  return [...keys.map((key) => ofNumber(result, key)), ...(result.capacities ? [] : ofLoads(result))];
}

function ofNumber(result: RunResult, key: string): Axis {
  const sweeps = (result.sweeps ?? []).filter(({ over }) => over === key);
  const lines = sweeps.map(({ label, points }, index) => ({
    label,
    look: seriesLook(index),
    points: points.flatMap(({ value, cell }) => result.cells.filter(({ id }) => id === cell).map((found) => ({ at: value, cell: found }))),
  }));
  const unit = sweeps[0]?.unit ?? "1";
  const values = [...new Set(sweeps.flatMap(({ points }) => points.map(({ value }) => value)))].sort((one, other) => one - other);
  const [low, high] = [values[0] ?? 0, values.at(-1) ?? 1];
  const logarithmic = low > 0 && high / low > WIDE;
  const room = logarithmic ? [low / 1.15, high * 1.15] : [low - 0.05 * (high - low), high + 0.05 * (high - low)];
  return {
    key,
    name: sweeps[0]?.name ?? key,
    lines,
    marks: values.map((value) => ({ at: value, name: unit === "1" ? String(value) : round(value, unit) })),
    ends: room as [number, number],
    logarithmic,
  };
}

/** Loads that differ in how connections are used alone are no series. */
function ofLoads(result: RunResult): Axis[] {
  const asked = result.cells.filter(({ role }) => role !== "twin");
  if (new Set(asked.map(({ load, connections }) => `${load} ${connections}`)).size < 2) return [];
  const [all, look] = [loads(result), looks(result)];
  const lines = [...new Set(asked.map(({ label }) => label))].flatMap((label) => {
    const cells = asked.filter((cell) => cell.label === label);
    const own = look[cells[0]?.id ?? 0];
    const points = cells.map((cell) => ({ at: all.indexOf(loadName(cell)), cell })).sort((one, other) => one.at - other.at);
    return own === undefined ? [] : [{ label, look: own, points }];
  });
  return [{ key: "loads", name: "load", lines, marks: all.map((load, at) => ({ at, name: shortName(load) })), ends: [-0.4, all.length - 0.6], logarithmic: false }];
}

/** `2000/s`, `8 conn.` */
function shortName(load: string): string {
  const text = load.split(/[ ,]/)[0] ?? load;
  return text === "closed" ? load.replace(/.*, (\d+) conn.*/, "$1 conn.") : text;
}
