// uPlot as a component: as wide as its place, and drawn again when the colour scheme changes or the page is printed.
import { useLayoutEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { colour } from "./cells";
import { logTicks } from "./measured";

interface Props {
  /** All but the size; asked for again when colours change. */
  options: () => Omit<uPlot.Options, "width" | "height">;
  data: uPlot.AlignedData;
  height: number;
  /** What a screen reader says instead. */
  label: string;
  /** Told of each plot that was made. */
  onMade?: (plot: uPlot) => void;
}

const plots = new WeakMap<Element, uPlot>();

/** The plot that was drawn in this element. */
export function plotIn(place: Element): uPlot | undefined {
  return plots.get(place);
}

const SCHEMES = ["(prefers-color-scheme: dark)", "print"];

/** Calls `draw` whenever colours change; returns what ends that. */
export function onNewColours(draw: () => void): () => void {
  const queries = SCHEMES.map((query) => matchMedia(query));
  queries.forEach((query) => query.addEventListener("change", draw));
  return () => queries.forEach((query) => query.removeEventListener("change", draw));
}

export function Plot({ options, data, height, label, onMade }: Props) {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const into = place.current;
    if (into === null) return;
    let plot: uPlot | undefined;
    const draw = () => {
      plot?.destroy();
      plot = new uPlot({ ...options(), width: Math.max(into.clientWidth, 200), height }, data, into);
      plots.set(into, plot);
      onMade?.(plot);
    };
    draw();
    const resized = new ResizeObserver(() => {
      const width = into.clientWidth;
      if (plot !== undefined && width > 0 && width !== plot.width) plot.setSize({ width, height });
    });
    resized.observe(into);
    const end = onNewColours(draw);
    return () => {
      resized.disconnect();
      end();
      plot?.destroy();
    };
  }, [options, data, height]);
  return <div class="plot" role="img" aria-label={label} ref={place} />;
}

/** An axis in the colours of the page. */
export function axis(more: uPlot.Axis): uPlot.Axis {
  const line = { stroke: colour("--line"), width: 1 };
  return {
    stroke: colour("--soft"),
    grid: line,
    ticks: { ...line, size: 4 },
    font: "11px system-ui, sans-serif",
    ...more,
  };
}

/** The range of a logarithmic scale that ends where the values do, rather than at powers of ten. */
export function closeRange(_plot: uPlot, low: number | null, high: number | null): uPlot.Range.MinMax {
  if (low === null || high === null || low <= 0) return [1, 10];
  return [low / 1.08, high * 1.08];
}

/** Pixels of a plot for its time axis and the room above it, and between two ticks of the other axis. */
const [BESIDE, APART] = [60, 14];

/** The ticks of a logarithmic scale that does not end at powers of ten, as many as there is room for. */
export const LOG_TICKS: uPlot.Axis = {
  splits: (plot, _axis, low, high) => {
    const pixels = (from: number, to: number) => ((plot.height - BESIDE) * Math.log(to / from)) / Math.log(high / low);
    const apart: number[] = [];
    for (const tick of logTicks(low, high)) if (pixels(apart.at(-1) ?? Number.MIN_VALUE, tick) >= APART) apart.push(tick);
    return apart;
  },
  filter: (_plot, splits) => splits,
};
