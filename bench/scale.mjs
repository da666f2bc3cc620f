// What more connections cost: whole runs of 10,000 echoes a second by 100 to 100,000 connections, on one machine with the hub
// in C. Prints a table; with --draw FILE it draws the curve, too. Method: bench/README.md, *Scale curve*. Judges nothing.
//
//   node bench/scale.mjs [--connections 100,1000,10000,50000,100000] [--rate 10000] [--seconds 4]
//     [--json out/bench/scale.json] [--draw docs/pictures/scale.svg]
//   node bench/scale.mjs --connections '' --json … --draw …    draws what was measured before
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { buildPeer } from './floor.mjs';
import { largeRun } from './largeRuns.mjs';
import { drawScale } from './scalePicture.mjs';
import { stolen } from './stolen.mjs';

const { values } = parseArgs({
  options: {
    connections: { type: 'string', default: '100,1000,10000,50000,100000' },
    rate: { type: 'string', default: '10000' },
    seconds: { type: 'string', default: '4' },
    json: { type: 'string', default: 'out/bench/scale.json' },
    draw: { type: 'string' },
  },
});
const rate = Number(values.rate);

const problem = buildPeer();
if (problem !== undefined) {
  console.log(`This needs the hub in C: ${problem}`);
  process.exit(0);
}
const rows = existsSync(values.json) ? JSON.parse(readFileSync(values.json, 'utf8')) : [];
for (const text of values.connections.split(',').filter((one) => one !== '')) {
  const connections = Number(text);
  const intervalMs = (connections * 1000) / rate;
  stolen();
  const found = await largeRun({
    ...{ connections, intervalMs, senders: connections, step: 0, steps: 1 },
    seconds: Number(values.seconds),
  });
  const place = rows.findIndex((row) => row.connections === connections);
  if (place >= 0) rows.splice(place, 1);
  rows.push({ ...found, stolen: stolen() });
  rows.sort((a, b) => a.connections - b.connections);
  writeFileSync(values.json, JSON.stringify(rows, undefined, 1));
  console.log(lineOf(rows.find((row) => row.connections === connections)));
}
if (values.draw !== undefined) writeFileSync(values.draw, drawScale(rows));

function lineOf({ connections, processes, connectSeconds, mostBytes, steps: [step], ...row }) {
  const whole = (number) => Math.round(number).toLocaleString('en-US');
  const rateOf = connectSeconds > 0 ? `${whole(connections / connectSeconds)}/s opened` : '';
  return [
    `${whole(connections)} connections`.padStart(20),
    `${processes} processes`,
    `${whole(step.received)} of ${whole(step.expected)} received`,
    `${step.cpuUsPerEcho.toFixed(1)} us of CPU each`,
    `${whole(mostBytes / 1024 / 1024)} MB at most (${(mostBytes / 1024 / connections).toFixed(1)} KB a connection)`,
    rateOf,
    `late p99 ${(step.slipP99Us / 1000).toFixed(1)} ms`,
    `p99 ${((step.p99Us ?? 0) / 1000).toFixed(1)} ms`,
    `${step.verdict}, ${row.stolen}`,
  ].join(', ');
}
