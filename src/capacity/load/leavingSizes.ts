import { callbacks } from '../../base/message';
import { services } from '../../base/serviceTraits';
import type { Scenario, ScenarioEntry } from '../../scenario/scenario';
import { groupParameters } from '../../usecases/parameters';
import type { LeavingSize, PayloadSize } from '../../usecases/payloadSizes';
import { findUseCase } from '../../usecases/registry';
import { hubRunOf, type HubRun, type OwnCall } from '../../usecases/useCase';
import { hubForms, jsonBytes, pubSubDelivery, type Content, type HubForm } from './messageForms';

type Spoken = Pick<
  Scenario,
  'service' | 'protocol' | 'subprotocol' | 'dialect' | 'upstream' | 'entries'
>;

/** Bytes of what changes from message to message: the stamp, ids of connections, of streams, times. */
const stampBytes = 54;
const connectionIdBytes = 22;
const streamIdBytes = 9;
const unixMs: Content = { kind: 'number', digits: 13, packed: 9 };
const ticks: Content = { kind: 'number', digits: 18, packed: 9 };
/** Run ids in names of groups and users: up to eight hexadecimal digits. */
const runIdBytes = 8;

const text = (bytes: number): Content => ({ kind: 'text', bytes });

/**
 * How many bytes each payload of an entry is when it leaves the service: with the hub message around it, and
 * on its way to an app server with the service's message around that. Frames of WebSockets (2 to 10 bytes)
 * and heads of HTTP are left out. Exact for the bench contract, but for ids and names whose length only the
 * run knows; an answer of the user's own method is taken to be as long as its arguments.
 */
export function leavingSizes(
  scenario: Spoken,
  entry: ScenarioEntry,
  sizes: readonly PayloadSize[],
): readonly LeavingSize[] {
  const useCase = findUseCase(entry.name);
  if (useCase === undefined) return [];
  const run = hubRunOf(useCase, entry.parameters);
  const words: Words = {
    run,
    measures: scenario.dialect === 'measure' && run.message?.measureMethod !== undefined,
    binary: entry.parameters['payload'] === 'binary',
    receiver: receiverBytes(scenario, entry, useCase.name, run),
  };
  const legs = services[scenario.service].speaksHub ? hubLegs : pubSubLegs;
  return sizes.map((size) => ({ ...size, ...legs(scenario, words, size.bytes) }));
}

/** The same of one call of a session; its answer is taken to be as long as its arguments. */
export function leavingCall(scenario: Spoken, ownCall: OwnCall, size: PayloadSize): LeavingSize {
  const words: Words = {
    run: { preparation: 'nothing', audience: 'self', ownCall },
    ...{ measures: false, binary: false, receiver: connectionIdBytes },
  };
  return { ...size, ...hubLegs(scenario, words, size.bytes) };
}

interface Words {
  readonly run: HubRun;
  readonly measures: boolean;
  readonly binary: boolean;
  readonly receiver: number;
}

type Legs = Pick<LeavingSize, 'toClient' | 'toApplication'>;

function receiverBytes(
  { entries }: Spoken,
  { parameters }: ScenarioEntry,
  useCase: string,
  { audience }: HubRun,
): number {
  if (audience !== 'group') return connectionIdBytes;
  const groupCount = parameters[groupParameters[0]!.name];
  const place = entries.length > 1 ? 2 : 0;
  const digits = String(Math.max(0, Number(groupCount) - 1)).length;
  return useCase.length + 1 + runIdBytes + 1 + place + digits;
}

function hubLegs({ protocol, upstream }: Spoken, words: Words, payload: number): Legs {
  const form = hubForms[protocol];
  const { toClient, fromClient } = hubMessages(form, words, payload);
  const toApplication =
    upstream === undefined
      ? form.connectionData(connectionIdBytes, fromClient)
      : fromClient - form.endBytes(fromClient);
  return { toClient, toApplication };
}

function hubMessages(
  form: HubForm,
  words: Words,
  payload: number,
): { readonly toClient: number; readonly fromClient: number } {
  const { run, measures } = words;
  const { streams, ownCall, message } = run;
  if (streams !== undefined) {
    const up = streams.own === undefined ? dictionary(words, payload) : own(payload);
    const numbered = streams.own === undefined && streams.direction === 'download';
    const down = numbered ? dictionary(words, payload, true) : up;
    return {
      toClient: form.item(streamIdBytes, down),
      fromClient: form.item(streamIdBytes, up),
    };
  }
  if (ownCall !== undefined) {
    const args = own(payload);
    const answered = ownCall.reply === 'completion';
    return {
      toClient: answered
        ? form.completion(stampBytes, args)
        : form.invocation(ownCall.callback ?? ownCall.method, args),
      fromClient: form.invocation(ownCall.method, args, answered ? stampBytes : undefined),
    };
  }
  if (message === undefined) return { toClient: payload, fromClient: payload };
  const receiver = message.receiverKey === undefined ? [] : [text(words.receiver)];
  if (measures) {
    const measured = [ticks, text(payload)];
    return {
      toClient: form.invocation(callbacks.measure, { kind: 'list', items: measured }),
      fromClient: form.invocation(message.measureMethod!, {
        kind: 'list',
        items: [...receiver, ...measured],
      }),
    };
  }
  const args: Content = { kind: 'list', items: [dictionary(words, payload)] };
  return {
    toClient: form.invocation(callbacks.recordLatency, args),
    fromClient: form.invocation(message.method, args),
  };
}

const own = (bytes: number): Content => ({ kind: 'written', bytes });

/** The dictionary that the hub hands on as it came; items that a hub makes are numbered. */
function dictionary({ run, receiver, binary }: Words, payload: number, numbered = false): Content {
  const receiverKey = run.message?.receiverKey;
  return {
    kind: 'map',
    members: [
      ...(numbered ? ([['bench.Item', text(8)]] as const) : []),
      ['bench.Stamp', text(stampBytes)],
      ...(receiverKey === undefined ? [] : ([[receiverKey, text(receiver)]] as const)),
      ['payload.Timestamp', unixMs],
      ['payload.MessageBlob', binary ? { kind: 'bytes', bytes: payload } : text(payload)],
    ],
  };
}

/** Azure Web PubSub: the dictionary as JSON, in the subprotocol's message or, to a handler, bare. */
function pubSubLegs({ subprotocol }: Spoken, words: Words, payload: number): Legs {
  const data = jsonBytes(dictionary(words, payload));
  const { audience, via } = words.run;
  // Clients that publish to a group themselves are named, callers of the REST API are not.
  const isGroup = audience === 'group';
  const user = isGroup && via === undefined ? 'user_'.length + runIdBytes + 1 + 4 : undefined;
  const group = isGroup ? words.receiver : undefined;
  return { toClient: pubSubDelivery(subprotocol, { data, group, user }), toApplication: data };
}
