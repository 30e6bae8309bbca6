// The times of a cell, read from its histogram in the JSON as any HdrHistogram library reads it: none of loadline's code takes part.

/** Times that are counted together, ns, both ends included. */
export interface Bucket {
  low: number;
  high: number;
  count: number;
}

const COOKIE = 0x1c849313;
const HEADER = 40;
/** Buckets of each doubling, of a histogram from 1 ns on with three digits. */
const HALF = 1024;

/** The buckets in which there are any. */
export function timesOf(base64: string): Bucket[] {
  const bytes = Buffer.from(base64, "base64");
  if (bytes.readUInt32BE(0) !== COOKIE || bytes.readUInt32BE(12) !== 3 || bytes.readBigUInt64BE(16) !== 1n) throw new Error("not a histogram of three digits from 1 ns on");
  const end = HEADER + bytes.readUInt32BE(4);
  const buckets: Bucket[] = [];
  let index = 0;
  let at = HEADER;
  while (at < end) {
    // A count, or of a run of buckets without any its negative length: zigzag, in groups of seven bits.
    let written = 0;
    let byte = 0x80;
    for (let shift = 0; byte >= 0x80; shift += 7) {
      byte = bytes.readUInt8(at++);
      written += (byte & 0x7f) * 2 ** shift;
    }
    const count = written % 2 === 0 ? written / 2 : -(written + 1) / 2;
    if (count > 0) buckets.push({ ...bucket(index), count });
    index += Math.max(1, -count);
  }
  return buckets;
}

function bucket(index: number): { low: number; high: number } {
  const width = 2 ** Math.max(Math.floor(index / HALF) - 1, 0);
  const low = (index < 2 * HALF ? index : (index % HALF) + HALF) * width;
  return { low, high: low + width - 1 };
}

export function countOf(times: Bucket[]): number {
  return times.reduce((sum, { count }) => sum + count, 0);
}

/** The time that so many did not exceed. */
export function quantileOf(times: Bucket[], quantile: number): number {
  const rank = Math.max(Math.ceil(quantile * countOf(times)), 1);
  let seen = 0;
  for (const { high, count } of times) {
    seen += count;
    if (seen >= rank) return high;
  }
  throw new Error("no times");
}
