// What the page of results lists in pictures and tests: forty runs of two scenarios. Needs `npx tsc -b`.
import { createRequire } from 'node:module';
import path from 'node:path';

const require = createRequire(import.meta.url);
const { panelStrings } = require(path.resolve('out/src/measure/show/panelStrings.js'));

const dayMs = 86_400_000;
const begin = Date.parse('2026-10-01T09:00:00Z');

const rows = Array.from({ length: 40 }, (_, at) => {
  const slow = at % 11 === 7;
  const chat = at % 2 === 0;
  return {
    id: `/results/${at}`,
    scenario: chat ? 'chat-room' : 'echo',
    startedMs: begin + at * dayMs,
    when: `${new Date(begin + at * dayMs).toISOString().slice(5, 10)}, 10:00 AM`,
    p99Us: Math.round((chat ? 84_000 : 4000) * (1 + 0.3 * Math.sin(at)) * (slow ? 30 : 1)),
    unit: chat ? (at > 25 ? 20 : 10) : slow ? null : 1,
    status: slow ? 'failed' : 'passed',
    tone: slow ? 'bad' : 'good',
  };
});

const message = { type: 'results', rows, strings: panelStrings };

export const overviews = { all: message, trend: { ...message, scenario: 'chat-room' } };
