// Histograms of several cells on one logarithmic axis of time. Heights are logarithmic, too, so that a rare slow request is seen.
import type { Look } from "./cells";
import type { Bins, Distribution } from "./data";
import { roundTime } from "./format";
import type { Cell } from "./generated/result";
import { Legend } from "./legend";
import { Measured, logTicks, scaled } from "./measured";

interface Props {
  distributions: Distribution[];
  cells: Cell[];
  looks: Look[];
}

const [HEIGHT, LEFT, BOTTOM] = [170, 50, 20];

export function Histogram({ distributions, cells, looks }: Props) {
  const edges = distributions.flatMap(({ bins }) => [edge(bins, 0), edge(bins, bins.counts.length)]);
  const [low, high] = [Math.min(...edges), Math.max(...edges)];
  const most = Math.max(...distributions.flatMap(({ bins }) => bins.counts), 1);
  const y = scaled([0.7, most * 1.3], [HEIGHT - BOTTOM, 4], true);
  const shown = distributions.map(({ cell }) => cells[cell]).filter((cell) => cell !== undefined);
  return (
    <>
      <Legend cells={shown} looks={looks} lines />
      <Measured height={HEIGHT} label={`Histogram of ${shown.map(({ label }) => label).join(" and ")}, requests by time, both axes logarithmic`}>
        {(width) => {
          const x = scaled([low, high], [LEFT, width - 8], true);
          return (
            <>
              {logTicks(1, most).map((count) => (
                <g key={count}>
                  <line class="tick" x1={LEFT} x2={width} y1={y(count)} y2={y(count)} />
                  {(most < 1000 || Number.isInteger(Math.log10(count))) && (
                    <text x={LEFT - 6} y={y(count) + 4} text-anchor="end">
                      {count.toLocaleString("en")}
                    </text>
                  )}
                </g>
              ))}
              {logTicks(low, high).map((ns) => (
                <text key={ns} x={x(ns)} y={HEIGHT - 5} text-anchor="middle">
                  {roundTime(ns)}
                </text>
              ))}
              {distributions.map(({ cell, bins }) => {
                const look = looks[cell];
                return (
                  <path
                    key={cell}
                    class="outline"
                    d={steps(bins, x, y)}
                    style={{ stroke: `var(${look?.colour ?? "--base"})` }}
                    stroke-dasharray={look?.dash.join(" ")}
                  />
                );
              })}
            </>
          );
        }}
      </Measured>
    </>
  );
}

/** Where a bin begins, ns. */
export function edge(bins: { per_doubling: number; first: number }, at: number): number {
  return 2 ** ((bins.first + at) / bins.per_doubling);
}

function steps(bins: Bins, x: (ns: number) => number, y: (count: number) => number): string {
  const floor = y(0.7);
  const parts = bins.counts.map((count, at) => {
    const top = count > 0 ? y(count) : floor;
    return `L${x(edge(bins, at)).toFixed(1)} ${top.toFixed(1)}H${x(edge(bins, at + 1)).toFixed(1)}`;
  });
  return `M${x(edge(bins, 0)).toFixed(1)} ${floor}${parts.join("")}V${floor}`;
}
