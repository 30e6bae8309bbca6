// Every cell of a load by itself, a row each, in the order of any figure.
import { useMemo, useState } from "preact/hooks";
import { loadName, loads } from "./cells";
import { LoadChoice } from "./choice";
import type { Page } from "./data";
import { FigureButton } from "./figure-button";
import { figure, range } from "./format";
import type { Cell, Figure } from "./generated/result";
import { ofCell } from "./rests-on";

/** Fewer are seen at a glance. */
const LEAST = 3;

interface Order {
  /** The id of a metric. */
  by: string;
  descending: boolean;
}

export function CellTable({ page }: { page: Page }) {
  const { result } = page;
  const all = loads(result);
  const [load, setLoad] = useState(all[0] ?? "");
  const [order, setOrder] = useState<Order>();
  const asked = result.cells.filter((cell) => cell.role !== "twin" && cell.answered > 0);
  const metrics = useMemo(() => {
    const primary = asked.flatMap(({ figures }) => figures).filter((each) => each.primary === true);
    return [...new Map(primary.map(({ metric, label }) => [metric, label.trim()]))];
  }, [result]);
  const cells = ordered(asked.filter((cell) => loadName(cell) === load), order);
  if (new Set(asked.map(({ label }) => label)).size < LEAST || metrics.length === 0) return null;
  const next = (by: string) => setOrder(order?.by !== by ? { by, descending: false } : order.descending ? undefined : { by, descending: true });
  return (
    <section>
      <h2>Cell by cell</h2>
      <p class="caption">each by itself with Student’s t interval; a heading puts the rows in its order</p>
      <div class="choices">
        <LoadChoice loads={all} value={load} onChange={setLoad} />
      </div>
      <div class="scroll" role="group" tabIndex={0} aria-label="cell by cell">
        <table class="figures">
          <thead>
            <tr>
              <td />
              {metrics.map(([metric, label]) => (
                <th key={metric} scope="col" aria-sort={order?.by !== metric ? "none" : order.descending ? "descending" : "ascending"}>
                  <button type="button" class="order" onClick={() => next(metric)}>
                    {label}
                    <span aria-hidden="true">{order?.by !== metric ? "" : order.descending ? " ↓" : " ↑"}</span>
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {cells.map((cell) => (
              <tr key={cell.id}>
                <th scope="row">{cell.label}</th>
                {metrics.map(([metric]) => (
                  <td key={metric}>
                    <Shown page={page} cell={cell} found={of(cell, metric)} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Shown({ page, cell, found }: { page: Page; cell: Cell; found: Figure | undefined }) {
  if (found === undefined) return null;
  return (
    <>
      <FigureButton page={page} of={ofCell(cell, found)}>
        {figure(found.value, found.unit)}
      </FigureButton>
      {found.t_interval && <span class="ends">{range(found.t_interval, found.unit)}</span>}
    </>
  );
}

function of(cell: Cell, metric: string): Figure | undefined {
  return cell.figures.find((each) => each.metric === metric);
}

/** In the order of a figure; cells without it come last. */
function ordered(cells: Cell[], order: Order | undefined): Cell[] {
  if (order === undefined) return cells;
  const sign = order.descending ? -1 : 1;
  const value = (cell: Cell) => of(cell, order.by)?.value ?? sign * Infinity;
  // Infinities of the same sign are equal.
  return cells.toSorted((one, other) => (value(one) === value(other) ? 0 : sign * (value(one) - value(other))));
}
