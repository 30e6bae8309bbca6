// A dialog of the browser's own, which keeps the focus and gives it back.
import type { ComponentChildren, VNode } from "preact";
import { render } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface Props {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
}

export function Dialog({ title, onClose, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    <dialog ref={dialog} aria-label={title} onClose={onClose} onClick={(event) => event.target === dialog.current && dialog.current?.close()}>
      <div class="inside">
        <div class="top">
          <h2>{title}</h2>
          <button type="button" onClick={() => dialog.current?.close()}>
            Close
          </button>
        </div>
        {children}
      </div>
    </dialog>
  );
}

/** Shows a dialog above the page. When it closes, focus returns to `from`, or moves to the place that the reader chose. */
export function openDialog(from: HTMLElement, dialog: (close: (to?: HTMLElement) => void) => VNode): void {
  const place = document.body.appendChild(document.createElement("div"));
  const close = (to = from) => {
    render(null, place);
    place.remove();
    to.focus();
  };
  render(dialog(close), place);
}
