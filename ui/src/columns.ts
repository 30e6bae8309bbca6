// Slices in as many columns as a drawing has room for, none of which hides what its neighbour shows.
import type { Column } from "./data";

/** At most so many columns: each has the most of its slices in every bin, so that a slow request that is alone is still seen. */
export function merged(columns: Column[], most: number): Column[] {
  const each = Math.ceil(columns.length / Math.max(most, 1));
  if (each <= 1) return columns;
  return Array.from({ length: Math.ceil(columns.length / each) }, (_, at) => mostOf(columns.slice(at * each, (at + 1) * each)));
}

function mostOf(columns: Column[]): Column {
  const filled = columns.filter(([, counts]) => counts.length > 0);
  if (filled.length === 0) return [0, []];
  const first = Math.min(...filled.map(([begin]) => begin));
  const end = Math.max(...filled.map(([begin, counts]) => begin + counts.length));
  return [first, Array.from({ length: end - first }, (_, bin) => Math.max(...filled.map(([begin, counts]) => counts[first + bin - begin] ?? 0)))];
}
