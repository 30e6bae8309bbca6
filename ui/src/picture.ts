// A part of the page as a picture of all that it shows.

/** Pixels of a picture for one of the page. */
const SHARPNESS = 2;
const XHTML = "http://www.w3.org/1999/xhtml";
/** What the part has from the page around it. Of a font with tabular figures there is no shorthand. */
const INHERITED = ["font-family", "font-size", "font-weight", "font-variant-numeric", "line-height", "color"];

/** The part as it looks now, as PNG. */
export async function png(part: HTMLElement): Promise<Blob> {
  const { width, height } = part.getBoundingClientRect();
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(enclosed(part, width, height))}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [Math.ceil(width * SHARPNESS), Math.ceil(height * SHARPNESS)];
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => canvas.toBlob((blob) => (blob === null ? reject(new Error("the picture is too large")) : resolve(blob)), "image/png"));
}

/** Hands a file over to the user. */
export function save(file: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** The part with the page's style, in an image that needs nothing else. */
function enclosed(part: HTMLElement, width: number, height: number): string {
  const copy = part.cloneNode(true) as HTMLElement;
  const drawn = part.querySelectorAll("canvas");
  copy.querySelectorAll("canvas").forEach((canvas, at) => {
    const from = drawn[at];
    if (from === undefined) return;
    const image = document.createElement("img");
    image.src = from.toDataURL();
    image.className = from.className;
    image.setAttribute("style", `${from.getAttribute("style") ?? ""};width:${from.clientWidth}px;height:${from.clientHeight}px`);
    canvas.replaceWith(image);
  });
  // What a user chose is in no attribute.
  const chosen = part.querySelectorAll("option");
  copy.querySelectorAll("option").forEach((option, at) => option.toggleAttribute("selected", chosen[at]?.selected === true));
  const typed = part.querySelectorAll("input");
  copy.querySelectorAll("input").forEach((input, at) => input.setAttribute("value", typed[at]?.value ?? ""));
  const style = document.createElement("style");
  // It stands in the page, or is linked by it.
  const rules = [...document.styleSheets].flatMap(({ cssRules }) => [...cssRules]);
  style.textContent = rules.map(({ cssText }) => cssText).join("\n");
  const page = document.createElementNS(XHTML, "main");
  const look = getComputedStyle(part);
  const inherited = INHERITED.map((property) => `${property}:${look.getPropertyValue(property)}`).join(";");
  const scheme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  page.setAttribute("style", `${variables(style.textContent)};color-scheme:${scheme};${inherited};background:var(--paper);width:${width}px;max-width:none;padding:0;margin:0`);
  page.append(style, copy);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><foreignObject width="100%" height="100%">${new XMLSerializer().serializeToString(page)}</foreignObject></svg>`;
}

/** The style's variables as they are now, whatever an image would take for the user's scheme. */
function variables(style: string): string {
  const computed = getComputedStyle(document.documentElement);
  const names = new Set([...style.matchAll(/(--[\w-]+)\s*:/g)].map(([, name = ""]) => name));
  return [...names].map((name) => `${name}:${computed.getPropertyValue(name)}`).join(";");
}
