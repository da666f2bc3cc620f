/** `steps` of a session, kept as JSON text with their defaults. */
import { isMap, isScalar, isSeq, type Node, type YAMLMap } from 'yaml';
import { formatCount, formatDurationMs } from '../../base/units';
import { refusalOfPath } from '../../usecases/jsonPath';
import {
  parseArguments,
  placeholderNames,
  placeholdersIn,
  argumentSizes,
  mostSizesOfCall,
  countSizeCombinations,
} from '../../usecases/ownArguments';
import type { Parameters } from '../../usecases/parameters';
import { totalSizeProblem } from '../../usecases/payloadSizes';
import {
  callReceivers,
  callReplies,
  listCalls,
  deepestSteps,
  durationMs,
  groupChanges,
  isCounted,
  isListenOnly,
  longestPath,
  mostCallsOfSession,
  mostEvents,
  mostKept,
  mostSteps,
  pausesOf,
  sumOverSession,
  type CallStep,
  type Durations,
  type IfStep,
  type KeepPaths,
  type SessionStep,
  type WeightedSteps,
} from '../../usecases/sessionSteps';
import { allStepKeys, stepKeys, stepKinds, type StepKind } from '../keys/stepKeys';
import type { Reading } from '../text/scenarioReading';
import { didYouMean, joinWords, didYouMeanText, safeExcerpt } from '../text/words';
import { checkReply, listOfText, readJson, type StoredNames } from './readArguments';
import {
  choiceIn,
  numberIn,
  checkRecord,
  sectionOf,
  sectionsIn,
  textIn,
  type Section,
} from './readSection';
import { isEmptyNode, scalarText, type Written } from './readValue';

const usualIntervalMs = 30_000;

export function withSteps(reading: Reading, section: Section, plain: Parameters): Parameters {
  const written = section.written.get('steps');
  const steps = written === undefined ? [] : new StepReader(reading).readAll(written);
  const { sessionInterval: interval = usualIntervalMs } = plain;
  const pauses = pausesOf(steps);
  if (pauses > Number(interval)) {
    const mean = pausesOf(steps, 'longest') > pauses ? ' in the mean' : '';
    const message = `The pauses of a session take ${formatDurationMs(pauses)}${mean}, but one begins every ${formatDurationMs(Number(interval))}: each would be later than the one before. Write a longer sessionInterval, or shorter pauses.`;
    reading.error('session-length', section.at('sessionInterval'), message);
  }
  return { ...plain, sessionInterval: interval, steps: JSON.stringify(steps) };
}

const namePattern = /^[A-Za-z]\w{0,39}$/;
const isKeptName = (name: string): boolean =>
  namePattern.test(name) && !placeholderNames.includes(name);

class StepReader {
  private readonly all = new Set<string>();
  private before: ReadonlySet<string> = new Set();
  private count = 0;

  constructor(private readonly reading: Reading) {}

  readAll(written: Written): SessionStep[] {
    const node = listOfText(this.reading, written);
    this.findKept(node, 0);
    const known = this.reading.problems().length;
    const steps = this.readList(node, written, 'scenario.parameters.steps', 1);
    const calls = sumOverSession(steps, (step) => (isCounted(step) ? 1 : 0));
    const all = sumOverSession(steps, () => 1);
    const { error } = this.reading;
    const leadTimings = listCalls(steps).flatMap(({ step }) => (step.kind === 'on' ? [step] : []));
    const events = new Set(
      leadTimings.filter((step) => !isListenOnly(step)).map(({ event }) => event),
    );
    const isGood = this.reading.problems().length === known;
    const most = (count: number, limit: number, message: string): void => {
      if (count > limit) error('above-bounds', written.place, message);
    };
    most(events.size, mostEvents, `A session waits for at most ${mostEvents} different events.`);
    const tooMany = `One session would take ${formatCount(Math.round(all))} steps, at most ${formatCount(mostCallsOfSession)} are possible. Repeat less.`;
    most(all, mostCallsOfSession, tooMany);
    const unread = `A session has at most ${formatCount(mostSteps)} steps; the others are not read.`;
    most(this.count, mostSteps, unread);
    most(this.all.size, mostKept, `A session keeps at most ${mostKept} values.`);
    const message =
      'No step of the session calls the hub. Write one such as "- call: SendMessage".';
    if (calls === 0 && isGood && all <= mostCallsOfSession)
      error('no-call', written.place, message);
    return steps;
  }

