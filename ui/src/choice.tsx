// A choice of one among several, as a list or as buttons.
interface Props<T extends string> {
  label: string;
  options: readonly (readonly [T, string])[];
  value: T;
  onChange: (value: T) => void;
}

export function Choice<T extends string>({ label, options, value, onChange }: Props<T>) {
  if (options.length < 2) return null;
  return (
    <label class="choice">
      <span>{label}</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value as T)}>
        {options.map(([key, name]) => (
          <option key={key} value={key} selected={key === value}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Which load is drawn, of a run with several. */
export function LoadChoice({ loads, value, onChange }: { loads: string[]; value: string; onChange: (load: string) => void }) {
  return <Choice label="load" options={loads.map((load) => [load, load] as const)} value={value} onChange={onChange} />;
}
