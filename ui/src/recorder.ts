// What a plot draws on its canvas, written down as SVG while it draws it again.
import type uPlot from "uplot";
import { UNWRITTEN_OF_PATHS, WrittenPath, lost, read, short } from "./written-path";

export const SVG = "http://www.w3.org/2000/svg";
const ANCHORS: Record<CanvasTextAlign, string> = { start: "start", left: "start", center: "middle", end: "end", right: "end" };
const BASELINES: Partial<Record<CanvasTextBaseline, string>> = { top: "text-before-edge", middle: "central", bottom: "text-after-edge" };

export function element(kind: string, attributes: Record<string, string | number>): SVGElement {
  const made = document.createElementNS(SVG, kind);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  return made;
}

const UNWRITTEN = [...UNWRITTEN_OF_PATHS, "strokeText", "drawImage", "putImageData"] as const;

/** The plot as it is now, with its zoom and its colours. */
export async function recorded(plot: uPlot, name: string): Promise<SVGSVGElement> {
  const { ctx } = plot;
  const { width, height } = ctx.canvas;
  const drawing = element("svg", { width: width / devicePixelRatio, height: height / devicePixelRatio, viewBox: `0 0 ${width} ${height}` });
  lost.clear();
  const stop = record(ctx, drawing as SVGSVGElement, name);
  try {
    plot.redraw();
    // It draws in a microtask of its own, which comes first.
    await Promise.resolve();
  } finally {
    stop();
  }
  if (lost.size > 0) throw new Error(`not written down: ${[...lost].join(", ")}`);
  return drawing as SVGSVGElement;
}

/** Writes down what is drawn until the function that it returns is called. Colours, widths and turns are the context's own at that time. */
function record(ctx: CanvasRenderingContext2D, into: SVGSVGElement, name: string): () => void {
  const native = CanvasRenderingContext2D.prototype;
  const clips: string[] = [];
  let clip = "";
  let current = new WrittenPath();
  let clipped = 0;
  const add = (kind: string, attributes: Record<string, string | number>, text = "") => {
    const { a, b, c, d, e, f } = ctx.getTransform();
    const turned = `matrix(${[a, b, c, d, e, f].map(short).join(" ")})`;
    const made = element(kind, { ...attributes, opacity: ctx.globalAlpha, transform: turned });
    if (clip !== "") made.setAttribute("clip-path", clip);
    made.textContent = text;
    into.append(made);
  };
  const drawn = (path: Path2D | undefined) => (path === undefined ? current.d : read(path));
  const both = (method: "moveTo" | "lineTo" | "bezierCurveTo" | "rect" | "arc" | "closePath") => (...given: unknown[]) => {
    Reflect.apply(native[method], ctx, given);
    Reflect.apply(current[method], current, given);
  };
  const unwritten = (method: (typeof UNWRITTEN)[number]) => (...given: unknown[]) => {
    lost.add(method);
    Reflect.apply(native[method], ctx, given);
  };
  const line = () => ({
    fill: "none",
    stroke: String(ctx.strokeStyle),
    "stroke-width": ctx.lineWidth,
    "stroke-linecap": ctx.lineCap,
    "stroke-linejoin": ctx.lineJoin,
    "stroke-dasharray": ctx.getLineDash().join(" ") || "none",
  });
  const methods: Record<string, (...given: never[]) => void> = {
    save() {
      native.save.call(ctx);
      clips.push(clip);
    },
    restore() {
      native.restore.call(ctx);
      clip = clips.pop() ?? "";
    },
    beginPath() {
      native.beginPath.call(ctx);
      current = new WrittenPath();
    },
    moveTo: both("moveTo"),
    lineTo: both("lineTo"),
    bezierCurveTo: both("bezierCurveTo"),
    rect: both("rect"),
    arc: both("arc"),
    closePath: both("closePath"),
    clip(path?: Path2D) {
      Reflect.apply(native.clip, ctx, path === undefined ? [] : [path]);
      const id = `${name}-${clipped}`;
      clipped += 1;
      const made = element("clipPath", { id });
      if (clip !== "") made.setAttribute("clip-path", clip);
      made.append(element("path", { d: drawn(path) }));
      into.append(made);
      clip = `url(#${id})`;
    },
    stroke(path?: Path2D) {
      Reflect.apply(native.stroke, ctx, path === undefined ? [] : [path]);
      add("path", { d: drawn(path), ...line() });
    },
    fill(path?: Path2D) {
      Reflect.apply(native.fill, ctx, path === undefined ? [] : [path]);
      add("path", { d: drawn(path), fill: String(ctx.fillStyle) });
    },
    strokeRect(x: number, y: number, width: number, height: number) {
      native.strokeRect.call(ctx, x, y, width, height);
      add("rect", { x: short(x), y: short(y), width: short(width), height: short(height), ...line() });
    },
    fillRect(x: number, y: number, width: number, height: number) {
      native.fillRect.call(ctx, x, y, width, height);
      add("rect", { x: short(x), y: short(y), width: short(width), height: short(height), fill: String(ctx.fillStyle) });
    },
    fillText(text: string, x: number, y: number) {
      native.fillText.call(ctx, text, x, y);
      const place = { x: short(x), y: short(y), "text-anchor": ANCHORS[ctx.textAlign], "dominant-baseline": BASELINES[ctx.textBaseline] ?? "auto" };
      add("text", { ...place, fill: String(ctx.fillStyle), style: `font:${ctx.font}` }, text);
    },
  };
  for (const method of UNWRITTEN) methods[method] = unwritten(method);
  // They hide those that the context has from its prototype.
  Object.assign(ctx, methods);
  const before = window.Path2D;
  window.Path2D = WrittenPath;
  return () => {
    window.Path2D = before;
    for (const method of Object.keys(methods)) Reflect.deleteProperty(ctx, method);
  };
}
