import assert from 'node:assert/strict';
import { estimate } from '../../../../src/capacity/estimate';
import type { Estimate } from '../../../../src/capacity/model';
import { loadOf } from '../../../../src/capacity/load/loadOf';
import { unitVerdict } from '../../../../src/capacity/judge/unitVerdict';
import { parseScenario } from '../../../../src/scenario/parseScenario';
import type { Scenario } from '../../../../src/scenario/scenario';
import { serverConnectionsOf } from '../../../../src/scenario/check/checkService';
import { messages, scenarioWith } from '../../capacity/scenarios';

const rest = (name: string): Pick<Scenario, 'entries'> => ({
  entries: [{ name, parameters: messages }],
});

describe('serverConnectionsOf', () => {
  it('counts those that the run opens', () => {
    const count = (changes: Partial<Scenario>): number | undefined =>
      serverConnectionsOf(scenarioWith(changes));
    assert.equal(count({ appServers: 2, serverConnections: 15 }), 30);
    assert.equal(count({ upstream: { port: 0 } }), 0);
    assert.equal(count(rest('restSendToUser')), 0);
    assert.equal(count({ ...rest('restPersistSendToUser'), workers: 3 }), 3);
    assert.equal(count({ service: 'webpubsub' }), 0);
    assert.equal(count({ service: 'hub' }), undefined);
    const target = { kind: 'hubUrl', urls: ['https://example.com/hub'] } as const;
    assert.equal(count({ target }), undefined, 'app servers of the user');
  });

  const text = (connections: number, more = ''): string =>
    `config:\n  service: signalr\n  unit: 1\n  connections: ${connections}\n  baseSending: 10\n  sendingSteps: 1\n${more}scenario:\n  name: echo\n`;

  const estimated = (scenario: Scenario): Estimate => {
    const load = loadOf(scenario);
    assert.ok('input' in load);
    return estimate(load.input);
  };

  it('is one figure in checks, estimate, notes and verdict', () => {
    const { scenario, problems } = parseScenario(text(998, '  serverConnections: 3\n'));
    const [problem] = problems.filter(({ code }) => code === 'server-connections');
    const said =
      '998 clients and 3 server connections are more than the 1,000 connections of Unit 1';
    assert.ok(problem!.message.startsWith(said), problem!.message);
    const found = estimated(scenario!);
    const { server_connections: servers, server_connections_by: by } = found;
    assert.deepEqual([found.unit, servers, by], [1, 3, 'run']);
    assert.equal(found.unit_with_server_connections, 2);
    const note = found.notes.filter((each) => each.startsWith(said));
    assert.deepEqual(note, [`${said}: server connections count too. Unit 2 has room for both.`]);
    const verdict = unitVerdict(found, scenario!);
    assert.deepEqual([verdict?.exceeded, verdict?.sentence], [true, note[0]]);
    // The advice of the guide stands on the same screen.
    const { app_servers: count, server_connections_per_app_server: each } = found;
    const advised = String(count! * each!);
    assert.ok(
      found.notes.includes(
        `A run opens 3 server connections; the guide advises ${advised} in all.`,
      ),
      found.notes.join('\n'),
    );
  });

  it('leaves room where there is', () => {
    const { scenario, problems } = parseScenario(text(995));
    assert.ok(problems.every(({ code }) => code !== 'server-connections'));
    const found = estimated(scenario!);
    assert.deepEqual([found.unit, found.unit_with_server_connections], [1, 1]);
    assert.equal(unitVerdict(found, scenario!)?.exceeded, false);
  });

  it('takes those that the guide advises where the app servers are not ours', () => {
    const { scenario } = parseScenario(text(1000).replace('signalr', 'hub'));
    const found = estimated(scenario!);
    const { server_connections: servers, server_connections_by: by } = found;
    assert.deepEqual([servers, by, found.unit_with_server_connections], [30, 'guide', 2]);
    assert.ok(
      found.notes.some((each) => each.startsWith('1,000 clients and 30 server connections')),
    );
    assert.equal(unitVerdict(found, scenario!)?.exceeded, false, 'as in the published tables');
  });

  it('says of the Free tier what a paid one takes', () => {
    const free = text(18).replace('unit: 1', 'sku: free');
    const { scenario } = parseScenario(free);
    assert.equal(
      unitVerdict(estimated(scenario!), scenario!)?.sentence,
      '18 clients and 5 server connections are more than the 20 connections of the Free tier: server connections count too. Unit 1 of a paid tier has room for both.',
    );
  });
});
