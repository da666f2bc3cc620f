import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { skipAloud } from '../fakes/skipAloud';
import { startDotnetServer, type AspNetServer } from './aspnetServer';

const assembly = join('out', 'interop', 'classicServer', 'classicServer.dll');

/** The official server of ASP.NET SignalR, for `before` of a suite; skips it where the server is not built. */
export function startClassicServer(context: Mocha.Context): Promise<AspNetServer> {
  if (!existsSync(assembly))
    skipAloud(context, 'the server of ASP.NET SignalR is not built: node scripts/buildInterop.mjs');
  return startDotnetServer([assembly]);
}
