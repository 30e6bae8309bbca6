// A part of the page as SVG: its drawings and plots where they stand, under their headings.
import { plotIn } from "./plot";
import { SVG, element, recorded } from "./recorder";

const LOOK = ["color", "fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "opacity", "overflow", "font-family", "font-size", "font-weight", "text-anchor"];
/** A drawing that is narrower and no strip of a table is a sign in a line, which belongs to a drawing only in its legend or beside it. */
const LEAST_WIDTH = 200;

/** Words that belong to a drawing, though they are not in it. */
const WORDS = "h2, h3, figcaption, .legend li, .drawn tbody th, .drawn tbody td:not(.strip)";

const SIGNS = ".legend svg, .drawn tbody td:not(.strip) svg";

/** The drawings of a part: SVG, plots and other canvases. */
export function drawings(part: Element): Element[] {
  const isLarge = (each: Element) => each.closest("td.strip") !== null || each.getBoundingClientRect().width >= LEAST_WIDTH;
  const isOwn = (each: Element) => each.parentElement?.closest("svg, .plot") === null;
  return [...part.querySelectorAll("svg, .plot, canvas")].filter((each) => isOwn(each) && isLarge(each));
}

/** The part as it looks now; a canvas that is no plot is a picture in it. */
export async function svg(part: HTMLElement): Promise<Blob> {
  const frame = part.getBoundingClientRect();
  const whole = element("svg", { xmlns: SVG, width: frame.width, height: frame.height, viewBox: `0 0 ${frame.width} ${frame.height}` });
  const paper = getComputedStyle(document.documentElement).getPropertyValue("--paper");
  whole.append(element("rect", { width: "100%", height: "100%", fill: paper }));
  for (const heading of part.querySelectorAll(WORDS)) whole.append(written(heading, frame));
  for (const [at, drawing] of [...drawings(part), ...part.querySelectorAll(SIGNS)].entries()) {
    const { left, top, width, height } = (drawing.querySelector("canvas") ?? drawing).getBoundingClientRect();
    const made = await copied(drawing, `clip-${at}`);
    const place = { x: left - frame.left, y: top - frame.top, width, height };
    for (const [name, value] of Object.entries(place)) made.setAttribute(name, String(value));
    whole.append(made);
  }
  return new Blob([new XMLSerializer().serializeToString(whole)], { type: "image/svg+xml" });
}

/** A drawing by itself, which depends on no style of the page. */
async function copied(drawing: Element, name: string): Promise<SVGElement> {
  const plot = plotIn(drawing);
  if (plot !== undefined) return recorded(plot, name);
  if (drawing instanceof HTMLCanvasElement) return element("image", { href: drawing.toDataURL(), preserveAspectRatio: "none", style: "image-rendering:pixelated" });
  const copy = drawing.cloneNode(true) as SVGElement;
  const copies = [copy, ...copy.querySelectorAll<SVGElement>("*")];
  [drawing, ...drawing.querySelectorAll("*")].forEach((each, at) => {
    const [style, to] = [getComputedStyle(each), copies[at]];
    if (to === undefined) return;
    for (const property of LOOK) to.setAttribute(property, style.getPropertyValue(property));
    // Links lead nowhere from a file.
    for (const attribute of ["class", "style", "tabindex", "role", "href"]) to.removeAttribute(attribute);
  });
  return copy;
}

/** Words as they stand on the page, which breaks them into lines. */
function written(words: Element, frame: DOMRect): SVGElement {
  const { color, fontFamily, fontSize, fontWeight } = getComputedStyle(words);
  const font = { "font-family": fontFamily, "font-size": fontSize, "font-weight": fontWeight };
  const text = element("text", { "dominant-baseline": "central", fill: color, ...font });
  for (const { letters, left, top, bottom } of lines(words)) {
    const line = element("tspan", { x: left - frame.left, y: (top + bottom) / 2 - frame.top });
    line.textContent = letters;
    text.append(line);
  }
  return text;
}

interface Line {
  letters: string;
  left: number;
  top: number;
  bottom: number;
}

/** The lines of words, found letter by letter, because a long word is broken anywhere. */
function lines(words: Element): Line[] {
  const found: Line[] = [];
  const range = document.createRange();
  const texts = document.createTreeWalker(words, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
    for (const { 0: letter, index } of (text.nodeValue ?? "").matchAll(/./gsu)) {
      range.setStart(text, index);
      range.setEnd(text, index + letter.length);
      const { left, top, bottom } = range.getBoundingClientRect();
      const line = found.at(-1);
      // A space where a line ends has no place.
      if (line !== undefined && (/\s/.test(letter) || (top + bottom) / 2 <= line.bottom)) line.letters += letter;
      else if (/\S/.test(letter)) found.push({ letters: letter, left, top, bottom });
    }
  }
  return found;
}
