import { maxPayloadBytes } from '../base/message';

/** A key of a scenario file. Parser, JSON schema, completion, hover and documentation are derived from it. */
export interface ParameterSpec {
  readonly name: string;
  /**
   * Units of parsed values: `size` bytes, `duration` milliseconds, `share` 0…1, `rate` per second. `list` and `steps`
   * are kept as JSON text.
   */
  readonly type:
    | 'size'
    | 'duration'
    | 'share'
    | 'rate'
    | 'count'
    | 'number'
    | 'choice'
    | 'text'
    | 'flag'
    | 'list'
    | 'steps';
  readonly default?: number | string | boolean;
  readonly required?: boolean;
  /** Neither required nor with a default. */
  readonly optional?: boolean;
  /** Bounds of the parsed value, both included. */
  readonly minimum?: number;
  readonly maximum?: number;
  /** A bare number in this range was probably meant in `unit`. */
  readonly unitMistake?: {
    readonly from: number;
    readonly below: number;
    readonly unit: string;
  };
  readonly beside?: true;
  readonly choices?: readonly string[];
  readonly summary: string;
  /** What the Azure SignalR benchmark did differently. */
  readonly seedNote?: string;
}

/**
 * Builder of descriptions of one type: facts (bounds as `range`), help text, note on the Azure SignalR benchmark.
 * Unknown facts do not compile.
 */
export const specBuilder =
  <Spec>() =>
  <const Type extends string>(type: Type) =>
  <const Facts>(
    facts: Facts & { readonly range?: readonly [minimum: number, maximum: number] } & {
      readonly [Name in Exclude<keyof Facts, keyof Spec | 'range'>]: never;
    },
    summary: string,
    seedNote?: string,
  ): Omit<Facts, 'range'> & { readonly type: Type; readonly summary: string } => {
    const { range, ...others } = facts;
    const bounds = range && { minimum: range[0], maximum: range[1] };
    return { type, ...others, ...bounds, summary, ...(seedNote !== undefined && { seedNote }) };
  };

/** Warns of bare numbers from `from` up to `below`. */
export const unitMistakeBelow = (below: number, unit: string, from = 1) =>
  ({ from, below, unit }) as const;

export const namedSpecs = <Name extends string, Spec extends object>(
  specs: Readonly<Record<Name, Spec>>,
): readonly (Spec & { readonly name: Name })[] =>
  Object.entries<Spec>(specs).map(([name, spec]) => ({ ...spec, name: name as Name }));

const keyOf = specBuilder<ParameterSpec>();
export const [size, share] = [keyOf('size'), keyOf('share')];
export const [duration, count, number] = [keyOf('duration'), keyOf('count'), keyOf('number')];
export const [choice, text, list] = [keyOf('choice'), keyOf('text'), keyOf('list')];
export const stepList = keyOf('steps');

/** Parsed parameters, in the units of {@link ParameterSpec.type}. */
export type Parameters = Readonly<Record<string, number | string | boolean>>;

/** @throws if the parser has not set it, which is a defect of ours */
export function numberParameter(parameters: Parameters, name: string): number {
  const value = parameters[name];
  if (typeof value !== 'number') throw new Error(`parameter ${name} is not a number`);
  return value;
}

/** Between two messages or sessions of a sender, milliseconds; 0 where nothing is sent. */
export const intervalMsOf = ({ sendingInterval, sessionInterval = 0 }: Parameters): number =>
  Number(sendingInterval ?? sessionInterval);

/** For everything sent repeatedly, beside `sendingInterval`. */
export const intervalParameters: readonly ParameterSpec[] = namedSpecs({
  intervalDistribution: choice(
    { optional: true, choices: ['uniform', 'exponential', 'lognormal'] },
    'Draws the time between two messages of a sender, its think time, from a distribution whose mean is `sendingInterval`. Without it the time is always the same.',
  ),
  intervalSpread: share(
    { range: [0.01, 1], optional: true },
    'How far drawn intervals lie apart, 50% where nothing is written: for `uniform` so far to either side of `sendingInterval`; for `lognormal` the standard deviation by the mean. Alone it means `uniform`.',
  ),
});

export const messageParameters: readonly ParameterSpec[] = [
  ...namedSpecs({
    messageSize: size(
      { range: [1, maxPayloadBytes], default: 2048, unitMistake: unitMistakeBelow(10, 'KB') },
      'Payload of one message; the whole hub message is larger by its envelope.',
      'The Azure SignalR benchmark counted characters of the payload, which are bytes here too.',
    ),
    sendingInterval: duration(
      { range: [1, 86_400_000], default: 1000, unitMistake: unitMistakeBelow(10, 's') },
      'Time between two messages of one sender.',
      'The Azure SignalR benchmark waited this long after each completed send, so slow sends lowered the rate.',
    ),
    messageSizes: text(
      { optional: true },
      'Payloads of different sizes instead of `messageSize`: a range (`1KB-4KB`: 16 sizes evenly spread over it, each as likely), or sizes with weights (`256B 90%, 16KB 10%`). The estimate counts each size.',
    ),
    payload: choice(
      { optional: true, choices: ['random', 'text', 'binary'] },
      'Content of payloads: `random` letters, as without this key, `text` that compresses, or `binary`: sent as bytes, which needs protocol messagepack.',
    ),
    payloadFile: text(
      { optional: true, beside: true },
      'Text file whose content payloads are made of, cut or repeated to their size; relative to the scenario file.',
    ),
  }),
  ...intervalParameters,
];

export const targetsParameter: ParameterSpec = {
  name: 'targets',
  ...choice(
    { default: 'fixed', choices: ['fixed', 'random'] },
    'Who receives: `fixed` gives each sender one other connection or user for the whole run, and has it send to groups of its own; `random` picks one of all for each message.',
    'The Azure SignalR benchmark shuffled anew at each step, and a connection could be its own target; by REST it always was.',
  ),
};

export const groupParameters: readonly ParameterSpec[] = namedSpecs({
  groupCount: count(
    { range: [1, 10_000_000], required: true },
    'Number of groups; connection i joins group i mod groupCount.',
    'The Azure SignalR benchmark failed at leaving when the groups did not divide the connections.',
  ),
  groupsPerConnection: count(
    { range: [1, 1000], default: 1 },
    'Groups each connection joins: its own and the ones that follow it.',
    'The Azure SignalR benchmark let connections join several groups only when there were more groups than connections.',
  ),
  sendersPer: choice(
    { default: 'connection', choices: ['connection', 'group'] },
    'How senders are chosen: `connection` spreads them over all connections at random, `group` deals them over the groups in turn.',
    'In simple mode the Azure SignalR benchmark always chose by connection.',
  ),
});

/**
 * Connection i joins `groupsPerConnection` groups from group i mod groupCount on, so sizes differ when the groups do
 * not divide the connections.
 */
export function largestGroup(parameters: Parameters, connections: number): number {
  const groupCount = numberParameter(parameters, 'groupCount');
  const perConnection = Math.min(numberParameter(parameters, 'groupsPerConnection'), groupCount);
  return (
    perConnection * Math.floor(connections / groupCount) +
    Math.min(connections % groupCount, perConnection)
  );
}
