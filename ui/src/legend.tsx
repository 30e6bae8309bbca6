// What is what in a drawing: each cell's line and shape beside its name.
import type { Look, Named, Shape } from "./cells";

interface Props {
  cells: Named[];
  looks: Look[];
  /** Whether cells are drawn as lines rather than as points. */
  lines?: boolean;
}

export function Legend({ cells, looks, lines = false }: Props) {
  return (
    <ul class="legend">
      {cells.map((cell) => {
        const look = looks[cell.id];
        if (look === undefined) return null;
        return (
          <li key={cell.id}>
            <svg width={lines ? 26 : 12} height="12" aria-hidden="true" style={{ color: `var(${look.colour})` }}>
              {lines ? (
                <line x1="0" x2="26" y1="6" y2="6" stroke="currentColor" stroke-width="2" stroke-dasharray={look.dash.join(" ")} />
              ) : (
                <path d={outline(look.shape, 6, 6, 4)} fill={look.shape === "ring" ? "none" : "currentColor"} stroke="currentColor" stroke-width="1.6" />
              )}
            </svg>
            {cell.label}
          </li>
        );
      })}
    </ul>
  );
}

/** A shape as an SVG path, which a canvas draws as well. */
export function outline(shape: Shape, x: number, y: number, r: number): string {
  switch (shape) {
    case "square":
      return `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}z`;
    case "triangle":
      return `M${x} ${y - r}L${x + r} ${y + r}H${x - r}z`;
    case "diamond":
      return `M${x} ${y - r}L${x + r} ${y}L${x} ${y + r}L${x - r} ${y}z`;
    default:
      return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
  }
}
