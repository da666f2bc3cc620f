import type { ClusterCheck, Finding } from './check';

export const networkPolicyCheck: ClusterCheck = {
  name: 'network policy',
  isForDoctor: true,
  look: (): Promise<readonly Finding[]> =>
    Promise.resolve([
      {
        status: 'note',
        text: 'not known: a cluster does not say whether its network keeps policies. A run makes one, so that only its own pods reach its bus; elsewhere the key of the bus alone keeps others out.',
      },
    ]),
};
