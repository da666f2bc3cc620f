import type { TargetKind } from './targetKind';

/** The embedded hub, or the emulator of the scenario's service. */
export const localKind: TargetKind<{ readonly kind: 'local' }> = {
  kind: 'local',
  behind: 'ownServer',
  matches: (text) => (text.toLowerCase() === 'local' ? { kind: 'local' } : undefined),
  pattern: '^(?:[lL][oO][cC][aA][lL])$',
  offers: [['local', 'the embedded hub']],
};
