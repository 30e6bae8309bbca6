// What the environment says about how the service runs; a bad value ends the process with its name.
const MODES = ['reactive'];

export const settings = {
  port: number('PORT', 8080, 1, 65_535),
  mode: mode(),
  orders: number('ORDERS', 1_000, 0, 1_000_000),
  // Two times in milliseconds.
  delay: delay(),
};

function number(name, missing, least, most) {
  const text = process.env[name];
  if (text === undefined) return missing;
  if (/^\d{1,9}$/.test(text) && Number(text) >= least && Number(text) <= most) return Number(text);
  return fail(`${name} must be a whole number from ${least} to ${most}, not "${text}"`);
}

function mode() {
  const text = process.env.MODE ?? MODES[0];
  return MODES.includes(text) ? text : fail(`MODE must be one of ${MODES.join(', ')}, not "${text}"`);
}

function delay() {
  const text = process.env.ORDERS_DELAY;
  if (text === undefined) return [0, 0];
  const parts = /^(\d+)(us|ms|s)\.\.(\d+)(us|ms|s)$/.exec(text);
  const unit = { us: 0.001, ms: 1, s: 1000 };
  const times = parts && [parts[1] * unit[parts[2]], parts[3] * unit[parts[4]]];
  if (times && times[0] <= times[1]) return times;
  return fail(`ORDERS_DELAY must be two times, the shorter first, such as 1ms..5ms, not "${text}"`);
}

function fail(reason) {
  console.error(`error: ${reason}`);
  process.exit(2);
}
