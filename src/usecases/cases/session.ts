import {
  unitMistakeBelow,
  duration,
  groupParameters,
  intervalParameters,
  namedSpecs,
  stepList,
  text,
  type Parameters,
  type ParameterSpec,
  number,
} from '../parameters';
import { placeholdersIn } from '../ownArguments';
import {
  argumentsOfStep,
  audienceOfStep,
  listCalls,
  joinsByCalls,
  sessionStepsOf,
  usesGroup,
} from '../sessionSteps';
import type { HubRun, Preparation, UseCase } from '../useCase';

const groupKeys = ['groupCount', 'sendersPer'];

const own: readonly ParameterSpec[] = [
  ...namedSpecs({
    sessionInterval: duration(
      { range: [1, 86_400_000], required: true, unitMistake: unitMistakeBelow(100, 's') },
      'Time from one session of a sender to its next. If one is still going on when the next is due, that one begins late and keeps its due time.',
    ),
    steps: stepList(
      { required: true },
      'What one user does, step after step: `call`, `stream`, `on`, `wait`, `repeat`, `choose` or `if`.',
    ),
  }),
  ...intervalParameters,
  ...groupParameters
    .filter(({ name }) => groupKeys.includes(name))
    .map((spec) => (spec.required === true ? { ...spec, required: false, optional: true } : spec)),
  ...namedSpecs({
    sharedGroups: text(
      { optional: true },
      'Sessions of a mix with the same name here, such as `rooms`, have the same groups: what one sends to a group is expected at its members of the others, too.',
    ),
    joinMethod: text(
      { optional: true },
      'Hub method that adds each connection to its group before the load, with the group as its argument; `JoinGroup` without this key. It is not called where calls of a session join.',
    ),
  }),
];

function runOf(parameters: Parameters): HubRun {
  const steps = sessionStepsOf(parameters);
  const calls = listCalls(steps).map(({ step }) => step);
  const audiences = new Set(calls.map(audienceOfStep));
  // Shared groups have members of every session that joins.
  const joins = joinsByCalls(steps) && audiences.has('group');
  const moves = joins || parameters['sharedGroups'] !== undefined;
  const ids =
    audiences.has('client') ||
    calls.some((step) =>
      placeholdersIn(argumentsOfStep(step)).some(({ name }) => name === 'sender'),
    );
  const joinsBefore = audiences.has('group') && !moves;
  const preparation: Preparation = joinsBefore ? 'joinGroups' : ids ? 'connectionId' : 'nothing';
  return {
    preparation,
    audience: usesGroup(steps) ? 'group' : audiences.has('everyone') ? 'everyone' : 'self',
    ...(ids && { needsId: true }),
    ...(typeof parameters['joinMethod'] === 'string' && { joinMethod: parameters['joinMethod'] }),
    session: { steps: String(parameters['steps'] ?? '[]'), joins: moves },
  };
}

export const session: UseCase = {
  name: 'session',
  aliases: [],
  summary: 'Each sender does what a user does, call after call, with pauses between.',
  services: ['hub', 'signalr'],
  parameters: own,
  starting: {
    sessionInterval: '2s',
    steps:
      "[{ call: JoinRoom, arguments: ['{group}'] }, { wait: 1s }, { call: LeaveRoom, arguments: ['{group}'] }]",
  },
  // The estimate treats each call as its own traffic.
  traffic: () => undefined,
  run: { preparation: 'nothing', audience: 'self' },
  runWith: runOf,
};

export const slowestReplay = 0.01;
export const fastestReplay = 1000;

const replayParameters: readonly ParameterSpec[] = namedSpecs({
  recording: text(
    { required: true },
    'Recording to replay, a file that `record` has written; relative to the scenario file.',
  ),
  speed: number(
    { range: [slowestReplay, fastestReplay], default: 1 },
    'How many times as fast as recorded: 2 halves every pause.',
  ),
  spread: duration(
    { range: [0, 86_400_000], default: 1000 },
    'Where recorded clients are replayed several times: over this time the replays begin, one after the other. 0s: all at once.',
  ),
});

export const replay: UseCase = {
  name: 'replay',
  aliases: [],
  summary: 'Each sender does what a recorded client did, call by call, at the recorded times.',
  services: ['hub', 'signalr', 'webpubsub'],
  parameters: replayParameters,
  starting: { recording: 'chat.recording.jsonl', speed: '1' },
  traffic: () => undefined,
  run: { preparation: 'nothing', audience: 'self' },
  runWith: ({ steps = '[]' }) => ({
    ...{ preparation: 'nothing', audience: 'self' },
    session: { steps: String(steps), joins: false, replays: true },
  }),
};
