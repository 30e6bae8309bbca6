// The service with node:http alone.
import { createServer } from 'node:http';
import { routes, text } from './routes.js';
import { settings } from './settings.js';
import { closeTelemetry, countRequest, scrape } from './telemetry.js';

const server = createServer(async (request, response) => {
  // Once the service ends, no connection is kept.
  if (!server.listening) response.setHeader('Connection', 'close');
  const { pathname, searchParams } = new URL(request.url, 'http://localhost');
  if (pathname === '/healthz') return text(response, 200, 'ok');
  if (pathname === '/metrics') return text(response, 200, await scrape());

  const start = performance.now();
  const route = request.method === 'GET' && Object.hasOwn(routes, pathname) ? pathname : '';
  if (route) await routes[route](searchParams, response);
  else text(response, 404, 'not found');
  countRequest(request.method, route, response.statusCode, start);
});

server.listen(settings.port);

for (const signal of ['SIGTERM', 'SIGINT']) {
  // All that came before is answered first.
  process.once(signal, () => server.close(closeTelemetry));
}
