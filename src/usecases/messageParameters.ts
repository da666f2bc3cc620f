import type { ParameterSpec } from './parameterSpec';

/** Parameters that every sending use case has. */
export const messageParameters: readonly ParameterSpec[] = [
  {
    name: 'messageSize',
    type: 'size',
    default: 2048,
    minimum: 1,
    maximum: 16 * 1024 * 1024,
    unitMistake: { from: 1, below: 10, unit: 'KB' },
    summary: 'Payload of one message; the whole hub message is larger by its envelope.',
    seedNote: 'The seed tool counted characters of the payload, which are bytes here too.',
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
      'The seed tool waited this long after each completed send, so slow sends lowered the rate.',
  },
];
