// All that is known of one slice.
import { when } from "./data";
import type { Page } from "./data";
import { Dialog } from "./dialog";
import { figure, seconds, time } from "./format";
import type { Slice } from "./generated/result";
import { probesOf, observed } from "./probe-list";

export function SliceDialog({ page, slice, onClose }: { page: Page; slice: Slice; onClose: () => void }) {
  const cell = page.result.cells[slice.cell];
  const times = [
    ["response time", slice.response],
    ["service time", slice.service],
    ["send lag", slice.send_lag],
  ] as const;
  return (
    <Dialog title={`${cell?.label ?? ""}, deployment ${slice.round + 1}, block ${slice.block + 1}`} onClose={onClose}>
      <p>
        {slice.counted ? "Its figures count." : "Its block was disturbed; its figures do not count."}{" "}
        {seconds(slice.duration_s)} long, at {seconds(when(slice))}, position {slice.position + 1}, attempt {slice.attempt + 1}.
      </p>
      {slice.failed_gates.map((gate) => (
        <p class="alert" key={gate}>
          <span aria-hidden="true">✗ </span>
          {gate}
        </p>
      ))}
      <div class="scroll" role="group" tabIndex={0} aria-label="times">
        <table class="figures">
          <thead>
            <tr>
              <td />
              {["p50", "p90", "p99", "p99.9", "max"].map((name) => (
                <th scope="col" key={name}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {times.map(([name, of]) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                {([of.p50, of.p90, of.p99, of.p999, of.max] as const).map((ns, at) => (
                  <td key={at}>{time(ns)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <dl>
        <div>
          <dt>due, answered</dt>
          <dd>
            {slice.due}, {slice.answered} ({figure(slice.rate_per_second, "/s")})
          </dd>
        </div>
        {Object.entries(slice.errors).map(([kind, count]) => (
          <div key={kind}>
            <dt>{kind}</dt>
            <dd>{count}</dd>
          </div>
        ))}
        {probesOf(page.result).map((probe) => {
          const value = observed(slice, probe);
          return value === undefined ? null : (
            <div key={probe.path.join("/")}>
              <dt>{probe.label}</dt>
              <dd>{figure(value, probe.unit)}</dd>
            </div>
          );
        })}
      </dl>
    </Dialog>
  );
}
