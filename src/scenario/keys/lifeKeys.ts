import type { KeySpec } from './keySpec';
import { reconnectPolicies } from '../scenario';

/** How connections come and go after they were opened. */
export const lifeKeys: readonly KeySpec[] = [
  {
    name: 'repair',
    type: 'flag',
    defaultText: 'true when the file says `kind: perf`, else false',
    summary:
      'Opens connections that were dropped, or could not be opened, again, and joins their groups; dropped ones count as dropped all the same.',
    seedNote:
      'The Azure SignalR benchmark repaired once a second with kind: perf; senders did not learn the ids of repaired connections.',
  },
  {
    name: 'reconnectPolicy',
    type: 'choice',
    default: 'fixed',
    choices: reconnectPolicies,
    summary:
      'When a dropped connection is opened again: `atOnce`, after a `fixed` reconnectDelay, `exponential` (doubled each time up to 30 s, with jitter), or as the official clients do by default (`signalr`: 0, 2, 10, 30 s).',
  },
  {
    name: 'reconnectDelay',
    type: 'duration',
    default: 1000,
    minimum: 0,
    maximum: 600_000,
    unitMistake: { from: 1, below: 10, unit: 's' },
    summary: 'Pause before a dropped connection is opened again; see reconnectPolicy.',
  },
  {
    name: 'lifetime',
    type: 'duration',
    minimum: 100,
    maximum: 604_800_000,
    unitMistake: { from: 100, below: 1000, unit: 's' },
    defaultText: 'connections stay',
    summary:
      'Mean life of a connection: each is closed after a random time up to twice this and opened again, at most arrivingRate a second.',
  },
  {
    name: 'dropAllAfter',
    type: 'duration',
    // They stop taking part a second before, which must not reach into the warm-up.
    minimum: 2000,
    maximum: 604_800_000,
    unitMistake: { from: 1, below: 100, unit: 's' },
    defaultText: 'never',
    summary:
      'Drops all connections at once, this long after the measured time of each step began; they come back by reconnectPolicy, and the time to recovery is measured.',
  },
];
