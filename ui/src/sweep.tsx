// A figure of every cell over a number in which they differ, or over the loads of a run: each cell with its own interval, a line for those
// that are alike otherwise.
import { useMemo, useState } from "preact/hooks";
import { axes } from "./axes";
import type { Line } from "./axes";
import { Choice } from "./choice";
import type { Page } from "./data";
import { round } from "./format";
import type { Unit } from "./format";
import { Legend } from "./legend";
import { outline } from "./marks";
import { Measured, scaled, ticks } from "./measured";

const [HEIGHT, LEFT, BOTTOM] = [260, 72, 38];
/** What the name of a mark takes. */
const NAME_WIDTH = 60;

export function Sweep({ page }: { page: Page }) {
  const all = useMemo(() => axes(page.result), [page]);
  const [key, setKey] = useState(all[0]?.key ?? "");
  const axis = all.find((each) => each.key === key);
  const metrics = useMemo(() => {
    const figures = all.flatMap(({ lines }) => lines).flatMap(({ points }) => points).flatMap(({ cell }) => cell.figures);
    return [...new Map(figures.map(({ metric, label }) => [metric, label.trim()]))];
  }, [all]);
  const [metric, setMetric] = useState(metrics.find(([id]) => id === "capacity" || id === "response.p50")?.[0] ?? metrics[0]?.[0] ?? "");
  if (axis === undefined || metrics.length === 0) return null;
  const drawn = axis.lines.map((line) => ({ ...line, figures: figuresOf(line, metric) }));
  const figures = drawn.flatMap(({ figures }) => figures).map(({ found }) => found);
  const ends = figures.flatMap(({ value, t_interval }) => [value, ...(t_interval ?? [])]);
  const [low, high] = [Math.min(...ends, 0), Math.max(...ends, 0) * 1.05 || 1];
  const unit = (figures[0]?.unit ?? "1") as Unit;
  const y = scaled([low, high], [HEIGHT - BOTTOM, 6]);
  const named = drawn.map(({ label }, id) => ({ id, label, role: "candidate" as const }));
  const name = metrics.find(([id]) => id === metric)?.[1] ?? metric;
  return (
    <section>
      <h2>{axis.key === "loads" ? "Load by load" : `By ${axis.name}`}</h2>
      <p class="caption">each cell by itself with Student’s t interval; what is compared stands in the tables</p>
      <div class="choices">
        <Choice label="figure" options={metrics} value={metric} onChange={setMetric} />
        <Choice label="over" options={all.map(({ key, name }) => [key, name] as const)} value={axis.key} onChange={setKey} />
      </div>
      <Legend cells={named} looks={drawn.map(({ look }) => look)} />
      <Measured height={HEIGHT} label={`${name} of ${named.map(({ label }) => label).join(", ")} over ${axis.marks.length} values of ${axis.name}`}>
        {(width) => {
          const x = scaled(axis.ends, [LEFT, width - 4], axis.logarithmic);
          // Points of one value stand beside each other.
          const nearest = Math.min(...axis.marks.slice(1).map(({ at }, index) => x(at) - x(axis.marks[index]?.at ?? at)), width);
          const apart = Math.min(10, nearest / (drawn.length + 2));
          const place = (at: number, line: number) => x(at) + (line - (drawn.length - 1) / 2) * apart;
          return (
            <>
              {ticks(low, high, 5).map((tick) => (
                <g key={tick}>
                  <line class={tick === 0 ? "zero" : "tick"} x1={LEFT} x2={width} y1={y(tick)} y2={y(tick)} />
                  <text x={LEFT - 6} y={y(tick) + 4} text-anchor="end">
                    {round(tick, unit)}
                  </text>
                </g>
              ))}
              {withRoom(axis.marks, x).map(({ at, name }) => (
                <text key={at} x={x(at)} y={HEIGHT - 20} text-anchor="middle">
                  {name}
                </text>
              ))}
              {drawn.map(({ label, look, figures }, line) => (
                <g key={label} style={{ color: `var(${look.colour})` }}>
                  <path class="thin" d={figures.map(({ found, at }, index) => `${index === 0 ? "M" : "L"}${place(at, line)} ${y(found.value)}`).join("")} stroke-dasharray={look.dash.join(" ")} />
                  {figures.map(({ found, at }) => (
                    <g key={at}>
                      {found.t_interval && <line class="arm" x1={place(at, line)} x2={place(at, line)} y1={y(found.t_interval[0])} y2={y(found.t_interval[1])} />}
                      <path class={look.shape === "ring" ? "hollow" : "filled"} d={outline(look.shape, [[place(at, line), y(found.value)]], 4)} />
                    </g>
                  ))}
                </g>
              ))}
            </>
          );
        }}
      </Measured>
    </section>
  );
}

function figuresOf({ points }: Line, metric: string) {
  return points.flatMap(({ at, cell }) => cell.figures.filter((each) => each.metric === metric).map((found) => ({ found, at })));
}

/** Those marks whose names do not run into each other. */
function withRoom<M extends { at: number }>(marks: M[], x: (value: number) => number): M[] {
  const named: M[] = [];
  for (const mark of marks) {
    const before = named.at(-1);
    if (before === undefined || x(mark.at) - x(before.at) >= NAME_WIDTH) named.push(mark);
  }
  return named;
}
