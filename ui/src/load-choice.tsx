// Which load is drawn over time: one choice for all drawings that share the time axis, because points of different loads on it would be
// taken for the same slices.
import { useEffect, useState } from "preact/hooks";
import { LoadChoice } from "./choice";
import { loads } from "./cells";
import type { Page } from "./data";

let chosen: string | undefined;
const told = new Set<(load: string) => void>();

/** The load that is drawn, and what chooses another one. */
export function useLoad(page: Page): { load: string; choice: preact.JSX.Element } {
  const all = loads(page.result);
  const [load, setLoad] = useState(chosen ?? all[0] ?? "");
  useEffect(() => {
    told.add(setLoad);
    return () => void told.delete(setLoad);
  }, []);
  const choose = (next: string) => {
    chosen = next;
    told.forEach((tell) => tell(next));
  };
  return { load, choice: <LoadChoice loads={all} value={load} onChange={choose} /> };
}
