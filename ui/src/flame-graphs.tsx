// Where the CPU time of profiled cells went: a frame as wide as its part of it, on the frame that called it. Beside a baseline, frames are
// coloured by what they cost more or less for each request.
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { Choice } from "./choice";
import type { Page, Profile } from "./data";
import { difference, figure } from "./format";
import { Measured } from "./measured";

const ROW = 19;
/** Narrower frames are not drawn, pixels. */
const LEAST = 0.6;
/** Pixels of a letter. */
const LETTER = 6.6;

interface Frame {
  name: string;
  /** CPU time of the frame and all that it called, ns a request. */
  ns: number;
  /** The same where it is compared with. */
  before: number;
  depth: number;
  children: Frame[];
  parent: Frame | undefined;
}

export function FlameGraphs({ page }: { page: Page }) {
  const { profiles } = page;
  const name = (cell: number) => page.result.cells[cell]?.label ?? "";
  const [shown, setShown] = useState(String(profiles.at(-1)?.cell ?? ""));
  const [against, setAgainst] = useState("");
  const [search, setSearch] = useState("");
  const [zoom, setZoom] = useState<Frame>();
  const profile = profiles.find(({ cell }) => String(cell) === shown);
  const other = profiles.find(({ cell }) => String(cell) === against);
  const root = useMemo(() => (profile === undefined ? undefined : frames(profile, other)), [shown, against]);
  if (root === undefined) return null;
  const top = zoom !== undefined && rootOf(zoom) === root ? zoom : root;
  const options = profiles.map(({ cell }) => [String(cell), name(cell)] as const);
  const wanted = search.trim().toLowerCase();
  const matched = wanted === "" ? 0 : matching(root, wanted);
  const show = (next: string) => {
    setShown(next);
    if (next === against) setAgainst("");
  };
  const swap = () => {
    setShown(against);
    setAgainst(shown);
  };
  const told = (frame: Frame) => {
    const share = `${((100 * frame.ns) / (root.ns || 1)).toFixed(1)} %`;
    const change = other === undefined ? "" : `, ${difference(frame.ns - frame.before, "ns")} against ${name(other.cell)}`;
    return `${frame.name}: ${figure(frame.ns, "ns")} a request (${share})${change}`;
  };
  return (
    <section>
      <h2>Flame graph</h2>
      <p class="caption">CPU time of service, load and soft interrupts for each request; includes the time that the load spins. Click a frame to widen it.{other !== undefined && ` What ${name(other.cell)} alone spends time on has no width here: swap the two to see it.`}</p>
      <div class="choices">
        <Choice label="cell" options={options} value={shown} onChange={show} />
        <Choice label="less" options={[["", "nothing"] as const, ...options.filter(([id]) => id !== shown)]} value={against} onChange={setAgainst} />
        {other !== undefined && (
          <button type="button" onClick={swap}>
            Swap
          </button>
        )}
        <label class="choice">
          <span>find</span>
          <input type="search" value={search} onInput={(event) => setSearch(event.currentTarget.value)} />
        </label>
        {top !== root && (
          <button type="button" onClick={() => setZoom(undefined)}>
            All of it
          </button>
        )}
      </div>
      <p class="readout">
        {wanted === "" ? told(top) : `“${search.trim()}”: ${figure(matched, "ns")} a request (${((100 * matched) / (root.ns || 1)).toFixed(1)} %)`}
      </p>
      <Measured height={(depthOf(top) - top.depth + 1) * ROW} label={`Flame graph of ${name(Number(shown))}`} live>
        {(width) => drawn(top, width, wanted, other !== undefined, told, setZoom)}
      </Measured>
    </section>
  );
}

function rootOf(frame: Frame): Frame {
  return frame.parent === undefined ? frame : rootOf(frame.parent);
}

/** The stacks of a cell as frames, with what each costs where it is compared with. */
function frames(profile: Profile, other: Profile | undefined): Frame {
  const root: Frame = { name: "all", ns: 0, before: 0, depth: 0, children: [], parent: undefined };
  grow(root, profile, "ns");
  if (other !== undefined) grow(root, other, "before");
  sort(root);
  return root;
}

function grow(root: Frame, { stacks, requests }: Profile, into: "ns" | "before"): void {
  const made: Frame[] = [];
  for (const [parent, name, own] of stacks.nodes) {
    const under = made[parent - 1] ?? root;
    const text = stacks.names[name] ?? "";
    let frame = under.children.find((child) => child.name === text);
    if (frame === undefined) {
      frame = { name: text, ns: 0, before: 0, depth: under.depth + 1, children: [], parent: under };
      under.children.push(frame);
    }
    made.push(frame);
    for (let each: Frame | undefined = frame; each !== undefined; each = each.parent) each[into] += own / Math.max(requests, 1);
  }
}

function sort(frame: Frame): void {
  frame.children.sort((one, other) => (one.name < other.name ? -1 : 1));
  frame.children.forEach(sort);
}

function depthOf(frame: Frame): number {
  return frame.children.filter(({ ns }) => ns > 0).reduce((most, child) => Math.max(most, depthOf(child)), frame.depth);
}

/** CPU time below frames with the text, each counted once. */
function matching(frame: Frame, text: string): number {
  if (frame.name.toLowerCase().includes(text)) return frame.ns;
  return frame.children.reduce((sum, child) => sum + matching(child, text), 0);
}

function drawn(top: Frame, width: number, wanted: string, compared: boolean, told: (frame: Frame) => string, onZoom: (frame: Frame) => void) {
  const perNs = width / (top.ns || 1);
  const most = compared ? changes(top) : 1;
  const rects: JSX.Element[] = [];
  const visit = (frame: Frame, x: number) => {
    const wide = frame.ns * perNs;
    if (wide < LEAST) return;
    const y = (frame.depth - top.depth) * ROW;
    const change = (frame.ns - frame.before) / most;
    const fill = wanted !== "" && frame.name.toLowerCase().includes(wanted) ? "var(--found)" : compared ? "" : frame.name.endsWith("_[k]") ? "var(--kernel)" : "var(--user)";
    const shade = fill !== "" ? { fill } : { fill: change >= 0 ? "var(--accent)" : "var(--blue)", fillOpacity: Math.min(0.08 + 0.6 * Math.abs(change), 0.68) };
    const letters = Math.floor((wide - 6) / LETTER);
    rects.push(
      <g
        key={rects.length}
        class="frame"
        {...(wide > 24 ? { tabindex: 0, role: "button", "aria-label": told(frame) } : {})}
        onClick={() => onZoom(frame)}
        onKeyDown={(event) => (event.key === "Enter" || event.key === " ") && (event.preventDefault(), onZoom(frame))}
      >
        <title>{told(frame)}</title>
        <rect x={x} y={y} width={Math.max(wide - 0.5, 0.5)} height={ROW - 1} style={shade} />
        {letters > 2 && (
          <text x={x + 3} y={y + 13}>
            {frame.name.length > letters ? `${frame.name.slice(0, letters - 1)}…` : frame.name}
          </text>
        )}
      </g>,
    );
    let left = x;
    for (const child of frame.children) {
      visit(child, left);
      left += child.ns * perNs;
    }
  };
  visit(top, 0);
  return rects;
}

/** The largest change of any frame but the outermost. */
function changes(frame: Frame): number {
  return frame.children.reduce((most, child) => Math.max(most, Math.abs(child.ns - child.before), changes(child)), 1);
}
