// Latency against the rate asked for, as a search tried it: where slices passed and failed, and the bounds of each capacity.
import { useMemo } from "preact/hooks";
import { looks } from "./cells";
import type { Page } from "./data";
import { figure, roundTime } from "./format";
import { Legend } from "./legend";
import { Measured, logTicks, scaled, ticks } from "./measured";

const [HEIGHT, LEFT, BOTTOM] = [260, 66, 22];

export function CapacityCurves({ page }: { page: Page }) {
  const found = page.result.capacities;
  const look = useMemo(() => looks(page.result), [page]);
  if (!found) return null;
  const points = found.cells.flatMap(({ curve }) => curve).filter(({ p99_ns }) => p99_ns > 0);
  if (points.length === 0) return null;
  const limits = (found.bounds ?? []).flatMap(({ metric, bound, text }) => (metric.startsWith("response.") && "at_most" in bound ? [{ text, ns: bound.at_most }] : []));
  const rates = points.map(({ rate_per_second }) => rate_per_second);
  const times = [...points.flatMap(({ p50_ns, p99_ns }) => [p50_ns, p99_ns]), ...limits.map(({ ns }) => ns)].filter((ns) => ns > 0);
  const [slowest, fastest] = [Math.max(...times) * 1.2, Math.min(...times) / 1.2];
  const most = Math.max(...rates) * 1.04;
  const y = scaled([fastest, slowest], [HEIGHT - BOTTOM, 6], true);
  const cells = found.cells.map(({ cell }) => page.result.cells[cell]).filter((cell) => cell !== undefined);
  return (
    <section>
      <h2>Latency by rate</h2>
      <p class="caption">
        p99 of each rate that was tried: filled if most slices passed, hollow if most failed; thin line: p50; upright line: capacity, its
        interval shaded; dotted: the highest rate that certainly passes, and the lowest that certainly fails; diamond: the knee, beyond which waiting
        grows faster than throughput{limits.length > 0 && "; dashed line: objective"}
      </p>
      <Legend cells={cells} looks={look} />
      <Measured height={HEIGHT} label={`Latency by rate of ${cells.map(({ label }) => label).join(", ")}; the figures stand under “Every rate that was tried”`}>
        {(width) => {
          const x = scaled([0, most], [LEFT, width - 10]);
          return (
            <>
              {logTicks(fastest, slowest).map((ns) => (
                <g key={ns}>
                  <line class="tick" x1={LEFT} x2={width} y1={y(ns)} y2={y(ns)} />
                  <text x={LEFT - 6} y={y(ns) + 4} text-anchor="end">
                    {roundTime(ns)}
                  </text>
                </g>
              ))}
              {ticks(0, most, width < 500 ? 3 : 6).map((rate) => (
                <text key={rate} x={x(rate)} y={HEIGHT - 5} text-anchor="middle">
                  {figure(rate, "/s")}
                </text>
              ))}
              {limits.map(({ text, ns }) => (
                <g key={text}>
                  <line class="objective" x1={LEFT} x2={width} y1={y(ns)} y2={y(ns)} />
                  <text x={width - 10} y={y(ns) + (y(ns) < 20 ? 13 : -5)} text-anchor="end">
                    {text}
                  </text>
                </g>
              ))}
              {found.cells.map((capacity) => {
                const curve = capacity.curve.filter(({ p99_ns }) => p99_ns > 0);
                const color = `var(${look[capacity.cell]?.colour ?? "--base"})`;
                const knee = curve.find(({ rate_per_second }) => rate_per_second === capacity.knee?.rate_per_second);
                const line = (of: "p50_ns" | "p99_ns") =>
                  curve.map((point, at) => `${at === 0 ? "M" : "L"}${x(point.rate_per_second).toFixed(1)} ${y(point[of]).toFixed(1)}`).join("");
                return (
                  <g key={capacity.cell} style={{ color }}>
                    {capacity.interval && (
                      <rect class="shade" x={x(capacity.interval[0])} width={Math.max(x(capacity.interval[1]) - x(capacity.interval[0]), 1)} y={6} height={HEIGHT - BOTTOM - 6} />
                    )}
                    {[capacity.lower_bound, capacity.upper_bound].map((rate, at) =>
                      typeof rate === "number" ? <line key={at} class="bound" x1={x(rate)} x2={x(rate)} y1={6} y2={HEIGHT - BOTTOM} /> : null,
                    )}
                    {typeof capacity.rate_per_second === "number" && (
                      <line class="found" x1={x(capacity.rate_per_second)} x2={x(capacity.rate_per_second)} y1={6} y2={HEIGHT - BOTTOM} />
                    )}
                    <path class="thin" d={line("p50_ns")} />
                    <path class="curve" d={line("p99_ns")} stroke-dasharray={look[capacity.cell]?.dash.join(" ")} />
                    {knee && <path class="knee" d={`M${x(knee.rate_per_second)} ${y(knee.p50_ns) - 6}l6 6l-6 6l-6 -6z`} />}
                    {curve.map((point, at) => (
                      <circle key={at} class={point.passed >= point.failed ? "passed" : "failed"} cx={x(point.rate_per_second)} cy={y(point.p99_ns)} r="4" />
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
