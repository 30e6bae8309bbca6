// A path of a canvas that can be read, as SVG writes it.

export const short = (value: number) => Number(value.toFixed(2));

/** What was drawn and is not written down. It is noted while a plot draws, and thrown once it is done: a plot that throws draws never again. */
export const lost = new Set<string>();

/** A path that can be read. */
export class WrittenPath extends Path2D {
  d: string;

  constructor(from?: Path2D | string) {
    super(from);
    this.d = typeof from === "string" ? from : read(from);
  }

  override moveTo(x: number, y: number): void {
    super.moveTo(x, y);
    this.d += `M${short(x)} ${short(y)}`;
  }

  override lineTo(x: number, y: number): void {
    super.lineTo(x, y);
    this.d += `${this.d === "" ? "M" : "L"}${short(x)} ${short(y)}`;
  }

  override bezierCurveTo(...points: [number, number, number, number, number, number]): void {
    super.bezierCurveTo(...points);
    if (this.d === "") this.d = `M${short(points[0])} ${short(points[1])}`;
    this.d += `C${points.map(short).join(" ")}`;
  }

  override rect(x: number, y: number, width: number, height: number): void {
    super.rect(x, y, width, height);
    this.d += `M${short(x)} ${short(y)}h${short(width)}v${short(height)}h${short(-width)}Z`;
  }

  override arc(x: number, y: number, radius: number, from: number, to: number, anticlockwise = false): void {
    super.arc(x, y, radius, from, to, anticlockwise);
    if (anticlockwise) lost.add("an anticlockwise arc");
    // In two halves, as the ends of a whole circle are the same.
    const [begin, ...rest] = [from, (from + to) / 2, to].map((angle) => `${short(x + radius * Math.cos(angle))} ${short(y + radius * Math.sin(angle))}`);
    this.d += `${this.d === "" ? "M" : "L"}${begin}${rest.map((end) => `A${short(radius)} ${short(radius)} 0 0 1 ${end}`).join("")}`;
  }

  override closePath(): void {
    super.closePath();
    if (this.d !== "") this.d += "Z";
  }
}

export const UNWRITTEN_OF_PATHS = ["quadraticCurveTo", "arcTo", "ellipse", "roundRect"] as const;
for (const method of [...UNWRITTEN_OF_PATHS, "addPath"] as const) {
  const native = Path2D.prototype[method];
  WrittenPath.prototype[method] = function (this: WrittenPath, ...given: unknown[]) {
    lost.add(method);
    Reflect.apply(native, this, given);
  };
}

/** A path that was made before it was to be written down cannot be read. */
export function read(path: Path2D | undefined): string {
  if (path === undefined) return "";
  if (path instanceof WrittenPath) return path.d;
  lost.add("a path that was made before");
  return "";
}
