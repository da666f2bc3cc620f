// The curve of bench/scale.mjs as a picture: four small charts over the number of connections, which grows tenfold a mark.

const width = 720;
const height = 440;
const chart = { width: 270, height: 120, left: 60, top: 40, right: 340, down: 210 };
const series = [
  { title: 'CPU of an echo, µs', of: (row) => row.steps[0].cpuUsPerEcho },
  { title: 'Memory of the generator, MB', of: (row) => row.mostBytes / 1024 / 1024 },
  { title: 'Connections opened a second', of: (row) => row.connections / row.connectSeconds },
  { title: 'Messages leave late, p99, ms', of: (row) => row.steps[0].slipP99Us / 1000 },
];

const shown = (value) =>
  value >= 1000 ? `${Math.round(value / 100) / 10}k` : String(Number(value.toPrecision(3)));

/** A round number at or above the highest value. */
function topOf(most) {
  const power = 10 ** Math.floor(Math.log10(most));
  return [1, 1.5, 2, 3, 5, 7.5, 10].map((step) => step * power).find((one) => one >= most);
}

function chartOf({ title, of }, rows, left, top) {
  const logs = rows.map(({ connections }) => Math.log10(connections));
  const [from, to] = [logs[0], logs.at(-1)];
  const most = topOf(Math.max(...rows.map(of)));
  const x = (log) => left + ((log - from) / (to - from || 1)) * chart.width;
  const y = (value) => top + chart.height - (value / most) * chart.height;
  const points = rows.map((row, at) => [x(logs[at]), y(of(row)), of(row)]);
  const round = (number) => number.toFixed(1);
  return [
    `<text x="${left}" y="${top - 12}" font-weight="bold">${title}</text>`,
    ...[0, most / 2, most].flatMap((value) => [
      `<line x1="${left}" x2="${left + chart.width}" y1="${round(y(value))}" y2="${round(y(value))}" stroke="#8884"/>`,
      `<text x="${left - 6}" y="${round(y(value) + 4)}" text-anchor="end">${shown(value)}</text>`,
    ]),
    ...rows.map(
      ({ connections }, at) =>
        `<text x="${round(points[at][0])}" y="${top + chart.height + 16}" text-anchor="middle">${shown(connections)}</text>`,
    ),
    `<polyline fill="none" stroke="#0a7bbd" stroke-width="2" points="${points.map(([a, b]) => `${round(a)},${round(b)}`).join(' ')}"/>`,
    ...points.map(([a, b]) => `<circle cx="${round(a)}" cy="${round(b)}" r="3" fill="#0a7bbd"/>`),
  ].join('\n');
}

/** @param rows as bench/scale.mjs writes them */
export function drawScale(rows) {
  const { left, top, right, down } = chart;
  const places = [
    [left, top],
    [left + right, top],
    [left, top + down],
    [left + right, top + down],
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12" fill="#777">
<title>What more connections cost: CPU, memory, connect rate and lateness by the number of connections</title>
${series.map((one, at) => chartOf(one, rows, ...places[at])).join('\n')}
<text x="${left}" y="${height - 24}">Connections, 10,000 echoes of 2 KB a second in all; docs/evidence/performance.md has the conditions.</text>
</svg>
`;
}
