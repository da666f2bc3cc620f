import type { ClusterRun } from '../../../../src/agents/kubernetes/manifest';

export const sampleClusterRun: ClusterRun = {
  ...{ run: 'r1', agents: 3, plannedS: 100, image: 'node', busImage: 'nats' },
  scenarioName: 's.yaml',
  files: { 's.yaml': 'target: ${env:KEY}', 'data/a.json': '[1]' },
  flags: ['--set', 'config.repeat=2'],
  bundle: { 'cli.js': Buffer.from('code') },
  secrets: { KEY: 'very secret' },
  environment: ['KEY', 'OF_MINE'],
  ownSecret: 'mine',
  keys: { lead: 'lead key', agent: 'agent key' },
};
