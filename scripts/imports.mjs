// Who may import whom: the one place where the direction of the flow is written down for the machine.
// docs/development.md says the same for people, and a test compares the two.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { cruise } from 'dependency-cruiser';

/** The folders of `src`, in the order of the flow, and what each may import. */
const everyFolder = [
  'base',
  'usecases',
  'scenario',
  'capacity',
  'plan',
  'measure',
  'messages',
  'wire',
  'servers',
  'targets',
  'engine',
  'results',
  'agents',
  'record',
  'run',
  'cli',
  'webview',
  'extension',
];
const allBut = (...names) => everyFolder.filter((folder) => !names.includes(folder));

/** Pure folders know neither Node nor the browser nor VS Code. */
export const pureFolders = everyFolder.slice(0, everyFolder.indexOf('messages') + 1);

export const mayImport = {
  base: [],
  usecases: ['base'],
  scenario: ['base', 'usecases'],
  capacity: ['base', 'scenario', 'usecases'],
  plan: ['base', 'scenario', 'usecases'],
  measure: ['base', 'usecases'],
  messages: allBut('messages').filter((folder) => pureFolders.includes(folder)),
  wire: ['base'],
  servers: ['base', 'usecases', 'wire'],
  targets: ['base', 'scenario', 'usecases', 'servers', 'wire'],
  engine: [...['base', 'scenario', 'usecases', 'plan', 'measure', 'messages', 'targets', 'wire']],
  results: ['base', 'scenario', 'usecases', 'measure', 'capacity'],
  agents: [...['base', 'scenario', 'plan', 'measure', 'messages', 'targets', 'engine', 'results']],
  record: [...['base', 'usecases', 'scenario', 'capacity', 'plan', 'wire', 'servers', 'results']],
  run: allBut('run', 'cli', 'webview', 'extension'),
  cli: allBut('cli', 'extension', 'webview'),
  webview: ['base', 'measure', 'capacity', 'messages'],
  extension: allBut('cli', 'extension', 'webview'),
};

/**
 * The wings of a folder, from the ground up: a wing may import those named before it. Files that stand in
 * the folder itself are its entrance and its common words; both may be imported from everywhere in it.
 */
export const wings = {
  base: ['objectives'],
  usecases: ['cases'],
  scenario: ['target', 'text', 'keys', 'read', 'check', 'compat'],
  capacity: ['tables', 'load', 'judge', 'start'],
  measure: ['judge', 'total', 'show', 'compare', 'report'],
  wire: [
    ...['socket', 'message', 'webpubsub', 'hub', 'http', 'classic', 'connect', 'rest'],
    ...['service', 'sdk'],
  ],
  servers: [
    ...['hubProtocol', 'http', 'hub', 'classic', 'service', 'azureSignalr', 'webpubsub'],
    ...['appServer', 'upstream'],
  ],
  targets: ['entra', 'identities', 'service'],
  engine: ['connect', 'prepare', 'send', 'receive', 'calibrate', 'lead'],
  results: ['counters', 'compare'],
  agents: ['bus', 'clock', 'agent', 'coordinate', 'view', 'kubernetes'],
  record: ['proxy', 'read', 'analyse', 'replay'],
  run: ['observe', 'export', 'bundles'],
  cli: ['views', 'commands', 'tree'],
  webview: ['tables', 'charts'],
  extension: ['language', 'scenarios', 'results', 'targets', 'panel', 'run'],
};

/** Files in one folder of src, its wings not counted: with more, a reader no longer sees what belongs together. */
const mostFiles = 20;

/** The border files describe messages; importing a value there would drag code over the border. */
const typesOnly = ['messages'];

/** Packages of pure folders; the histogram library has its own rule below. */
const purePackages = { scenario: ['yaml'], usecases: ['json-p3'] };

/** The only file that knows which histogram library is used. */
export const histogramFile = 'src/measure/histogram.ts';

const anyOf = (names) =>
  `(${names.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')})`;
const inFolders = (folders, below = 'src') => `^${below}/${anyOf(folders)}/`;
/** A package however it was found: installed, by its types alone, or not at all. */
const packages = (names) =>
  ['^', 'node_modules/', 'node_modules/@types/'].map((start) => `${start}${anyOf(names)}(/|$)`);

const builtins = [`^${anyOf(builtinModules)}(/|$)`];

const seeTable = 'see "One direction" in docs/development.md';

