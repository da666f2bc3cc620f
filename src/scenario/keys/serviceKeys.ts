import type { KeySpec } from './keySpec';
import { stickyModes } from '../scenario';

/** What the benchmark hosts for a service. */
export const serviceKeys: readonly KeySpec[] = [
  {
    name: 'appServers',
    type: 'count',
    default: 1,
    minimum: 1,
    maximum: 100,
    summary: 'Internal app servers, for a service in default mode.',
  },
  {
    name: 'serverConnections',
    type: 'count',
    default: 5,
    minimum: 1,
    maximum: 1000,
    summary: 'Connections of each internal app server to the service.',
  },
  {
    name: 'serverStickyMode',
    type: 'choice',
    choices: stickyModes,
    defaultText: 'disabled',
    summary:
      'Whether a client of a service in default mode is served by the app server it has negotiated with: `disabled`, by any; `preferred`, by that one while it is connected; `required`, by no other.',
  },
  {
    name: 'upstream',
    type: 'section',
    summary: 'Handler hosted by the benchmark for the calls of the service.',
    keys: [
      {
        name: 'port',
        type: 'count',
        default: 0,
        minimum: 0,
        maximum: 65_535,
        summary:
          'Local port of the handler; 0 takes a free one, which does where the service runs on this machine.',
      },
      {
        name: 'publicUrl',
        type: 'text',
        references: true,
        summary:
          'URL under which the service reaches the handler; required unless the service runs on this machine.',
      },
    ],
  },
];
