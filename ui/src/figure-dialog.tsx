// What a figure rests on: its deployments, its slices and the distributions of its cells, of a comparison its blocks one by one, and where
// the page has the rest. Of one request among several only the blocks are known; the rest is kept for all requests together.
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { Blocks } from "./blocks";
import { looks } from "./cells";
import type { Page } from "./data";
import { Dialog } from "./dialog";
import { figure, time } from "./format";
import type { Cell } from "./generated/result";
import { Histogram } from "./histogram";
import { Pictures } from "./pictures";
import type { RestsOn } from "./rests-on";
import { SliceTable } from "./slice-table";

interface Props {
  page: Page;
  of: RestsOn;
  /** The reader may go on to a place of the page. */
  onClose: (to?: HTMLElement) => void;
}

export function FigureDialog({ page, of, onClose }: Props) {
  const next = useRef<HTMLElement>(null);
  const go = (place: HTMLElement) => (next.current = place);
  const { cells, metric, request, row, unit } = of;
  const [kind] = metric.split(".");
  const distributed = request !== undefined ? undefined : kind === "response" || kind === "service" ? kind : undefined;
  const shown = page.distributions.filter((found) => found.of === distributed && cells.some(({ id }) => id === found.cell));
  return (
    <Dialog title={of.title} onClose={() => onClose(next.current ?? undefined)}>
      <dl class="facts">
        {of.facts().map(([term, text]) => (
          <div key={term}>
            <dt>{term}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      {typeof row?.note === "string" && row.note !== "" && <p class="caution">{row.note}</p>}
      {row !== undefined && <Blocks row={row} unit={unit} />}
      {distributed !== undefined && shown.length > 0 && (
        <section>
          <h3>Distribution of the {distributed} time</h3>
          <Histogram distributions={shown} cells={page.result.cells} looks={looks(page.result)} />
        </section>
      )}
      {((row?.block_differences.length ?? 0) > 0 || shown.length > 0) && <Pictures />}
      {request === undefined ? (
        <>
          <Deployments cells={cells} />
          {page.result.capacities ? <AtCapacity cells={cells} onGo={go} /> : <SliceTable page={page} of={of} />}
        </>
      ) : (
        <p class="caption">Distributions, deployments and slices are kept for all requests together: see the same figure of the whole cell.</p>
      )}
      <Elsewhere onGo={go} />
    </Dialog>
  );
}

function Deployments({ cells }: { cells: Cell[] }) {
  return (
    <>
      <h3>Deployment by deployment</h3>
      <div class="scroll" role="group" tabIndex={0} aria-label="deployments">
        <table class="figures">
          <thead>
            <tr>
              {["deployment", "", "p50", "mean", "p99", "rate"].map((heading) => (heading === "" ? <td key={heading} /> : <th scope="col" key={heading}>{heading}</th>))}
            </tr>
          </thead>
          <tbody>
            {cells.flatMap((cell) =>
              cell.deployments.map((deployment) => (
                <tr key={`${cell.id} ${deployment.round}`}>
                  <th scope="row">
                    {cell.label} {deployment.round + 1}
                  </th>
                  <td>{deployment.stationary || deployment.warmup_s === 0 ? "" : "was not stationary"}</td>
                  <td>{time(deployment.response_p50_ns)}</td>
                  <td>{time(deployment.response_mean_ns)}</td>
                  <td>{time(deployment.response_p99_ns)}</td>
                  <td>{figure(deployment.rate_per_second, "/s")}</td>
                </tr>
              )),
            )}
          </tbody>
        </table>
      </div>
    </>
  );
}

type Go = (place: HTMLElement) => void;

/** Of a search: a cell's figures are of the slices at its capacity, which nothing in the page tells from the others. */
function AtCapacity({ cells, onGo }: { cells: Cell[]; onGo: Go }) {
  return (
    <>
      {cells.map(({ id, label }) => (
        <p key={id} class="caption">
          Made of the slices at the capacity: see the{" "}
          <Place id={`trials-${id}`} onGo={onGo}>
            rates that were tried, {label}
          </Place>
          .
        </p>
      ))}
    </>
  );
}

const PLACES = { machine: "machine", plan: "plan", seed: "seed", experiment: "experiment file", command: "command" };

/** Where the page has the rest. */
function Elsewhere({ onGo }: { onGo: Go }) {
  return (
    <nav class="elsewhere" aria-label="elsewhere in the page">
      {Object.entries(PLACES).map(([id, name]) => (
        <Place key={id} id={id} onGo={onGo}>
          {name}
        </Place>
      ))}
    </nav>
  );
}

/** A link to a place of the page, if it has that; the dialog closes before the reader goes there. */
function Place({ id, onGo, children }: { id: string; onGo: Go; children: ComponentChildren }) {
  const place = document.getElementById(id);
  if (place === null) return null;
  const go = (event: Event & { currentTarget: HTMLElement }) => {
    event.preventDefault();
    const folded = place.closest("details");
    if (folded !== null) folded.open = true;
    onGo(place);
    event.currentTarget.closest("dialog")?.close();
  };
  return (
    <a href={`#${id}`} onClick={go}>
      {children}
    </a>
  );
}