function folderRules(folder) {
  const from = { path: inFolders([folder]) };
  const allowed = mayImport[folder];
  const closed = everyFolder.filter((other) => other !== folder && !allowed.includes(other));
  const rules = [];
  if (closed.length > 0) {
    const names = allowed.length === 0 ? 'nothing else of src' : allowed.join(', ');
    rules.push({
      name: `${folder} may import ${names}; ${seeTable}`,
      from,
      to: { path: inFolders(closed) },
    });
  }
  if (pureFolders.includes(folder)) rules.push(...pureRules(folder, from));
  for (const [place, wing] of (wings[folder] ?? []).entries()) {
    const above = wings[folder].slice(place + 1);
    if (above.length === 0) continue;
    rules.push({
      name: `${folder}/${wing} stands below ${above.join(', ')}; ${seeTable}`,
      from: { path: inFolders([wing], `src/${folder}`) },
      to: { path: inFolders(above, `src/${folder}`) },
    });
  }
  return rules;
}

function pureRules(folder, from) {
  const known = [...(purePackages[folder] ?? []), 'vscode', 'hdr-histogram-js'];
  return [
    {
      name: `${folder} is pure: it may not import what only Node has`,
      from,
      to: { path: ['^node:', ...builtins] },
    },
    {
      name: `${folder} is pure: its packages are listed in scripts/imports.mjs`,
      from,
      to: {
        path: ['node_modules/', '^[^./]'],
        pathNot: ['^src/', '^node:', ...builtins, ...packages(known)],
      },
    },
  ];
}

/** @returns rules of dependency-cruiser; their names are what a person reads */
function rules() {
  return [
    { name: 'imports must not lead in a circle', from: {}, to: { circular: true } },
    { name: 'a file that nothing imports', from: { orphan: true, pathNot: '\\.d\\.ts$' }, to: {} },
    {
      name: 'only src/extension may import vscode',
      from: { pathNot: inFolders(['extension']) },
      to: { path: packages(['vscode']) },
    },
    {
      name: `only ${histogramFile} may import hdr-histogram-js`,
      from: { path: '^src/', pathNot: `^${histogramFile}$` },
      to: { path: packages(['hdr-histogram-js']) },
    },
    ...everyFolder.flatMap(folderRules),
  ];
}

/**
 * Looks at all imports, of types and `import()` too.
 *
 * @param {string} baseDir folder in which `src` stands
 * @returns {Promise<{ from: string, to: string, rule: string }[]>} what is against the rules
 */
export async function violations(baseDir = process.cwd()) {
  const { output } = await cruise(['src'], {
    baseDir,
    validate: true,
    tsPreCompilationDeps: true,
    parser: 'swc',
    doNotFollow: { path: 'node_modules' },
    ruleSet: { forbidden: rules().map((rule) => ({ severity: 'error', ...rule })) },
  });
  const against = output.summary.violations.map(({ from, to, rule, cycle }) => ({
    from,
    to: cycle === undefined ? to : cycle.map(({ name }) => name).join(' → '),
    rule: rule.name,
  }));
  return [...against, ...valueImports(baseDir), ...flatPiles(baseDir)];
}

/** Folders with too many files. */
function flatPiles(baseDir) {
  const entries = readdirSync(path.join(baseDir, 'src'), { recursive: true, withFileTypes: true });
  const counts = new Map();
  for (const entry of entries) {
    const folder = path.relative(baseDir, entry.parentPath ?? entry.path);
    if (entry.isFile()) counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, count]) => count > mostFiles)
    .map(([folder, count]) => ({
      from: folder.split(path.sep).join('/'),
      to: `${count} files`,
      rule: `a folder holds at most ${mostFiles} files; make wings, see "Wings" in docs/development.md`,
    }));
}

/** A statement that brings a value from outside of its folder, and from where. */
const valueFrom = /^(?:import|export) (?!type\b)[^;']*from '((?!\.\/)[^']+)';/gm;

/** Imports of values where only those of types may stand; SWC's parser leaves the two alike. */
function valueImports(baseDir) {
  return typesOnly.flatMap((folder) => {
    const place = path.join(baseDir, 'src', folder);
    const files = existsSync(place) ? readdirSync(place) : [];
    return files.flatMap((file) =>
      [...readFileSync(path.join(place, file), 'utf8').matchAll(valueFrom)].map(([, source]) => ({
        from: `src/${folder}/${file}`,
        to: source.startsWith('.') ? `${path.posix.join('src', folder, source)}.ts` : source,
        rule: `${folder} may import types only`,
      })),
    );
  });
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const found = await violations();
  for (const { from, to, rule } of found) console.error(`${from} → ${to}\n  ${rule}`);
  if (found.length > 0) process.exitCode = 1;
}
