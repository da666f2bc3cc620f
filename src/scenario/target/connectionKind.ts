import { isOneReference, looksLikeConnectionString } from './connectionString';
import type { TargetKind } from './targetKind';

/** Azure SignalR Service or Azure Web PubSub, by connection string; the value may be a reference. */
export interface ConnectionSpec {
  readonly kind: 'connectionString';
  readonly value: string;
}

export const connectionKind: TargetKind<ConnectionSpec> = {
  kind: 'connectionString',
  behind: 'service',
  matches: (text, { preferConnectionString }) =>
    looksLikeConnectionString(text) ||
    (isOneReference(text) && (preferConnectionString || /conn/i.test(text)))
      ? { kind: 'connectionString', value: text }
      : undefined,
  pattern: '(^|;)\\s*[eE][nN][dD][pP][oO][iI][nN][tT]\\s*=',
  connectionString: ({ value }) => value,
  withTexts: (spec, change) => ({ ...spec, value: change(spec.value) }),
};
