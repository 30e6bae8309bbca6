// The drawings of the page, or of a dialog, as files.
import { useState } from "preact/hooks";
import { png, save } from "./picture";
import { drawings, svg } from "./vector";

interface Part {
  name: string;
  whole: HTMLElement;
}

const KINDS = { PNG: png, SVG: svg };

export function Pictures() {
  const [parts, setParts] = useState<Part[]>([]);
  const [failed, setFailed] = useState<string>();
  const saveAs = (kind: keyof typeof KINDS, { name, whole }: Part) => {
    KINDS[kind](whole).then(
      (file) => save(file, `${fileName(name)}.${kind.toLowerCase()}`),
      (error: unknown) => setFailed(`${name} could not be made a file: ${String(error)}`),
    );
  };
  const button = (kind: keyof typeof KINDS, part: Part) => (
    <button type="button" aria-label={`${part.name} as ${kind}`} onClick={() => saveAs(kind, part)}>
      {kind}
    </button>
  );
  return (
    // What is drawn changes with what is chosen.
    <details onToggle={(event) => event.currentTarget.open && setParts(found(event.currentTarget))}>
      <summary>Drawings as files</summary>
      {failed !== undefined && <p class="caution">{failed}</p>}
      <ul class="pictures">
        {parts.map((part) => (
          <li key={part.name}>
            {part.name}
            {button("PNG", part)}
            {button("SVG", part)}
          </li>
        ))}
      </ul>
    </details>
  );
}

/** The parts with a drawing, and a name, of the dialog that this place is in, or else of the page. */
function found(place: Element): Part[] {
  const around = place.closest("dialog") ?? document.querySelector("main");
  return [...(around?.querySelectorAll<HTMLElement>("section") ?? [])].flatMap((whole) => {
    const name = whole.ariaLabel ?? whole.querySelector("h2, h3")?.textContent ?? "";
    return name === "" || drawings(whole).length === 0 || whole.querySelector("section") !== null ? [] : [{ name, whole }];
  });
}

/** `Every slice` becomes `every-slice`. */
function fileName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") || "drawing";
}
