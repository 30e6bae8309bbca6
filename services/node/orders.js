// The orders of /api/orders, the same at each start.
import { setTimeout as sleep } from 'node:timers/promises';
import { settings } from './settings.js';

// JavaScript's own random numbers have no seed: Park and Miller's generator.
let seed = 42;
const random = (below) => (seed = (seed * 48_271) % 2_147_483_647) % below;

const all = Array.from({ length: settings.orders }, (_, index) => ({
  id: index + 1,
  customerName: `Customer-${index + 1}`,
  total: (10_00 + random(990_00 + 1)) / 100,
  status: random(2) === 0 ? 'SHIPPED' : 'PROCESSING',
}));

// All orders, after the delay that the settings ask for.
export async function fetchOrders() {
  const [shortest, longest] = settings.delay;
  // A timer counts whole milliseconds, and may come up to one of them early.
  if (longest > 0) await sleep(Math.floor(shortest + Math.random() * (longest - shortest)) + 1);
  return all;
}
