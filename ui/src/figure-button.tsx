// A figure as a button that opens what it rests on, in the tables of the app and in those that stand in the page without it.
import type { ComponentChildren } from "preact";
import { render } from "preact";
import type { Page } from "./data";
import { openDialog } from "./dialog";
import { FigureDialog } from "./figure-dialog";
import { restsOn } from "./rests-on";
import type { RestsOn } from "./rests-on";

interface Props {
  page: Page;
  of: RestsOn;
  children: ComponentChildren;
}

export function FigureButton({ page, of, children }: Props) {
  const open = (from: HTMLElement) => openDialog(from, (close) => <FigureDialog page={page} of={of} onClose={close} />);
  return (
    <button type="button" class="figure" title={of.title} aria-haspopup="dialog" onClick={(event) => open(event.currentTarget)}>
      {children}
    </button>
  );
}

/** Turns each figure that names what it rests on into a button; in comparison tables, the row's name. */
export function makeButtons(page: Page): void {
  document.querySelectorAll<HTMLElement>("table[data-contrast] tr[data-metric]").forEach((line) => {
    const heading = line.querySelector("th");
    if (heading !== null) becomeButton(page, heading, { ...line.closest("table")?.dataset, ...line.dataset });
  });
  document.querySelectorAll<HTMLElement>("span[data-metric]").forEach((figure) => becomeButton(page, figure, figure.dataset));
}

function becomeButton(page: Page, element: HTMLElement, names: DOMStringMap): void {
  const of = restsOn(page, names);
  if (of === undefined) return;
  const text = element.textContent;
  element.replaceChildren();
  render(
    <FigureButton page={page} of={of}>
      {text}
    </FigureButton>,
    element,
  );
}
