// How far a run is.
import { seconds } from "../format";
import type { Status } from "./api";

type Live = Status["live"];

/** `12 of 40 blocks · 1 min 3 s left` */
export function leftOf(live: Live): string {
  const blocks = live.of_blocks > 0 ? `${live.blocks} of ${Math.max(live.of_blocks, live.blocks)} blocks` : `${live.blocks} blocks`;
  const left = live.seconds_left;
  if (left !== null && left !== undefined) return `${blocks} · ${span(left)} left`;
  return live.of_blocks === 0 && live.blocks > 0 ? `${blocks} · until the intervals are narrow enough` : blocks;
}

/** `1 min 3 s`, `2 h 5 min` */
export function span(value: number): string {
  const whole = Math.round(value);
  if (whole < 60) return seconds(whole);
  const minutes = Math.floor(whole / 60);
  return minutes < 60 ? `${minutes} min ${whole % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function Progress({ live }: { live: Live }) {
  return (
    <div class="progress">
      {live.of_blocks > 0 && <progress max={Math.max(live.of_blocks, live.blocks)} value={live.blocks} aria-label="blocks measured" />}
      <p>
        {leftOf(live)}
        {live.repeated > 0 && ` · ${live.repeated} slices disturbed and measured again`}
      </p>
      <p class="caption">{live.doing}</p>
    </div>
  );
}
