// What all pages have: the way to the others, and what went wrong.
import type { ComponentChildren } from "preact";

interface Props {
  title: string;
  error?: string | undefined;
  children: ComponentChildren;
}

export function Frame({ title, error, children }: Props) {
  document.title = `${title} · loadline`;
  return (
    <>
      <nav class="links" aria-label="pages">
        <a href="/">All runs</a>
        <a href="/new">New run</a>
        <a href="/history">History</a>
      </nav>
      <main>
        <header>
          <h1>{title}</h1>
        </header>
        <div role="alert">{error !== undefined && <pre class="alert" tabIndex={0}>{error}</pre>}</div>
        {children}
      </main>
    </>
  );
}
