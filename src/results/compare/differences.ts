import type { Difference } from '../../measure/compare/comparison';
import type { Scenario } from '../../scenario/scenario';
import { behindOf } from '../../scenario/target/targetKinds';
import type { Result } from '../result';

type Facts = ReadonlyMap<string, string>;

/** Keys of which the load is made: runs in which one of them differs measured different things. */
const loadKeys = /^(config\.(connections|pacing|arrivals|stages)|scenario|scenarios)(\.|$)/;
/** Judged afterwards; or no key of a file. */
const otherwise: readonly string[] = ['slo', 'entries', 'target'];

/** What the file says the load is, without what both runs have; empty where both can be compared. */
export const loadDifferences = (a: Scenario, b: Scenario): Difference[] =>
  differing(scenarioFacts(a), scenarioFacts(b)).filter(({ load }) => load === true);

/** All that is not the same in both: load first, then the rest of the scenario, target, tool and machine. */
export function differencesOf(a: Result, b: Result): Difference[] {
  const found = [
    ...differing(scenarioFacts(a.scenario), scenarioFacts(b.scenario)),
    ...differing(runFacts(a), runFacts(b)),
  ];
  return [...found.filter(({ load }) => load), ...found.filter(({ load }) => !load)].slice(0, most);
}

/** A scenario has about a hundred keys. */
const most = 200;

function differing(a: Facts, b: Facts): Difference[] {
  return [...new Set([...a.keys(), ...b.keys()])].flatMap((what) => {
    const [one = '–', other = '–'] = [a.get(what), b.get(what)];
    if (one === other) return [];
    return [{ what, a: one, b: other, ...(loadKeys.test(what) && { load: true as const }) }];
  });
}

function runFacts({ target, tool, machine }: Result): Facts {
  return new Map([
    ['target.url', shown(placeOf(target))],
    ...(target.dialect === undefined ? [] : [['target.dialect', target.dialect] as const]),
    ['target.emulated', target.emulated === true ? 'yes' : 'no'],
    ['tool', shown(tool.version)],
    ['machine.cores', String(machine.cores)],
    ['machine.platform', shown(machine.platform)],
    ['machine.node', shown(machine.node)],
    ['machine.workers', String(machine.workers)],
  ]);
}

/** An embedded server has another port each time. */
const placeOf = ({ kind, url }: Result['target']): string =>
  behindOf({ kind }) === 'ownServer' ? url.replace(loopbackPort, '$1') : url;
const loopbackPort = /(\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])):\d{1,5}(?!\d)/gi;

function scenarioFacts(scenario: Scenario): Facts {
  const facts = new Map<string, string>();
  for (const [name, value] of Object.entries(scenario))
    if (!otherwise.includes(name) && !isUsual(name, value))
      addFacts(facts, `config.${name}`, value);
  const { entries } = scenario;
  for (const [at, { name, senders, parameters }] of entries.entries()) {
    const place = entries.length === 1 ? 'scenario' : `scenarios.${at}`;
    addFacts(facts, `${place}.name`, name);
    if (senders !== undefined) addFacts(facts, `${place}.senders`, Object.values(senders).at(-1));
    addFacts(facts, `${place}.parameters`, parameters);
  }
  return facts;
}

/** What a file that says nothing has. */
const isUsual = (name: string, value: unknown): boolean =>
  (name === 'arrivals' && value === 'even') || (name === 'repeat' && value === 1);

const mostLevels = 4;

function addFacts(facts: Map<string, string>, name: string, value: unknown, level = 0): void {
  if (typeof value === 'object' && value !== null && level < mostLevels) {
    for (const [key, below] of Object.entries(value))
      addFacts(facts, `${name}.${key}`, below, level + 1);
  } else if (value !== undefined) facts.set(name, shown(value));
}

const mostCharacters = 200;

/** A stored value may be anything. */
function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.slice(0, mostCharacters);
}
