// Response times of all requests over time, a row of the picture for each cell: the darker, the more requests took so long. The faintest
// shade is still seen well, because a single slow request is what one looks for.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { colour, loadName, looks } from "./cells";
import { merged } from "./columns";
import { when } from "./data";
import type { Column, Heat, Page } from "./data";
import { roundTime, seconds, time } from "./format";
import type { Cell, Slice } from "./generated/result";
import { edge } from "./histogram";
import { useLoad } from "./load-choice";
import { Measured, logTicks, scaled } from "./measured";
import { onNewColours } from "./plot";

const HEIGHT = 110;
const LEFT = 64;
/** Below the map, for the time. */
const BOTTOM = 18;
/** Pixels between two times. */
const APART = 90;
/** Opacity of a bin with a single request. */
const LEAST = 0.28;
/** Where each key goes: columns to the right, bins up. */
const KEYS: Record<string, Place> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1], Home: [-Infinity, 0], End: [Infinity, 0] };

/** A column and a bin of the map. */
type Place = readonly [at: number, bin: number];

export function HeatMap({ page }: { page: Page }) {
  const { load, choice } = useLoad(page);
  const { heat } = page;
  const cells = page.result.cells.filter((cell) => loadName(cell) === load);
  const range = useMemo(() => {
    const columns = cells.flatMap(({ id }) => heat?.cells[id] ?? []).filter(([, counts]) => counts.length > 0);
    const edges = columns.flatMap(([first, counts]) => [first, first + counts.length]);
    return edges.length > 0 ? ([Math.min(...edges), Math.max(...edges)] as const) : undefined;
  }, [load]);
  if (heat === undefined || range === undefined) return null;
  return (
    <section>
      <h2>Response times over time</h2>
      <p class="caption">
        the slices that count, in the order of measurement, each as wide as any other; the darker, the more requests in a slice; the faintest is one; where there are too many slices
        for a column each, neighbours share one, which shows the most of any of them; a place tells its requests under the pointer, or under the ring that arrow keys move
      </p>
      <div class="choices">{choice}</div>
      {cells.filter(({ id }) => (heat.cells[id] ?? []).length > 0).map((cell) => (
        <CellHeat key={`${load} ${cell.id}`} page={page} heat={heat} cell={cell} range={range} />
      ))}
    </section>
  );
}

