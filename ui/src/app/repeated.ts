// Asks the server again and again: at once, then every so often while somebody sees the window, and as soon as it is seen again.
import { useEffect, useRef } from "preact/hooks";
import { reason } from "./api";

/** Tells `onError` what is wrong, and that nothing is any more. Of several answers under way the one counts that was asked for last. Returns
 * how to ask out of turn. */
export function useRepeated<T>(everyMs: number, ask: () => Promise<T>, onAnswer: (answer: T) => void, onError: (text: string | undefined) => void): () => Promise<void> {
  const now = useRef({ ask, onAnswer, onError });
  now.current = { ask, onAnswer, onError };
  const latest = useRef(0);
  const isLost = useRef(false);
  const look = async () => {
    const number = (latest.current += 1);
    try {
      const answer = await now.current.ask();
      if (number !== latest.current) return;
      now.current.onAnswer(answer);
      if (isLost.current) now.current.onError(undefined);
      isLost.current = false;
    } catch (thrown) {
      if (number !== latest.current) return;
      isLost.current = true;
      now.current.onError(reason(thrown));
    }
  };
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isLeft = false;
    const again = async () => {
      await look();
      // Another round may have begun meanwhile.
      clearTimeout(timer);
      if (!isLeft && !document.hidden) timer = setTimeout(() => void again(), everyMs);
    };
    const onSeen = () => {
      clearTimeout(timer);
      if (!document.hidden) void again();
    };
    document.addEventListener("visibilitychange", onSeen);
    void again();
    return () => {
      isLeft = true;
      latest.current += 1;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", onSeen);
    };
  }, []);
  return look;
}
