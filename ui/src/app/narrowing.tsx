// How the interval of a difference has become narrower, block by block.
import { time } from "../format";
import { scaled } from "../measured";
import type { Status } from "./api";

/** What was known after so many blocks. */
export interface Known {
  blocks: number;
  cells: Status["live"]["cells"];
}

/** More are not told apart in a drawing of this size; of a long run every second one is forgotten, again and again. */
const MOST = 300;
const [WIDTH, HEIGHT] = [140, 28];
/** The first intervals are so wide that the last would be a line beside them: what is further off is cut. */
const REACH = 5;

/** What is known so far, with one more. */
export function known(before: Known[], { blocks, cells }: Known): Known[] {
  if (blocks <= (before.at(-1)?.blocks ?? 0)) return before;
  const kept = before.length < MOST ? before : before.filter((_, at) => at % 2 === 0);
  return [...kept, { blocks, cells }];
}

export function Narrowing({ past, cell }: { past: Known[]; cell: number }) {
  const steps = past.flatMap(({ blocks, cells }) => {
    const now = cells.find((each) => each.cell === cell);
    const [by, half] = [now?.difference_ns, now?.half_width_ns];
    return typeof by === "number" && typeof half === "number" ? [{ blocks, by, half }] : [];
  });
  const [first, last] = [steps[0], steps.at(-1)];
  if (first === undefined || last === undefined || first === last) return null;
  const ends: [number, number] = [Math.min(0, last.by - REACH * last.half), Math.max(0, last.by + REACH * last.half)];
  const x = scaled([first.blocks, last.blocks], [0, WIDTH]);
  const y = scaled(ends, [HEIGHT - 1, 1]);
  const line = (of: typeof steps, value: (step: (typeof steps)[number]) => number) => of.map((step) => `${x(step.blocks).toFixed(1)} ${y(value(step)).toFixed(1)}`).join("L");
  const upper = line(steps, ({ by, half }) => by + half);
  const lower = line(steps.toReversed(), ({ by, half }) => by - half);
  return (
    <svg class="narrowing" width={WIDTH} height={HEIGHT} role="img" aria-label={`±${time(first.half)} after ${first.blocks} blocks, ±${time(last.half)} after ${last.blocks}`}>
      <line class="zero" x1={0} x2={WIDTH} y1={y(0)} y2={y(0)} />
      <path class="shade" d={`M${upper}L${lower}Z`} />
      <path class="thin" d={`M${line(steps, ({ by }) => by)}`} />
    </svg>
  );
}