  /** All names, so that a value used too early is told from a misspelt one. */
  private findKept(node: Node | undefined, depth: number): void {
    if (depth > 4 * deepestSteps) return;
    const { reading, all } = this;
    if (isSeq(node)) {
      for (const item of node.items.slice(0, mostSteps))
        this.findKept(reading.resolve(item as Node | null), depth + 1);
    }
    if (!isMap(node)) return;
    for (const { key, value } of node.items) {
      const below = reading.resolve(value as Node | null | undefined);
      const name = isScalar(key) ? scalarText(key) : '';
      if (name === 'keep' && isMap(below)) {
        for (const item of below.items.slice(0, mostKept + 1))
          if (isScalar(item.key) && isKeptName(scalarText(item.key))) all.add(scalarText(item.key));
      } else if (isSeq(below) && name !== 'arguments') this.findKept(below, depth + 1);
    }
  }

  private readList(
    node: Node | undefined,
    holder: Written,
    path: string,
    depth: number,
  ): SessionStep[] {
    const { reading } = this;
    const { error } = reading;
    if (isEmptyNode(node) || (isSeq(node) && node.items.length === 0)) {
      error('empty-value', holder.place, 'steps has no value. Write at least one step.');
      return [];
    }
    if (!isSeq(node)) {
      const message = 'steps must be a list: each step begins with "- call: …" or another kind.';
      error('wrong-type', holder.place, message);
      return [];
    }
    if (depth > deepestSteps) {
      const message = `Steps are at most ${deepestSteps} deep. Take these out of the step they are in.`;
      error('too-deep', holder.place, message);
      return [];
    }
    return node.items.flatMap((item, at) => {
      this.count += 1;
      if (this.count > mostSteps || reading.isFull()) return [];
      return this.readStep(item as Node, `${path}.${at}`, depth) ?? [];
    });
  }

  private readStep(item: Node, path: string, depth: number): SessionStep | undefined {
    const { reading } = this;
    const { error } = reading;
    const map = reading.resolve(item);
    if (!isMap(map)) {
      error('wrong-type', item, `Each step is a map, such as "- call: SendMessage".`);
      return undefined;
    }
    const names = map.items.map(({ key }) => (isScalar(key) ? scalarText(key) : ''));
    const kinds = stepKinds.filter((kind) => names.includes(kind));
    const [kind] = kinds;
    if (kind === undefined) {
      this.reportNoKind(item, map, names);
      return undefined;
    }
    if (kinds.length > 1) {
      const message = `A step is one of ${joinWords(kinds, 'or')}, not several: write each as a step of its own, with "- " before it.`;
      error('step-kind', item, message);
    }
    const keys = stepKeys[kind];
    const section = sectionOf(reading, kind, keys, map);
    checkRecord(reading, { name: kind, type: 'section', keys, summary: '' }, section, item);
    return this.stepOf(kind, section, path, depth);
  }

  private reportNoKind(item: Node, map: YAMLMap, names: readonly string[]): void {
    const meant = names.map((name) => didYouMean(name, stepKinds)).find((found) => found);
    const [first] = map.items;
    const place = isScalar(first?.key) ? first.key : item;
    const known = allStepKeys.some(({ name }) => name === names[0]);
    const why = known
      ? `"${names[0]!}" belongs to a step of another kind.`
      : 'This step does not say what it is.';
    const message = `${why}${didYouMeanText(meant)} A step has one of ${joinWords(stepKinds, 'or')}.`;
    this.reading.error('step-kind', place, message);
  }

  private stepOf(
    kind: StepKind,
    section: Section,
    path: string,
    depth: number,
  ): SessionStep | undefined {
    const below = (name: string): SessionStep[] => this.below(section, name, path, depth);
    const withinMs = numberIn(section, 'within') ?? 0;
    switch (kind) {
      case 'call':
        return this.callOf(section);
      case 'stream':
        return {
          kind,
          method: nameIn(section, 'stream'),
          arguments: this.argumentsIn(section),
          items: numberIn(section, 'items') ?? 1,
          itemBytes: numberIn(section, 'itemSize')!,
          everyMs: numberIn(section, 'every')!,
          withinMs,
          ...(section.values.get('cancel') === true && { cancel: true }),
        };
      case 'on':
        return this.onOf(section, withinMs);
      case 'wait':
        return { kind, ms: durationsIn(section, kind) };
      case 'repeat': {
        const times = numberIn(section, 'repeat') ?? 1;
        const everyMs = durationsIn(section, 'every');
        const steps = below('steps');
        this.checkRound(section, steps, everyMs);
        return { kind, times, everyMs, steps };
      }
      case 'choose':
        return { kind, ways: this.waysIn(section, path, depth) };
      case 'if':
        return this.ifOf(section, below);
    }
  }

