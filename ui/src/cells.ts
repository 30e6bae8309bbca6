// How the cells of a run look in every drawing: the baseline slate, the first candidate in the accent, each with a shape and a dash of its
// own, so that colour is never all that tells them apart.
import type { Cell, RunResult } from "./generated/result";

export type Shape = "ring" | "dot" | "square" | "triangle" | "diamond";

export interface Look {
  /** Name of a CSS variable. */
  colour: string;
  shape: Shape;
  dash: number[];
}

const SHAPES: Shape[] = ["dot", "square", "triangle", "diamond"];
const DASHES = [[], [10, 3], [2, 3], [10, 3, 2, 3]];
/** The colours of candidates, each with the shape and the dash that it comes with first. */
const CANDIDATES = [
  { colour: "--accent", shape: 0, dash: 0 },
  { colour: "--blue", shape: 1, dash: 0 },
  { colour: "--green", shape: 2, dash: 1 },
  { colour: "--violet", shape: 3, dash: 2 },
  { colour: "--gold", shape: 1, dash: 3 },
];
const BASELINE: Look = { colour: "--base", shape: "ring", dash: [] };
const TWIN: Look = { colour: "--twin", shape: "ring", dash: [4, 3] };

/** The look of a candidate. Each time that a colour comes again it has the next shape and the next dash, so that twenty candidates look different. */
function candidateLook(index: number): Look {
  const first = CANDIDATES[index % CANDIDATES.length];
  const turn = Math.floor(index / CANDIDATES.length);
  const shape = SHAPES[((first?.shape ?? 0) + turn) % SHAPES.length];
  const dash = DASHES[((first?.dash ?? 0) + turn) % DASHES.length];
  return first === undefined || shape === undefined || dash === undefined ? BASELINE : { colour: first.colour, shape, dash };
}

/** The look of a line that stands for several cells. */
export function seriesLook(index: number): Look {
  return index === 0 ? BASELINE : candidateLook(index - 1);
}

/** What a look is chosen by. */
export type Named = Pick<Cell, "id" | "label" | "role">;

/** The look of each cell; those with the same name look the same under every load. */
export function looks({ cells }: { cells: Named[] }): Look[] {
  const candidates = [...new Set(cells.filter((cell) => !isFirst(cell) && cell.role !== "twin").map((cell) => cell.label))];
  return cells.map((cell) => {
    if (cell.role === "twin") return TWIN;
    if (isFirst(cell)) return BASELINE;
    return candidateLook(candidates.indexOf(cell.label));
  });

  function isFirst(cell: Named): boolean {
    return cell.label === cells[0]?.label;
  }
}

/** `2000/s Poisson, HTTP/2 with 4 streams, 16 connections`: all that belongs to a load, as the tables name it. */
export function loadName({ load, http2_streams: streams, kernel_timestamps, timeout_s, requests_per_connection, new_connections, connections }: Cell): string {
  const parts = [
    load,
    typeof streams === "number" && (streams === 1 ? "HTTP/2" : `HTTP/2 with ${streams} streams`),
    kernel_timestamps === true && "kernel timestamps",
    typeof timeout_s === "number" && `time-out ${timeout_s}s`,
    typeof requests_per_connection === "number" && `${requests_per_connection} requests per connection`,
    new_connections && "a new connection per request",
    `${connections} connection${connections === 1 ? "" : "s"}`,
  ];
  return parts.filter((part) => part !== false && part !== "").join(", ");
}

/** The loads of a run, each once. */
export function loads(result: RunResult): string[] {
  return [...new Set(result.cells.map(loadName))];
}

/** The value of a CSS variable now. */
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