function CellHeat({ page, heat, cell, range }: { page: Page; heat: Heat; cell: Cell; range: readonly [number, number] }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [first, end] = range;
  const columns = heat.cells[cell.id] ?? [];
  useEffect(() => {
    const into = canvas.current;
    if (into === null) return;
    const draw = () => paint(into, columns, first, end, colour(looks(page.result)[cell.id]?.colour ?? "--base"));
    const resized = new ResizeObserver(draw);
    resized.observe(into);
    const stop = onNewColours(draw);
    return () => {
      resized.disconnect();
      stop();
    };
  }, []);
  const [pointed, setPointed] = useState<Place>();
  const [reached, setReached] = useState<Place>();
  const slices = useMemo(() => page.result.slices.filter((slice) => slice.cell === cell.id && slice.counted), []);
  const each = heat.slices_per_column;
  const of = (bin: number) => edge({ per_doubling: heat.per_doubling, first: bin }, 0);
  const within = (at: number, bin: number): Place => [Math.min(Math.max(at, 0), columns.length - 1), Math.min(Math.max(bin, first), end - 1)];
  const point = (event: PointerEvent & { currentTarget: HTMLCanvasElement }) => {
    const box = event.currentTarget.getBoundingClientRect();
    const [right, down] = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
    setPointed(within(Math.floor(right * columns.length), end - 1 - Math.floor(down * (end - first))));
  };
  const move = (event: KeyboardEvent) => {
    const by = KEYS[event.key];
    if (by === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    setPointed(undefined);
    const [at, bin] = reached ?? [0, first];
    setReached(within(at + by[0], bin + by[1]));
  };
  const tell = ([at, bin]: Place): string => {
    const [begin, counts] = columns[at] ?? [0, []];
    const count = counts[bin - begin] ?? 0;
    const shared = slices.slice(at * each, (at + 1) * each);
    const [one, last] = [shared[0], shared.at(-1)];
    if (one === undefined || last === undefined) return "";
    const requests = `${count} request${count === 1 ? "" : "s"} of ${time(of(bin))} to ${time(of(bin + 1))}`;
    return one === last ? `${told(one)}: ${requests}` : `${told(one)} to ${told(last)}: at most ${requests} in a slice`;
  };
  const place = pointed ?? reached;
  const [low, high] = [of(first), of(end)];
  const y = scaled([low, high], [HEIGHT, 0], true);
  return (
    <figure class="heat">
      <figcaption>{cell.label}</figcaption>
      <div class="frame">
        <Measured height={HEIGHT + BOTTOM}>
          {(width) => (
            <>
              {logTicks(low, high).map((ns) => (
                <g key={ns}>
                  <line class="tick" x1={LEFT} x2={width} y1={y(ns)} y2={y(ns)} />
                  <text x={LEFT - 6} y={Math.min(Math.max(y(ns) + 4, 10), HEIGHT - 2)} text-anchor="end">
                    {roundTime(ns)}
                  </text>
                </g>
              ))}
              {times(slices.length, width).map((at) => (
                <text key={at} x={LEFT + (at / (columns.length * each)) * (width - LEFT)} y={HEIGHT + BOTTOM - 4}>
                  {seconds(when(slices[at] as Slice))}
                </text>
              ))}
            </>
          )}
        </Measured>
        {/* Keys of an application are its own; a screen reader would keep them from an image. */}
        <canvas
          ref={canvas}
          role="application"
          tabIndex={0}
          onPointerMove={point}
          onPointerLeave={() => setPointed(undefined)}
          onKeyDown={move}
          onBlur={() => setReached(undefined)}
          aria-label={`Response times of ${cell.label} in ${slices.length} slices, from ${time(low)} to ${time(high)}`}
        />
        {reached !== undefined && (
          <div class="marked" style={{ left: `calc(${LEFT}px + ${(reached[0] + 0.5) / columns.length} * (100% - ${LEFT}px))`, top: `${((end - reached[1] - 0.5) / (end - first)) * HEIGHT}px` }} />
        )}
      </div>
      <p class="readout" aria-live="polite">
        {place === undefined ? "" : tell(place)}
      </p>
    </figure>
  );
}

/** `deployment 1, block 3, at 12.4 s` */
function told(slice: Slice): string {
  return `deployment ${slice.round + 1}, block ${slice.block + 1}, at ${seconds(when(slice))}`;
}

/** The slices below which their time is written: evenly over the map, because each slice is as wide as any other. */
function times(slices: number, width: number): number[] {
  const count = Math.max(1, Math.min(slices, Math.floor((width - LEFT) / APART)));
  return Array.from({ length: count }, (_, at) => Math.floor((at * slices) / count));
}

/** A pixel for each bin and column, which is enlarged to the size of the canvas: one that were made smaller would lose columns. */
function paint(canvas: HTMLCanvasElement, all: Column[], first: number, end: number, colour: string): void {
  const context = canvas.getContext("2d");
  const columns = merged(all, Math.floor(canvas.getBoundingClientRect().width * devicePixelRatio));
  if (context === null || columns.length === 0) return;
  canvas.width = columns.length;
  canvas.height = end - first;
  context.fillStyle = colour;
  const most = Math.max(...columns.flatMap(([, counts]) => counts), 2);
  columns.forEach(([begin, counts], x) => {
    counts.forEach((count, at) => {
      if (count === 0) return;
      context.globalAlpha = LEAST + (1 - LEAST) * (Math.log(count) / Math.log(most));
      context.fillRect(x, end - 1 - begin - at, 1, 1);
    });
  });
}