  private onOf(section: Section, withinMs: number): SessionStep {
    const { error, warning } = this.reading;
    const perSession = numberIn(section, 'perSession');
    const eventBytes = numberIn(section, 'eventSize');
    const [, event, within] = /^(\S+)\s+within:?\s+(\S+)$/.exec(nameIn(section, 'on')) ?? [];
    if (event !== undefined) {
      const message = `Write "on: ${event}", and "within: ${within!}" as a key of its own in the line below.`;
      error('event-name', section.at('on'), message);
    }
    if (withinMs === 0) {
      const message = 'within: 0 keeps nothing. Write a longer time.';
      error('other-reply', section.at('keep'), message);
    } else if (perSession !== undefined) {
      const message =
        'What is waited for counts once each time. Remove perSession, or write within: 0.';
      warning('other-reply', section.at('perSession'), message);
    }
    return {
      kind: 'on',
      event: nameIn(section, 'on'),
      withinMs,
      keep: this.keepIn(section),
      ...(perSession !== undefined && withinMs === 0 && { perSession }),
      ...(eventBytes !== undefined && { eventBytes }),
    };
  }

  /** No round is late by its own pauses, whatever is drawn. */
  private checkRound(section: Section, steps: readonly SessionStep[], everyMs: Durations): void {
    const longest = pausesOf(steps, 'longest');
    const shortest = durationMs(everyMs, 'shortest');
    if (everyMs === 0 || longest <= shortest) return;
    const [pauses, every] = [formatDurationMs(longest), formatDurationMs(shortest)];
    const isDrawn = typeof everyMs !== 'number' || longest > pausesOf(steps, 'shortest');
    const message = isDrawn
      ? `The pauses of one round can take ${pauses}, but the next can begin after ${every}: it would be late by its own pauses. Write longer times, or shorter pauses.`
      : `The pauses of one round take ${pauses}, but one begins every ${every}: each would be later than the one before. Write a longer time.`;
    this.reading.error('session-length', section.at('every'), message);
  }

  private below(section: Section, name: string, path: string, depth: number): SessionStep[] {
    const written = section.written.get(name);
    if (written === undefined) return [];
    const node = this.reading.resolve(written.value);
    return this.readList(node, written, `${path}.${name}`, depth + 1);
  }

  private callOf(section: Section): CallStep {
    const args = this.argumentsIn(section);
    const method = nameIn(section, 'call');
    const found = placeholdersIn(parseArguments(JSON.stringify(args), () => true));
    const names = found.map(({ name }) => name);
    const reply = choiceIn(section, 'reply', callReplies)!;
    const callback = textIn(section, 'callback');
    const step: CallStep = {
      kind: 'call',
      method,
      arguments: args,
      reply,
      receivers: choiceIn(section, 'receivers', callReceivers)!,
      group: choiceIn(section, 'group', groupChanges) ?? groupChangeOf(method, names),
      ...(callback !== undefined && { callback }),
      ...(section.values.get('answered') === true && { answered: true }),
      withinMs: numberIn(section, 'within')!,
      keep: this.keepIn(section),
    };
    checkReply(this.reading, section, found, true);
    this.checkStep(section, step, names);
    return step;
  }

  private checkStep(section: Section, step: CallStep, names: readonly string[]): void {
    const { error, warning } = this.reading;
    const { reply, group } = step;
    if (group !== 'none' && !names.includes('group')) {
      const message = `group: ${group} needs {group} in the arguments.`;
      error('missing-placeholder', section.at('group'), message);
    }
    if (reply === 'completion') return;
    const goesOn = `With reply: ${reply} the session goes on without an answer`;
    const noKeep = `${goesOn}, so there is nothing to keep. Write reply: completion, or keep it in a step "on".`;
    error('other-reply', section.at('keep'), noKeep);
    const noWait = `${goesOn}: within means nothing. Remove it, or write reply: completion.`;
    warning('other-reply', section.at('within'), noWait);
    if (group !== 'join') return;
    const message = `A call that joins a group needs reply: completion: from its answer on its caller is a member.`;
    error('other-reply', section.at('reply'), message);
  }

  private waysIn(section: Section, path: string, depth: number): WeightedSteps[] {
    const { before } = this;
    const after = new Set(before);
    const ways = (sectionsIn(section, 'choose') ?? []).map((way, at): WeightedSteps => {
      this.before = before;
      const steps = this.below(way, 'steps', `${path}.choose.${at}`, depth);
      for (const name of this.before) after.add(name);
      return { weight: numberIn(way, 'weight')!, steps };
    });
    this.before = after;
    return ways;
  }

