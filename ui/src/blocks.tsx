// What a difference is made of: that of each block.
import { difference, round } from "./format";
import type { Unit } from "./format";
import type { Row } from "./generated/result";
import { outline } from "./marks";
import type { Place } from "./marks";
import { Measured, scaled, ticks } from "./measured";

/** The difference in each block, in the order of measurement, against zero and the margin. */
export function Blocks({ row, unit }: { row: Row; unit: Unit }) {
  const values = row.block_differences;
  if (values.length === 0) return null;
  const [height, left, bottom] = [150, 66, 20];
  const sorted = [...values].sort((one, other) => one - other);
  // A single block may lie far away; it is drawn at the edge then.
  const within = [sorted[Math.floor(sorted.length * 0.02)] ?? 0, sorted[Math.ceil(sorted.length * 0.98) - 1] ?? 0];
  const low = Math.min(0, -row.margin, ...within);
  const high = Math.max(0, row.margin, ...within) || 1;
  const y = scaled([low, high], [height - bottom - 4, 6]);
  return (
    <section>
      <h3>Block by block</h3>
      <p class="caption">the difference of the slices in each block, in the order of measurement; grey band: margin; triangle: lies beyond</p>
      <Measured height={height} label={`${values.length} differences, from ${difference(sorted[0] ?? 0, unit)} to ${difference(sorted.at(-1) ?? 0, unit)}`}>
        {(width) => {
          const x = scaled([0, Math.max(values.length - 1, 1)], [left + 6, width - 8]);
          return (
            <>
              <rect class="margin" x={left} width={Math.max(width - left, 0)} y={y(row.margin)} height={Math.max(y(-row.margin) - y(row.margin), 0)} />
              {ticks(low, high, 4).map((tick) => (
                <g key={tick}>
                  <line class={tick === 0 ? "zero" : "tick"} x1={left} x2={width} y1={y(tick)} y2={y(tick)} />
                  <text x={left - 6} y={y(tick) + 4} text-anchor="end">
                    {tick > 0 ? "+" : ""}
                    {round(tick, unit)}
                  </text>
                </g>
              ))}
              {/* Thousands of points are one path: an element for each takes long to lay out. */}
              <path class="point" d={outline("ring", values.flatMap((value, at): Place[] => (value < low || value > high ? [] : [[x(at), y(value)]])), values.length > 120 ? 2 : 3)} />
              <path
                class="beyond-point"
                d={values
                  .map((value, at) => {
                    if (value > high) return `M${x(at) - 3} ${y(high) + 4}h6l-3 -5z`;
                    return value < low ? `M${x(at) - 3} ${y(low) - 4}h6l-3 5z` : "";
                  })
                  .join("")}
              />
            </>
          );
        }}
      </Measured>
    </section>
  );
}
