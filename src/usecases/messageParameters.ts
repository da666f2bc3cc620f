import { largestPayloadBytes } from '../base/stampBytes';
import type { ParameterSpec } from './parameterSpec';

/** Parameters that every sending use case has. */
export const messageParameters: readonly ParameterSpec[] = [
  {
    name: 'messageSize',
    type: 'size',
    default: 2048,
    minimum: 1,
    maximum: largestPayloadBytes,
    unitMistake: { from: 1, below: 10, unit: 'KB' },
    summary: 'Payload of one message; the whole hub message is larger by its envelope.',
    seedNote:
      'The Azure SignalR benchmark counted characters of the payload, which are bytes here too.',
  },
  {
    name: 'sendingInterval',
    type: 'duration',
    default: 1000,
    minimum: 1,
    maximum: 86_400_000,
    unitMistake: { from: 1, below: 10, unit: 's' },
    summary: 'Time between two messages of one sender.',
    seedNote:
      'The Azure SignalR benchmark waited this long after each completed send, so slow sends lowered the rate.',
  },
  {
    name: 'messageSizes',
    type: 'text',
    optional: true,
    summary:
      'Payloads of different sizes instead of `messageSize`: a range (`1KB-4KB`: 16 sizes evenly spread over it, each as likely), or sizes with weights (`256B 90%, 16KB 10%`). The estimate counts each size.',
  },
  {
    name: 'payload',
    type: 'choice',
    optional: true,
    choices: ['random', 'text', 'binary'],
    summary:
      'Content of payloads: `random` letters, as without this key, `text` that compresses, or `binary`: sent as bytes, which needs protocol messagepack.',
  },
  {
    name: 'payloadFile',
    type: 'text',
    optional: true,
    summary:
      'Text file whose content payloads are made of, cut or repeated to their size; relative to the scenario file.',
  },
];

/** How receivers are chosen where a message goes to one other connection or user, or to a group. */
export const targets: ParameterSpec = {
  name: 'targets',
  type: 'choice',
  default: 'fixed',
  choices: ['fixed', 'random'],
  summary:
    'Who receives: `fixed` gives each sender one other connection or user for the whole run, and has it send to groups of its own; `random` picks one of all for each message.',
  seedNote:
    'The Azure SignalR benchmark shuffled anew at each step, and a connection could be its own target; by REST it always was.',
};
