// What is what in a drawing: each cell's line and shape beside its name.
import type { Look, Named } from "./cells";
import { outline } from "./marks";

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
                <path d={outline(look.shape, [[6, 6]], 4)} fill={look.shape === "ring" ? "none" : "currentColor"} stroke="currentColor" stroke-width="1.6" />
              )}
            </svg>
            {cell.label}
          </li>
        );
      })}
    </ul>
  );
}
