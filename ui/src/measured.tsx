// An SVG that is drawn for the width that it has, so that its text stays as large as the page's.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

interface Props {
  height: number;
  /** What a screen reader says instead; without it the drawing is left out there. */
  label?: string;
  /** Whether parts of it can be reached by keyboard. */
  live?: boolean;
  children: (width: number) => ComponentChildren;
}

export function Measured({ height, label, live = false, children }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const into = place.current;
    if (into === null) return;
    const measure = () => setWidth(into.clientWidth);
    measure();
    const resized = new ResizeObserver(measure);
    resized.observe(into);
    return () => resized.disconnect();
  }, []);
  const spoken = label === undefined ? { "aria-hidden": true } : { role: live ? ("group" as const) : ("img" as const), "aria-label": label };
  return (
    <div class="measured" ref={place}>
      {width > 0 && (
        <svg width={width} height={height} {...spoken}>
          {children(width)}
        </svg>
      )}
    </div>
  );
}

/** A scale from values to pixels, linear or logarithmic. */
export function scaled([low, high]: [number, number], [from, to]: [number, number], logarithmic = false): (value: number) => number {
  const read = logarithmic ? (value: number) => Math.log10(Math.max(value, Number.MIN_VALUE)) : (value: number) => value;
  const [start, end] = [read(low), read(high)];
  return (value) => from + ((read(value) - start) / (end - start || 1)) * (to - from);
}

/** Round values between two ends, about `count` of them. */
export function ticks(low: number, high: number, count: number): number[] {
  const rough = (high - low) / Math.max(count, 1);
  if (!(rough > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((digit) => digit * power).find((size) => size >= rough) ?? 10 * power;
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: Math.max(last - first + 1, 0) }, (_, index) => (first + index) * step);
}

/** A wider range has two ticks at least of those below. */
const NARROW = Math.log10(1.4);

/** Round values between two ends: 1, 2 and 5 of each power of ten, of many powers these alone, and more within a narrow range. */
export function logTicks(low: number, high: number): number[] {
  const decades = Math.log10(high / low);
  // It is nearly linear there.
  if (decades < NARROW) return ticks(low, high, 4);
  const digits = decades > 2.5 ? [1] : decades > 0.7 ? [1, 2, 5] : decades > 0.35 ? [1, 1.5, 2, 3, 4, 5, 6, 8] : [1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6, 7, 8, 9];
  const first = Math.floor(Math.log10(low));
  return Array.from({ length: Math.ceil(decades) + 2 }, (_, index) => first + index)
    .flatMap((power) => digits.map((digit) => digit * 10 ** power))
    .filter((value) => value >= low && value <= high);
}
