import { duration, listOf, number, text, type ParameterSpec } from '../parameters';
import type { UseCase } from '../useCase';

export const slowestReplay = 0.01;
export const fastestReplay = 1000;

const own: readonly ParameterSpec[] = listOf({
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
  parameters: own,
  starting: { recording: 'chat.recording.jsonl', speed: '1' },
  // Known only once the recording is read.
  traffic: () => undefined,
  run: { preparation: 'nothing', audience: 'self' },
  runWith: ({ steps = '[]' }) => ({
    ...{ preparation: 'nothing', audience: 'self' },
    session: { steps: String(steps), joins: false, replays: true },
  }),
};
