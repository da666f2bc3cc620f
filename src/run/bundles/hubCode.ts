import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { HubDialect } from '../../base/message';

/**
 * C# for a hub that answers every use case of a dialect, of ASP.NET Core or of ASP.NET SignalR, which has no streams.
 * @param serverScript a bundle, beside whose folder the code lies
 */
export function hubCode(serverScript: string, dialect: HubDialect, classic = false): string {
  const name = `${classic ? 'classic.' : ''}${dialect}.cs`;
  return readFileSync(path.join(path.dirname(serverScript), '..', 'media', 'hub', name), 'utf8');
}
