// The drawings of the page as files.
import { useState } from "preact/hooks";
import { png, save, svg } from "./picture";

/** A drawing that is narrower is a sign in a line. */
const LEAST_WIDTH = 200;

interface Part {
  name: string;
  whole: HTMLElement;
  /** The one drawing that it is made of. */
  drawing: SVGSVGElement | undefined;
}

export function Pictures() {
  const [parts, setParts] = useState<Part[]>([]);
  const [failed, setFailed] = useState<string>();
  const savePng = ({ name, whole }: Part) => {
    png(whole).then(
      (file) => save(file, `${fileName(name)}.png`),
      (error: unknown) => setFailed(`${name} could not be made a picture: ${String(error)}`),
    );
  };
  return (
    // What is drawn changes with what is chosen.
    <details onToggle={(event) => event.currentTarget.open && setParts(found())}>
      <summary>Drawings as files</summary>
      {failed !== undefined && <p class="caution">{failed}</p>}
      <ul class="pictures">
        {parts.map((part) => (
          <li key={part.name}>
            {part.name}
            <button type="button" aria-label={`${part.name} as PNG`} onClick={() => savePng(part)}>
              PNG
            </button>
            {part.drawing !== undefined && (
              <button type="button" aria-label={`${part.name} as SVG`} onClick={() => part.drawing !== undefined && save(svg(part.drawing), `${fileName(part.name)}.svg`)}>
                SVG
              </button>
            )}
          </li>
        ))}
      </ul>
    </details>
  );
}

/** The parts of the page with a drawing, and a name. */
function found(): Part[] {
  return [...document.querySelectorAll<HTMLElement>("main section")].flatMap((whole) => {
    const name = whole.querySelector("h2")?.textContent ?? "";
    const drawings = [...whole.querySelectorAll("svg")].filter((each) => each.getBoundingClientRect().width >= LEAST_WIDTH);
    const isDrawn = drawings.length > 0 || whole.querySelector("canvas, .drawn") !== null;
    const drawing = drawings.length === 1 ? drawings[0] : undefined;
    return name === "" || !isDrawn || whole.querySelector("section") !== null ? [] : [{ name, whole, drawing }];
  });
}

/** `Every slice` becomes `every-slice`. */
function fileName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") || "drawing";
}