  private ifOf(section: Section, below: (name: string) => SessionStep[]): SessionStep {
    const { reading, all } = this;
    const name = nameIn(section, 'if').replace(/^\{(\w+)\}$/, '$1');
    const place = section.at('if');
    if (!all.has(name)) {
      const meant = didYouMean(name, [...all]);
      const message = `No step keeps a value "${safeExcerpt(name)}".${didYouMeanText(meant)} A step that keeps one has keep: { ${namePattern.test(name) ? name : 'name'}: '$.path' }.`;
      reading.error('kept-unknown', place, message, meant);
    } else if (!this.before.has(name)) {
      const message = `"${name}" is looked at before it is kept: the step that keeps it must come before this one.`;
      reading.error('kept-later', place, message);
    }
    const equals = section.values.get('equals') as IfStep['equals'];
    const { before } = this;
    const steps = below('steps');
    const after = new Set(this.before);
    this.before = before;
    const otherwise = below('else');
    this.before = new Set([...this.before, ...after]);
    return {
      kind: 'if',
      name,
      steps,
      else: otherwise,
      ...(equals !== undefined && { equals }),
    };
  }

  private argumentsIn(section: Section): unknown[] {
    const kept: StoredNames = { all: this.all, before: this.before };
    const json = readJson(this.reading, section, 'arguments', kept) ?? '[]';
    const items = parseArguments(json, () => true);
    const problem =
      countSizeCombinations(items) > mostSizesOfCall
        ? `The texts of a call can have at most ${mostSizesOfCall} sizes: those of one times those of the others. Write fewer.`
        : totalSizeProblem(argumentSizes(items));
    if (problem !== undefined) {
      this.reading.error('arguments', section.at('arguments'), problem);
      return [];
    }
    return JSON.parse(json) as unknown[];
  }

  private keepIn(section: Section): KeepPaths {
    const { reading } = this;
    const { error } = reading;
    const written = section.written.get('keep');
    if (written === undefined) return {};
    const map = reading.resolve(written.value);
    if (!isMap(map)) {
      const message = `keep must be a map of names and JSONPaths, such as { last: '$[0].id' }.`;
      error('wrong-type', written.place, message);
      return {};
    }
    const keep = new Map<string, string>();
    for (const { key, value } of map.items.slice(0, mostKept + 1)) {
      const name = isScalar(key) ? scalarText(key) : '';
      const node = reading.resolve(value as Node | null | undefined);
      const path = isScalar(node) && typeof node.value === 'string' ? node.value.trim() : '';
      if (!isKeptName(name)) {
        const message = placeholderNames.includes(name)
          ? `{${name}} is a placeholder with a meaning of its own. Keep the value under another name.`
          : 'Names of kept values begin with a letter and have letters, digits and _ only, at most 40.';
        error('bad-name', key as Node, message);
      } else if (!path.startsWith('$') || path.length > longestPath) {
        const at = isEmptyNode(node) ? (key as Node) : node;
        const message = `"${safeExcerpt(name)}" needs a JSONPath, which begins with $ for the whole answer, such as '$[0].id'.`;
        error('json-path', at, message);
      } else {
        const refusal = refusalOfPath(path);
        if (refusal === undefined) keep.set(name, path);
        else error('json-path', node, pathMessages[refusal]);
      }
    }
    this.before = new Set([...this.before, ...keep.keys()]);
    return Object.fromEntries(keep);
  }
}

const pathMessages = {
  syntax: `This is not a JSONPath. $ is the whole answer, .name a member, [0] the first of a list: '$[0].id'.`,
  pattern: `match() and search() cannot be used here: with some texts a pattern takes minutes. Compare with ==, or take the value by its place.`,
};

const nameIn = (section: Section, name: string): string => textIn(section, name) ?? '';

const durationsIn = ({ values }: Section, name: string): Durations =>
  (values.get(name) as Durations | undefined) ?? 0;

/** By the names that chat hubs give such methods. */
function groupChangeOf(method: string, placeholders: readonly string[]): CallStep['group'] {
  if (!placeholders.includes('group')) return 'none';
  const verb = /^([Jj]oin|[Ll]eave)(?![a-z])/.exec(method)?.[1]?.toLowerCase();
  return verb === 'join' || verb === 'leave' ? verb : 'none';
}
