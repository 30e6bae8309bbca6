// Figures as people read them, as the report writes them: three digits, the unit that suits, a proper minus sign.

export type Unit = "ns" | "1" | "/s" | "bytes";

const STEPS: Record<Unit, [string, number][]> = {
  ns: [["ns", 1], ["µs", 1e3], ["ms", 1e6], ["s", 1e9]],
  bytes: [["B", 1], ["KiB", 1024], ["MiB", 1024 ** 2], ["GiB", 1024 ** 3]],
  "1": [["", 1]],
  "/s": [["/s", 1]],
};

/** `61.2 µs` */
export function figure(value: number | null | undefined, unit: Unit, precision = 3): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const steps = STEPS[unit];
  const [suffix, size] = steps.findLast(([, size]) => Math.abs(value) >= size * 0.9995) ?? steps[0] ?? ["", 1];
  const digits = grouped(value / size, unit !== "/s", precision);
  return suffix === "" ? digits : suffix === "/s" ? digits + suffix : `${digits} ${suffix}`;
}

/** `60.5 µs to 61.9 µs` */
export function range([low, high]: [number, number], unit: Unit): string {
  return `${figure(low, unit)} to ${figure(high, unit)}`;
}

/** `+4.10 µs` */
export function difference(value: number, unit: Unit): string {
  return value > 0 ? `+${figure(value, unit)}` : figure(value, unit);
}

/** `+3.1 %` */
export function percent(share: number): string {
  const digits = Math.abs(share * 100).toFixed(1);
  return `${Number(digits) === 0 ? "" : share < 0 ? "−" : "+"}${digits} %`;
}

/** `61.2 µs` */
export function time(ns: number | null | undefined): string {
  return figure(ns, "ns");
}

/** `50 µs`: a round figure, without the digits that say nothing. */
export function round(value: number, unit: Unit, precision = 3): string {
  return figure(value, unit, precision).replace(/\.(\d*?)0+(?=\D|$)/, (_, digits: string) => (digits === "" ? "" : `.${digits}`));
}

/** Figures of an axis, with as many digits as tell them apart. */
export function labels(values: number[], unit: Unit): string[] {
  for (let digits = 3; ; digits += 1) {
    const texts = values.map((value) => round(value, unit, digits));
    if (digits === 9 || new Set(texts).size === texts.length) return texts;
  }
}

/** The same of a time. */
export function roundTime(ns: number): string {
  return round(ns, "ns");
}

/** `p99.9` */
export function percentile(quantile: number): string {
  return `p${(Math.floor(quantile * 1e7) / 1e5).toString()}`;
}

/** `42.3 s` */
export function seconds(value: number): string {
  return value < 100 && !Number.isInteger(value) ? `${grouped(value, true)} s` : `${Math.round(value)} s`;
}

function grouped(value: number, separators: boolean, precision = 3): string {
  const size = Math.abs(value);
  // 9.996 is shown as 10.0.
  const power = Math.floor(Math.log10(Number(size.toPrecision(precision))));
  const decimals = Math.min(6, Math.max(0, precision - 1 - power));
  const text = size.toLocaleString("en", {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
    useGrouping: separators,
  });
  return value < 0 && /[1-9]/.test(text) ? `−${text}` : text;
}
