import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { isScenarioText } from '../../../src/extension/language/isScenarioText';
import { statusIcons } from '../../../src/extension/results/resultsModel';
import { latenessTexts } from '../../../src/measure/show/chartWords';
import { columnTexts } from '../../../src/measure/show/stepColumns';
import { panelStrings } from '../../../src/measure/show/panelStrings';
import { exporters } from '../../../src/run/export/exporters';

interface Command {
  readonly command: string;
  readonly title: string;
}

interface Step {
  readonly id: string;
  readonly completionEvents: readonly string[];
  readonly description: string;
  readonly media: { readonly markdown: string };
}

interface Manifest {
  readonly main: string;
  readonly icon: string;
  readonly contributes: {
    readonly commands: readonly Command[];
    readonly menus: Readonly<Record<string, readonly { readonly command: string }[]>>;
    readonly views: Readonly<Record<string, readonly { readonly id: string }[]>>;
    readonly customEditors: readonly { readonly viewType: string }[];
    readonly configuration: {
      readonly properties: Readonly<Record<string, { readonly default: unknown }>>;
    };
    readonly walkthroughs: readonly { readonly id: string; readonly steps: readonly Step[] }[];
    readonly yamlValidation: readonly {
      readonly fileMatch: readonly string[];
      readonly url: string;
    }[];
  };
}

const manifestText = readFileSync('package.json', 'utf8');
const { contributes, ...manifest } = JSON.parse(manifestText) as Manifest;
const texts = (file: string): Record<string, string> =>
  JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
const english = texts('package.nls.json');
const chinese = texts('package.nls.zh-cn.json');
const bundle = texts('l10n/bundle.l10n.zh-cn.json');

const sourcesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(path.join(folder, name), 'utf8'));
const sources = ['src/extension', 'src/run'].flatMap(sourcesIn);
const source = sources.join('\n');

const literal = /'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"/;

/** What sentences are made from: what stands in a call, and other texts with places of the files that make some. */
function sentenceTexts(): string[] {
  const making = sourcesIn('src').filter((text) =>
    /import [^;]*\bsentence\b[^;]*\/sentence';/.test(text),
  );
  const called = new RegExp(`\\bsentence\\(\\s*(?:${literal.source})`, 'g');
  const found = making.flatMap((text) => [
    ...text.matchAll(called),
    ...[...text.matchAll(new RegExp(literal, 'g'))].filter(([whole]) => /\{\d\}/.test(whole)),
  ]);
  const texts = found.map(([, single, double]) => (single ?? double)!.replace(/\\(.)/g, '$1'));
  return [...new Set([...texts, '; ', ', ', ' + '])];
}

const commands = contributes.commands.map(({ command }) => command).sort();

