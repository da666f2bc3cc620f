/** Configuration of the bus of one run: who may say what on it. */
import { streamOf, subjectsOf } from '../messages';

export const busPort = 4222;
export const leadUser = 'lead';
export const agentUser = 'agent';

export interface BusKeys {
  readonly lead: string;
  readonly agent: string;
}

/** In the language of `nats-server --config`; keys are made by us and hold letters and digits. */
export function busConfig(run: string, keys: BusKeys, folder: string): string {
  const { join, clock, alive, beats, log, members, lead, facts } = subjectsOf(run);
  const stream = streamOf(log);
  const publish = [
    ...[join, clock, `${beats}.*`, `${members}.*`, `${facts}.*`],
    // Looks at the stream and reads what the coordinator says there, nothing else.
    ...['$JS.API.INFO', `$JS.API.STREAM.INFO.${stream}`],
    `$JS.API.CONSUMER.CREATE.${stream}.*.${lead}`,
    ...[`$JS.API.CONSUMER.INFO.${stream}.*`, `$JS.API.CONSUMER.DELETE.${stream}.*`],
    `$JS.API.CONSUMER.MSG.NEXT.${stream}.*`,
  ];
  const list = (subjects: readonly string[]): string => JSON.stringify(subjects);
  return `port: ${busPort}
max_payload: 1MB
jetstream { store_dir: ${JSON.stringify(folder)} }
authorization {
  users: [
    { user: ${leadUser}, password: ${JSON.stringify(keys.lead)} }
    {
      user: ${agentUser}, password: ${JSON.stringify(keys.agent)}
      permissions {
        publish: { allow: ${list(publish)} }
        subscribe: { allow: ${list(['_INBOX.>', alive])} }
      }
    }
  ]
}
`;
}
