import http from 'k6/http';

export const options = {
  discardResponseBodies: true,
  summaryTrendStats: ['med', 'p(99)'],
  scenarios: { load: JSON.parse(__ENV.SCENARIO) },
};

export default function () {
  http.get(__ENV.URL);
}

export function handleSummary(data) {
  return { stdout: JSON.stringify(data.metrics) };
}
