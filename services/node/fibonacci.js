// The work of /cpu.
const LARGEST = 45;

// The N of a request; null if there is none or it is out of range, which is a 400.
export function parseN(text) {
  return /^\d{1,2}$/.test(text) && Number(text) <= LARGEST ? Number(text) : null;
}

export function fibonacci(n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