describe('manifest and code of the extension', () => {
  it('register the commands that are contributed, and no others', () => {
    const registered = [
      ...readFileSync('src/extension/commands.ts', 'utf8').matchAll(
        /^ {4}'(signalrBenchmark\.\w+)':/gm,
      ),
    ].map(([, id]) => id!);
    assert.deepEqual(registered.sort(), commands);
  });

  it('have the palette command under its exact title', () => {
    const run = contributes.commands.find(({ command }) => command === 'signalrBenchmark.run');
    assert.equal(english[run!.title.slice(1, -1)], 'Run SignalR Benchmark');
  });

  it('name in menus, texts and code only commands that exist', () => {
    const inMenus = Object.values(contributes.menus).flatMap((items) =>
      items.map(({ command }) => command),
    );
    const all = `${JSON.stringify(english)}${JSON.stringify(chinese)}`;
    const inTexts = [...all.matchAll(/command:(signalrBenchmark\.\w+)/g)].map(([, id]) => id!);
    const inCode = [...source.matchAll(/executeCommand\(\s*'(signalrBenchmark\.\w+)'/g)].map(
      ([, id]) => id!,
    );
    const inEvents = [...manifestText.matchAll(/onCommand:(signalrBenchmark\.\w+)/g)].map(
      ([, id]) => id!,
    );
    assert.ok(inEvents.length > 0);
    for (const id of [...inMenus, ...inTexts, ...inCode, ...inEvents])
      assert.ok(commands.includes(id), id);
  });

  it('agree on the settings', () => {
    const contributed = Object.keys(contributes.configuration.properties);
    const door = readFileSync('src/extension/services.ts', 'utf8');
    const read = [...door.matchAll(/^ {2}readonly (\w+): (?:boolean|number|string);/gm)].map(
      ([, name]) => `signalrBenchmark.${name!}`,
    );
    assert.deepEqual(read.sort(), [...contributed].sort());
    for (const setting of Object.values(contributes.configuration.properties))
      assert.notEqual(setting.default, undefined);
  });

  it('offer every command somewhere, and know places by what the code says of them', () => {
    const items = Object.entries(contributes.menus)
      .filter(([menu]) => menu !== 'commandPalette')
      .flatMap(([, inside]) => inside);
    const hidden = contributes.menus['commandPalette']!.map(({ command }) => command);
    for (const id of hidden)
      assert.ok(
        items.some(({ command }) => command === id),
        id,
      );
    const conditions = JSON.stringify(contributes)
      .match(/"(?:when|enablement)":"[^"]*"/g)!
      .join();
    for (const [, id] of conditions.matchAll(/\b(signalrBenchmark\.\w+)/g)) {
      const known =
        source.includes(`'setContext', '${id!}'`) || source.includes(`createTreeView('${id!}'`);
      assert.ok(known, id);
    }
    const words = [...conditions.matchAll(/\^(?:result|target)\\+\.\(([\w|]+)\)\$/g)];
    assert.ok(words.length > 0);
    const known = new Set([...Object.keys(statusIcons), 'local', 'hub', 'secret']);
    for (const [, alternatives] of words) {
      for (const word of alternatives!.split('|')) assert.ok(known.has(word), word);
    }
  });

  it('agree on views and editors', () => {
    const views = Object.values(contributes.views)
      .flat()
      .map(({ id }) => id);
    assert.equal(views.length, 2);
    for (const id of views) assert.ok(source.includes(`createTreeView('${id}'`), id);
    assert.equal(contributes.customEditors.length, 1);
    assert.ok(source.includes(`resultEditorType = '${contributes.customEditors[0]!.viewType}'`));
    const walkthrough = contributes.walkthroughs[0]!;
    assert.ok(source.includes(`#${walkthrough.id}`));
    assert.equal(walkthrough.steps.length, 5);
  });

  it('tick the step on Units when an estimate was seen, and not before', () => {
    const { steps } = contributes.walkthroughs[0]!;
    const events = steps.find(({ id }) => id === 'units')!.completionEvents;
    assert.deepEqual(events, ['onContext:signalrBenchmark.estimateSeen']);
    const places = sources.filter((text) => text.includes("'signalrBenchmark.estimateSeen'"));
    assert.equal(places.length, 1);
    assert.match(places[0]!, /if \(hover\.estimated\) this\.tickEstimate\(\);/);
  });

  it('offer the schema to tooling for YAML, for what is a scenario by its name', () => {
    const [{ fileMatch, url }] = contributes.yamlValidation as [
      { fileMatch: string[]; url: string },
    ];
    assert.deepEqual(fileMatch, ['*.signalr.yaml', '*.signalr.yml']);
    for (const pattern of fileMatch) assert.ok(isScenarioText('', pattern.replace('*', 'a')));
    const schema = JSON.parse(readFileSync(url, 'utf8')) as { readonly properties: object };
    assert.ok('scenario' in schema.properties);
    assert.ok(!('jsonValidation' in contributes), 'a scenario in JSON is none for this extension');
  });

  it('are read in one place', () => {
    const readers = source.match(/getConfiguration\('signalrBenchmark'\)/g) ?? [];
    assert.equal(readers.length, 1);
    for (const name of Object.keys(contributes.configuration.properties)) {
      assert.ok(source.includes(`setting('${name.replace('signalrBenchmark.', '')}')`), name);
    }
  });

  it('name only files that are there', () => {
    const steps = contributes.walkthroughs.flatMap((walkthrough) => walkthrough.steps);
    const files = [
      manifest.icon,
      ...steps.map(({ media }) => media.markdown),
      ...contributes.yamlValidation.map(({ url }) => url),
      ...[...manifestText.matchAll(/"(media\/[\w./-]+)"/g)].map(([, file]) => file!),
    ];
    for (const file of files) assert.ok(existsSync(file), file);
    assert.equal(manifest.main, './dist/extension.js');
  });
});

describe('texts of the extension', () => {
  const placeholders = (text: string): string[] => (text.match(/\{\d\}/g) ?? []).sort();

  it('have every key of the manifest in both languages, and no others', () => {
    const used = [...manifestText.matchAll(/"%([\w.]+)%"/g)].map(([, key]) => key!);
    assert.deepEqual(Object.keys(english).sort(), [...new Set(used)].sort());
    assert.deepEqual(Object.keys(chinese).sort(), Object.keys(english).sort());
  });

  it('are all translated, with the same placeholders and commands', () => {
    const keys = new Set(
      [...source.matchAll(/\bt\(\s*'((?:[^'\\]|\\.)*)'/g)].map(([, key]) =>
        key!.replace(/\\(.)/g, '$1'),
      ),
    );
    assert.ok(keys.size > 50);
    // Those of the panel, of verdicts, of states and of export formats are translated from tables.
    const tables = [
      ...Object.values<string>(panelStrings),
      ...Object.values(columnTexts()),
      ...exporters.map(({ words }) => words),
      ...Object.values(statusIcons).map(({ word }) => word),
      ...Object.values(latenessTexts),
      ...sentenceTexts(),
    ];
    for (const key of [...keys, ...tables]) {
      const translated = bundle[key];
      assert.ok(translated !== undefined, `not in the Chinese bundle: ${key}`);
      assert.deepEqual(placeholders(translated), placeholders(key), key);
    }
    const unused = Object.keys(bundle).filter((key) => !keys.has(key) && !tables.includes(key));
    assert.deepEqual(unused, [], 'translated, but used no more');
    const linked = (text: string): string[] => (text.match(/\(command:[\w.]+\)/g) ?? []).sort();
    for (const [key, text] of Object.entries(english)) {
      assert.deepEqual(linked(chinese[key]!), linked(text), key);
    }
  });
});
