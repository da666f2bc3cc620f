import { unitMistakeBelow, namedSpecs } from '../../usecases/parameters';
import {
  callReceivers,
  callReplies,
  groupChanges,
  mostDurations,
  mostSteps,
  mostTimes,
} from '../../usecases/sessionSteps';
import { choice, entries, keyOf, text, type KeySpec } from './keySpec';

const [count, duration, size] = [keyOf('count'), keyOf('duration'), keyOf('size')];
const number = keyOf('number');
const [list, stepList, texts] = [keyOf('list'), keyOf('steps'), keyOf('texts')];
const [value, flag] = [keyOf('value'), keyOf('flag')];

const within = duration(
  { range: [1, 600_000], default: 30_000, unitMistake: unitMistakeBelow(100, 's') },
  'How long to wait for it; after that the session breaks off.',
);
const args = list(
  { optional: true },
  'Arguments of the method as a list, with the placeholders of `invoke` and `{name}` for values that were kept before. A text may have several sizes, with weights: `{text:200B 3, 2KB 1}`, `{text:1KB-4KB}`.',
);
const keep = texts(
  { optional: true, apart: true },
  'Values of the answer to keep for later steps: a name of each and the JSONPath that finds it, such as `{ last: "$[0].id" }`. What it finds first is written as `{last}`.',
);

export const stepKeys = {
  call: namedSpecs({
    call: text({ required: true }, 'Hub method to call, as the server names it.'),
    arguments: args,
    reply: choice(
      { default: 'completion', choices: callReplies },
      'What counts as a delivery: the `completion` that the caller gets, and that the session waits for; a `callback` that the hub calls on its clients, or `none`, after both of which it goes on at once.',
    ),
    callback: text(
      { optional: true },
      'Client method that the hub calls, with reply: callback. It must bring back the first `{text}` of at least 54 bytes in the arguments, by which it is recognised.',
    ),
    receivers: choice(
      { default: 'self', choices: callReceivers },
      'Whom the hub calls back, with reply: callback: the caller, the client of `{receiver}`, all of `{group}`, or everyone. `others`: all of `{group}` but the caller, and without `{group}` in the arguments everyone but the caller.',
    ),
    answered: flag(
      { default: false },
      'With reply: callback: every call asks for an answer besides, as `invoke` of the clients does; it is not counted. Without it only the first of each sender does, so that errors are heard.',
    ),
    keep,
    within,
    group: choice(
      { optional: true, choices: groupChanges },
      'What the call does with its caller and `{group}`: with `join` it is among the receivers from the answer on, with `leave` no more from shortly before the call. Without this key a method whose name begins with Join or Leave, and which is given `{group}`, does it.',
    ),
  }),
  repeat: namedSpecs({
    repeat: count({ range: [1, mostTimes], required: true }, 'How often its steps are done.'),
    every: duration(
      {
        range: [0, 86_400_000],
        default: 0,
        unitMistake: unitMistakeBelow(100, 's'),
        several: mostDurations,
      },
      'Time from the beginning of one round to the next; 0 begins the next as soon as one is over. The last takes as long as the others. Of a list such as `[1s, 2s, 6s]` each round takes one, drawn at random.',
    ),
    steps: stepList({ required: true }, 'Steps of each round.'),
  }),
  wait: namedSpecs({
    wait: duration(
      {
        range: [1, 86_400_000],
        required: true,
        unitMistake: unitMistakeBelow(100, 's'),
        several: mostDurations,
      },
      'A pause; the next call is due when it is over. Of a list such as `[0.4s, 0.9s, 6s]` each time one is drawn at random.',
    ),
  }),
  stream: namedSpecs({
    stream: text({ required: true }, 'Hub method that makes a stream; each item is a delivery.'),
    arguments: args,
    items: count(
      { range: [1, 1_000_000], required: true },
      'How many items the method makes for one call, or how many are taken before the stream is cancelled.',
    ),
    itemSize: size(
      { range: [1, 16 * 1024 * 1024], default: 2048 },
      'Size of one item, for the estimate.',
    ),
    every: duration(
      { range: [0, 86_400_000], default: 0, unitMistake: unitMistakeBelow(100, 's') },
      'Time from one item to the next, as the hub makes them by itself: each item is due so much later than the one before, and its latency counts from there. It is 0 where the hub is faster, and grows from item to item where it is slower.',
    ),
    cancel: flag(
      { default: false },
      'Cancels the stream when its items have come, and the session goes on: for streams that do not end by themselves. What still comes of it counts as extra.',
    ),
    within,
  }),
  on: namedSpecs({
    on: text(
      { required: true },
      'Client method: waits until the hub calls it. What has come since the call before this step counts too.',
    ),
    within: {
      ...within,
      minimum: 0,
      summary: `${within.summary} 0 waits for nothing: all that come to senders are counted, and none is expected.`,
    },
    keep: { ...keep, summary: keep.summary.replace('the answer', 'its arguments') },
    perSession: number(
      { range: [0, 1_000_000], optional: true },
      'With within: 0, for the estimate: how often it comes to a sender in one session, in the mean; 0 for what comes once to each connection. Without it the estimate leaves it out and says so.',
    ),
    eventSize: size(
      { range: [1, 16 * 1024 * 1024], optional: true },
      'Size of its arguments, for the estimate.',
    ),
  }),
  choose: namedSpecs({
    choose: entries(
      {
        required: true,
        most: mostSteps,
        example: '{ weight: 3, steps: […] }',
        keys: namedSpecs({
          weight: number(
            { range: [0.001, 1_000_000], default: 1 },
            'How often this way is taken, against the weights of the others.',
          ),
          steps: stepList({ required: true }, 'Steps of this way.'),
        }),
      },
      'Takes one of several ways, at random by their weights.',
    ),
  }),
  if: namedSpecs({
    if: text({ required: true }, 'Name of a kept value.'),
    equals: value(
      { optional: true },
      'The value that it must have. Without this key any does that is there and neither empty, false, 0 nor null.',
    ),
    steps: stepList({ required: true }, 'Steps where it does.'),
    else: stepList({ optional: true }, 'Steps where it does not.'),
  }),
} as const satisfies Readonly<Record<string, readonly KeySpec[]>>;

export type StepKind = keyof typeof stepKeys;

export const stepKinds = Object.keys(stepKeys) as StepKind[];

/** For a step with these keys; of an empty one the keys that say what it is. */
export function keysOfStep(written: readonly string[]): readonly KeySpec[] {
  const kind = stepKinds.find((name) => written.includes(name));
  return kind === undefined ? stepKinds.map((name) => stepKeys[name][0]!) : stepKeys[kind];
}

export const allStepKeys: readonly KeySpec[] = [
  ...new Map(
    stepKinds.flatMap((kind): (readonly [string, KeySpec])[] =>
      stepKeys[kind].map((spec) => [spec.name, spec]),
    ),
  ).values(),
];
