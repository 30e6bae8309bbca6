// What is answered to which path.
import { fibonacci, parseN } from './fibonacci.js';
import { fetchOrders } from './orders.js';
import { settings } from './settings.js';
import { countFetch } from './telemetry.js';
import { valueOf } from './values.js';

export const routes = {
  [`/hello/${settings.mode}`]: hello,
  '/api/orders': orders,
  '/cpu': cpu,
};

function hello(query, response) {
  const key = query.get('key');
  if (!key) return text(response, 400, 'key is missing');
  text(response, 200, valueOf(key));
}

async function orders(_query, response) {
  try {
    const start = performance.now();
    const all = await fetchOrders();
    countFetch(start);
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(all));
  } catch (error) {
    response.writeHead(500, { 'X-Error': error.message }).end();
  }
}

function cpu(query, response) {
  const n = parseN(query.get('n'));
  if (n === null) return text(response, 400, 'n must be a whole number from 0 to 45');
  text(response, 200, String(fibonacci(n)));
}

export function text(response, status, body) {
  response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' }).end(body);
}
