// A figure of every cell over the loads of a run, each with its own interval, a line for each platform.
import { useMemo, useState } from "preact/hooks";
import { loadName, loads, looks } from "./cells";
import { Choice } from "./choice";
import type { Page } from "./data";
import { round } from "./format";
import type { Unit } from "./format";
import { Legend, outline } from "./legend";
import { Measured, scaled, ticks } from "./measured";

const [HEIGHT, LEFT, BOTTOM] = [260, 72, 38];

export function Sweep({ page }: { page: Page }) {
  const { result } = page;
  const all = loads(result);
  const look = useMemo(() => looks(result), [page]);
  const asked = result.cells.filter(({ role }) => role !== "twin");
  const metrics = useMemo(() => {
    const known = new Map(asked.flatMap(({ figures }) => figures).map(({ metric, label }) => [metric, label.trim()]));
    return [...known].map(([metric, label]) => [metric, label] as const);
  }, [page]);
  const [metric, setMetric] = useState(metrics.find(([id]) => id === "response.p50")?.[0] ?? metrics[0]?.[0] ?? "");
  // Loads that differ in how connections are used alone are no series.
  const isSeries = new Set(asked.map(({ load, connections }) => `${load} ${connections}`)).size > 1;
  if (!isSeries || result.capacities || metrics.length === 0) return null;
  const points = asked.flatMap((cell) => {
    const found = cell.figures.find((each) => each.metric === metric);
    return found === undefined ? [] : [{ cell, found, at: all.indexOf(loadName(cell)) }];
  });
  const ends = points.flatMap(({ found }) => [found.value, ...(found.t_interval ?? [])]);
  const [low, high] = [Math.min(...ends, 0), Math.max(...ends, 0) * 1.05 || 1];
  const unit = (points[0]?.found.unit ?? "1") as Unit;
  const y = scaled([low, high], [HEIGHT - BOTTOM, 6]);
  const labels = [...new Set(asked.map(({ label }) => label))];
  const first = labels.map((label) => asked.find((cell) => cell.label === label)).filter((cell) => cell !== undefined);
  return (
    <section>
      <h2>Load by load</h2>
      <p class="caption">each cell by itself with Student’s t interval; what is compared stands in the tables</p>
      <div class="choices">
        <Choice label="figure" options={metrics} value={metric} onChange={setMetric} />
      </div>
      <Legend cells={first} looks={look} />
      <Measured height={HEIGHT} label={`${metrics.find(([id]) => id === metric)?.[1] ?? metric} of ${labels.join(", ")} under ${all.length} loads`}>
        {(width) => {
          const x = scaled([-0.4, all.length - 0.6], [LEFT, width - 4]);
          const apart = Math.min(10, (x(1) - x(0)) / (labels.length + 2));
          const place = (at: number, label: string) => x(at) + (labels.indexOf(label) - (labels.length - 1) / 2) * apart;
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
              {all.map((load, at) => {
                const text = load.split(/[ ,]/)[0] ?? load;
                const every = Math.ceil(all.length / Math.max(width / 90, 1));
                return (
                  at % every === 0 && (
                    <text key={load} x={x(at)} y={HEIGHT - 20} text-anchor="middle">
                      {text === "closed" ? load.replace(/.*, (\d+) conn.*/, "$1 conn.") : text}
                    </text>
                  )
                );
              })}
              {labels.map((label) => {
                const own = points.filter(({ cell }) => cell.label === label).sort((one, other) => one.at - other.at);
                const cell = own[0]?.cell;
                if (cell === undefined) return null;
                const ownLook = look[cell.id];
                return (
                  <g key={label} style={{ color: `var(${ownLook?.colour ?? "--base"})` }}>
                    <path class="thin" d={own.map(({ found, at }, index) => `${index === 0 ? "M" : "L"}${place(at, label)} ${y(found.value)}`).join("")} stroke-dasharray={ownLook?.dash.join(" ")} />
                    {own.map(({ found, at }) => (
                      <g key={at}>
                        {found.t_interval && <line class="arm" x1={place(at, label)} x2={place(at, label)} y1={y(found.t_interval[0])} y2={y(found.t_interval[1])} />}
                        <path class={ownLook?.shape === "ring" ? "hollow" : "filled"} d={outline(ownLook?.shape ?? "dot", place(at, label), y(found.value), 4)} />
                      </g>
                    ))}
                  </g>
                );
              })}
            </>
          );
        }}
      </Measured>
    </section>
  );
}
