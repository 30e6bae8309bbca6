// Response times of all requests over time, a row of the picture for each cell: the darker, the more requests took so long. The faintest
// shade is still seen well, because a single slow request is what one looks for.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { colour, loadName, loads, looks } from "./cells";
import { LoadChoice } from "./choice";
import type { Heat, Page } from "./data";
import { roundTime, time } from "./format";
import type { Cell } from "./generated/result";
import { edge } from "./histogram";
import { Measured, logTicks, scaled } from "./measured";
import { onNewColours } from "./plot";

const HEIGHT = 110;
const LEFT = 64;
/** Opacity of a bin with a single request. */
const LEAST = 0.28;

export function HeatMap({ page }: { page: Page }) {
  const all = loads(page.result);
  const [load, setLoad] = useState(all[0] ?? "");
  const { heat } = page;
  const cells = page.result.cells.filter((cell) => loadName(cell) === load);
  const range = useMemo(() => {
    const edges = (heat?.slices ?? []).flatMap(([first, counts], at) =>
      counts.length > 0 && cells.some(({ id }) => id === page.result.slices[at]?.cell) ? [first, first + counts.length] : [],
    );
    return edges.length > 0 ? ([Math.min(...edges), Math.max(...edges)] as const) : undefined;
  }, [load]);
  if (heat === undefined || range === undefined) return null;
  return (
    <section>
      <h2>Response times over time</h2>
      <p class="caption">a column for each slice that counts, in the order of measurement; the darker, the more requests; the faintest is one</p>
      <div class="choices">
        <LoadChoice loads={all} value={load} onChange={setLoad} />
      </div>
      {cells.filter(({ id }) => page.result.slices.some((slice) => slice.cell === id && slice.counted)).map((cell) => (
        <CellHeat key={`${load} ${cell.id}`} page={page} heat={heat} cell={cell} range={range} />
      ))}
    </section>
  );
}

function CellHeat({ page, heat, cell, range }: { page: Page; heat: Heat; cell: Cell; range: readonly [number, number] }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [first, end] = range;
  const columns = useMemo(
    () => heat.slices.filter((_, at) => page.result.slices[at]?.cell === cell.id && page.result.slices[at]?.counted === true),
    [],
  );
  useEffect(() => {
    const draw = () => paint(canvas.current, columns, first, end, colour(looks(page.result)[cell.id]?.colour ?? "--base"));
    draw();
    return onNewColours(draw);
  }, []);
  const [low, high] = [first, end].map((bin) => edge({ per_doubling: heat.per_doubling, first: bin }, 0)) as [number, number];
  const y = scaled([low, high], [HEIGHT, 0], true);
  return (
    <figure class="heat">
      <figcaption>{cell.label}</figcaption>
      <div class="frame">
        <Measured height={HEIGHT}>
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
            </>
          )}
        </Measured>
        <canvas ref={canvas} role="img" aria-label={`Response times of ${cell.label} in ${columns.length} slices, from ${time(low)} to ${time(high)}`} />
      </div>
    </figure>
  );
}

function paint(canvas: HTMLCanvasElement | null, columns: [number, number[]][], first: number, end: number, colour: string): void {
  const context = canvas?.getContext("2d");
  if (!canvas || !context || columns.length === 0) return;
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
