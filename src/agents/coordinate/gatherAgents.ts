import type { Disposable, Event } from '../../base/async';
import { ExpectedError } from '../../base/expectedError';
import { toolVersion } from '../../results/result';
import type { Bus } from '../bus/bus';
import {
  encodeMessage,
  type JoinAnswer,
  type JoinQuestion,
  joinSubject,
  type Member,
  agentIndexIn,
  readBeat,
  readJoinQuestion,
  readMember,
  type RunSubjects,
} from '../messages';
import { pause } from '../../engine/pause';

/** Source: decision record on several machines, "Barrier". */
const usualJoinMs = 180_000;

export interface Gathering {
  readonly run: string;
  readonly subjects: RunSubjects;
  readonly agents: number;
  readonly withinMs?: number;
  readonly isInCluster?: boolean;
  readonly joined?: (members: readonly Member[]) => void;
  readonly renewed?: Event<void>;
  readonly calledOff?: Promise<never> | undefined;
}

/** Waits until every place is taken by a living agent; in order of the places. @throws ExpectedError `agents-missing` */
export async function gatherAgents(bus: Bus, gathering: Gathering): Promise<Member[]> {
  const { run, subjects, agents, withinMs = usualJoinMs, renewed, calledOff } = gathering;
  const members = new Map<number, Member>();
  const alive = new Set<string>();
  const refused = new Set<string>();
  const subscriptions: Disposable[] = [];
  let timer: NodeJS.Timeout | undefined;
  try {
    const complete = new Promise<Member[]>((resolve) => {
      const look = (): void => {
        const here = [...members]
          .sort(([a], [b]) => a - b)
          .flatMap(([, member]) => (alive.has(member.epoch) ? [member] : []));
        gathering.joined?.(here);
        if (here.length === agents) resolve(here);
      };
      subscriptions.push(
        bus.hear(`${subjects.beats}.*`, (text) => {
          const epoch = readBeat(text)?.epoch;
          if (epoch === undefined || alive.has(epoch)) return;
          alive.add(epoch);
          look();
        }),
      );
      const answer = (text: string): JoinAnswer => {
        const said = answerJoin(readJoinQuestion(text), run, agents);
        if ('refused' in said) refused.add(said.refused);
        return said;
      };
      const anywhere = bus.answer(joinSubject, (text) => {
        const said = answer(text);
        return members.size < agents || 'refused' in said ? encodeMessage(said) : undefined;
      });
      // An agent of this run alone hears that no place is left.
      const here = bus.answer(subjects.join, (text) => encodeMessage(answer(text)));
      subscriptions.push(anywhere, here);
      if (renewed !== undefined)
        subscriptions.push(
          renewed(() => {
            const list = Array.from({ length: agents }, (_, place) => members.get(place));
            restoreMembers(bus, subjects, list, 'gathering').catch(() => undefined);
          }),
        );
    });
    const following = await bus.follow(subjects.log, `${subjects.members}.*`, (text, subject) => {
      const place = agentIndexIn(subject, subjects.members);
      const member = readMember(text);
      if (member === undefined || place === undefined || place >= agents) return;
      if (!members.has(place)) members.set(place, member);
    });
    subscriptions.push(following);
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), withinMs);
    });
    const first = await Promise.race([complete, late, ...(calledOff ? [calledOff] : [])]);
    if (first === 'late') throw missing(gathering, withinMs, members, alive, refused);
    return first;
  } finally {
    clearTimeout(timer);
    for (const subscription of subscriptions) subscription.dispose();
  }
}

export function answerJoin(
  question: JoinQuestion | undefined,
  run: string,
  agents: number,
): JoinAnswer {
  const version = question?.toolVersion;
  return version === toolVersion
    ? { run, agents }
    : {
        refused: `the run is led by signalr-bench ${toolVersion}, and the agent is ${version ?? 'of an unknown version'}: use one version on all machines`,
      };
}

function missing(
  { agents, isInCluster }: Gathering,
  withinMs: number,
  members: ReadonlyMap<number, Member>,
  alive: ReadonlySet<string>,
  refused: ReadonlySet<string>,
): ExpectedError {
  const here = [...members.values()];
  const silent = here.filter(({ epoch }) => !alive.has(epoch)).map(({ host }) => host);
  const sentences = [
    `${here.length - silent.length} of ${agents} agents came within ${withinMs / 1000} s; nothing was started.`,
    ...(silent.length > 0 ? [`Silent: ${silent.join(', ')}.`] : []),
    ...[...refused].map((why) => `One was refused: ${why}.`),
    ...(isInCluster === true
      ? []
      : ['Start one on each machine (signalr-bench agent --bus …), and the run again.']),
  ];
  return new ExpectedError('agents-missing', sentences.join(' '));
}

/** After the bus came back without them. */
export async function restoreMembers(
  bus: Bus,
  { members }: RunSubjects,
  list: readonly (Member | undefined)[],
  id: string,
): Promise<void> {
  for (const [place, member] of list.entries())
    if (member !== undefined)
      await bus.append(`${members}.${place}`, encodeMessage(member), `member.${id}.${place}`);
}

export interface WaitingAgent {
  readonly host: string;
  readonly toolVersion: string;
  readonly run?: string;
}

/** Agents ask every two seconds at least. */
const askedWithinMs = 3000;
const mostAgents = 1000;

/** Agents that wait for a run, by machine name. */
export async function listWaitingAgents(
  bus: Bus,
  withinMs: number = askedWithinMs,
): Promise<WaitingAgent[]> {
  const found = new Map<string, WaitingAgent>();
  const hear = (text: string, subject: string): void => {
    const question = readJoinQuestion(text);
    const { id, host, toolVersion = '' } = question ?? {};
    if (id === undefined || host === undefined || found.size >= mostAgents) return;
    const run = subject.slice(joinSubject.length + 1);
    found.set(id, { host, toolVersion, ...(run !== '' && { run }) });
  };
  const subscriptions = [joinSubject, `${joinSubject}.*`].map((subject) => bus.hear(subject, hear));
  await pause(withinMs);
  for (const subscription of subscriptions) subscription.dispose();
  return [...found.values()].sort((a, b) => a.host.localeCompare(b.host));
}
