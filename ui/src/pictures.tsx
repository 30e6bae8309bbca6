// The drawings of the page as files.
import { useState } from "preact/hooks";
import { png, save } from "./picture";
import { drawings, svg } from "./vector";

interface Part {
  name: string;
  whole: HTMLElement;
  hasLines: boolean;
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
    <details onToggle={(event) => event.currentTarget.open && setParts(found())}>
      <summary>Drawings as files</summary>
      {failed !== undefined && <p class="caution">{failed}</p>}
      <ul class="pictures">
        {parts.map((part) => (
          <li key={part.name}>
            {part.name}
            {button("PNG", part)}
            {part.hasLines && button("SVG", part)}
          </li>
        ))}
      </ul>
    </details>
  );
}

/** The parts of the page with a drawing, and a name. */
function found(): Part[] {
  return [...document.querySelectorAll<HTMLElement>("main section")].flatMap((whole) => {
    const name = whole.ariaLabel ?? whole.querySelector("h2")?.textContent ?? "";
    const hasLines = drawings(whole).length > 0;
    const isDrawn = hasLines || whole.querySelector(".drawn") !== null;
    return name === "" || !isDrawn || whole.querySelector("section") !== null ? [] : [{ name, whole, hasLines }];
  });
}

/** `Every slice` becomes `every-slice`. */
function fileName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") || "drawing";
}
