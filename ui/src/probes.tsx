// What the machine and the services did, on the time axis of the slices.
import { useMemo, useState } from "preact/hooks";
import uPlot from "uplot";
import { colour, loadName, looks } from "./cells";
import type { Look } from "./cells";
import { inTime, when } from "./data";
import type { Page } from "./data";
import { figure, labels, seconds } from "./format";
import type { Slice } from "./generated/result";
import { Legend } from "./legend";
import { useLoad } from "./load-choice";
import { draw } from "./marks";
import type { Place } from "./marks";
import { Plot, axis } from "./plot";
import { probesOf, observed } from "./probe-list";
import type { Probe } from "./probe-list";
import { SYNC, deployments, lines, spread } from "./slices";

export function Probes({ page }: { page: Page }) {
  const { load, choice } = useLoad(page);
  const cells = page.result.cells.filter((cell) => loadName(cell) === load);
  const slices = useMemo(() => inTime(page.result.slices, cells), [load]);
  const seen = useMemo(
    () => probesOf(page.result).filter((probe) => slices.some((slice) => (observed(slice, probe) ?? 0) > 0)),
    [load],
  );
  const [chosen, setChosen] = useState(() => seen.filter(({ first }) => first).map(name));
  if (seen.length === 0) return null;
  const toggle = (probe: Probe) => {
    const key = name(probe);
    setChosen(chosen.includes(key) ? chosen.filter((other) => other !== key) : [...chosen, key]);
  };
  return (
    <section>
      <h2>What the machine did meanwhile</h2>
      <p class="caption">each point a slice, on the time axis above; counters for each answered request or each second</p>
      <div class="choices">{choice}</div>
      <Legend cells={cells} looks={looks(page.result)} />
      <div class="probes">
        {seen
          .filter((probe) => chosen.includes(name(probe)))
          .map((probe) => (
            <ProbePlot key={`${load} ${name(probe)}`} page={page} slices={slices} probe={probe} />
          ))}
      </div>
      <details>
        <summary>Which of them</summary>
        <ul class="checkboxes">
          {seen.map((probe) => (
            <li key={name(probe)}>
              <label>
                <input type="checkbox" checked={chosen.includes(name(probe))} onChange={() => toggle(probe)} /> {probe.label}
              </label>
            </li>
          ))}
        </ul>
      </details>
    </section>
  );
}

function name(probe: Probe): string {
  return probe.path.join("/");
}

function ProbePlot({ page, slices, probe }: { page: Page; slices: Slice[]; probe: Probe }) {
  const look = useMemo(() => looks(page.result), [page]);
  const values = useMemo(() => slices.map((slice) => observed(slice, probe) ?? null), []);
  const data = useMemo((): uPlot.AlignedData => [slices.map(when), values], []);
  const [read, setRead] = useState("");
  const options = useMemo(
    () => (): Omit<uPlot.Options, "width" | "height"> => ({
      scales: { x: { time: false, range: spread }, y: { range: (_plot, low, high) => [Math.min(low, 0), high * 1.1 || 1] } },
      legend: { show: false },
      cursor: { drag: { x: true, y: false }, points: { show: false }, y: false, sync: { key: SYNC } },
      axes: [
        axis({ values: (_plot, splits) => splits.map(seconds) }),
        axis({ size: 64, space: 28, values: (_plot, splits) => labels(splits, probe.unit) }),
      ],
      series: [{}, { paths: () => null, points: { show: false } }],
      hooks: {
        draw: [(plot) => dots(plot, slices, page, look)],
        setCursor: [
          (plot) => {
            const { idx } = plot.cursor;
            const slice = idx === null || idx === undefined ? undefined : slices[idx];
            setRead(slice === undefined ? "" : `${page.result.cells[slice.cell]?.label ?? ""} ${figure(observed(slice, probe), probe.unit)}`);
          },
        ],
      },
    }),
    [],
  );
  return (
    <div class="probe">
      <h3>
        {probe.label} <span class="readout">{read}</span>
      </h3>
      <Plot options={options} data={data} height={120} label={`${probe.label} in each slice`} />
    </div>
  );
}

function dots(plot: uPlot, slices: Slice[], { result }: Page, looks: Look[]): void {
  const { ctx } = plot;
  const scale = devicePixelRatio || 1;
  ctx.save();
  deployments(plot, slices, result.cells, scale);
  lines(plot, slices, result.cells, looks, scale);
  const marks = looks.map((look) => ({ look, counted: [] as Place[], left: [] as Place[] }));
  const { min = -Infinity, max = Infinity } = plot.scales["x"] ?? {};
  slices.forEach((slice, index) => {
    const value = plot.data[1]?.[index];
    const at = when(slice);
    if (value === null || value === undefined || at < min || at > max) return;
    marks[slice.cell]?.[slice.counted ? "counted" : "left"].push([plot.valToPos(at, "x", true), plot.valToPos(value, "y", true)]);
  });
  const size = 1.6 * scale;
  marks.forEach(({ look, counted, left }) => {
    ctx.fillStyle = colour(look.colour);
    draw(ctx, counted, "square", size, "fill");
    ctx.globalAlpha = 0.35;
    draw(ctx, left, "square", size, "fill");
    ctx.globalAlpha = 1;
  });
  ctx.restore();
}
