/** Configuration of the bus of one run: who may say what on it. */
import { inboxOf, streamOf, subjectsOf } from '../messages';

export const busPort = 4222;
export const leadUser = 'lead';
/** Fifty agents report about 2 GB in an hour. */
export const mostStoredGb = 8;
export const agentUser = 'agent';

export interface BusKeys {
  readonly lead: string;
  readonly agent: string;
}

/** In the language of `nats-server --config`; keys are made by us and hold letters and digits. */
export function busConfig(run: string, keys: BusKeys, folder: string): string {
  const { join, clock, alive, beats, log, members, lead, facts, given } = subjectsOf(run);
  const stream = streamOf(log);
  const publish = [
    ...[join, clock, `${beats}.*`, `${members}.*`, `${facts}.*`],
    // Reads an order by its number, and nothing else: readers of a stream may be made to write what they read anywhere.
    ...['$JS.API.INFO', `$JS.API.DIRECT.GET.${stream}.${lead}.*`],
  ];
  const list = (subjects: readonly string[]): string => JSON.stringify(subjects);
  return `port: ${busPort}
max_payload: 1MB
jetstream { store_dir: ${JSON.stringify(folder)}, max_file_store: ${mostStoredGb}GB }
authorization {
  users: [
    { user: ${leadUser}, password: ${JSON.stringify(keys.lead)} }
    {
      user: ${agentUser}, password: ${JSON.stringify(keys.agent)}
      permissions {
        publish: { allow: ${list(publish)} }
        subscribe: { allow: ${list([`${inboxOf(agentUser)}.>`, alive, `${given}.*`])} }
      }
    }
  ]
}
`;
}
