import assert from 'node:assert/strict';
import { brief, messageOf, testProblems, withConfig, scenarioOf } from '../parsed';
import { estimate } from '../../../../src/capacity/estimate';
import type { Estimate } from '../../../../src/capacity/model';
import { loadOf } from '../../../../src/capacity/load/loadOf';
import { unitVerdict } from '../../../../src/capacity/judge/unitVerdict';
import { parseScenario } from '../../../../src/scenario/parseScenario';
import type { Scenario } from '../../../../src/scenario/scenario';
import { serverConnectionsOf } from '../../../../src/scenario/check/checkService';
import { messages, scenarioWith } from '../../capacity/scenarios';

describe('a service', () => {
  const mix = 'scenarios: [{ name: echo }, { name: restBroadcast }]';
  const full = 'unit: 1 // connections: 996 // appServers: 1 // serverConnections: 5';
  testProblems(`
    the name of a hub | service: signalr // hub: chat_app.Hub | | none
    a long name | service: webpubsub // hub: ${'h'.repeat(128)} | | none
    a longer name | service: signalr // hub: ${'h'.repeat(129)} | | error hub-name "${'h'.repeat(129)}"
    a sign | service: signalr // hub: my-hub | | error hub-name "my-hub"
    a digit | service: webpubsub // hub: 1hub | | error hub-name "1hub"
    any name without a service | hub: my-hub | | none
    a ramp too fast | service: signalr // unit: 10 // connections: 1000 // arrivingRate: 401 | | info connect-rate "401" | ^Unit 10 may refuse more than 400 new connections per second .* maintainer
    a ramp | service: webpubsub // unit: 10 // arrivingRate: 400 | | none
    a ramp of Unit 20 | service: webpubsub // unit: 20 // arrivingRate: 600 | | none
    too fast for Unit 20 | service: webpubsub // unit: 20 // arrivingRate: 601 | | info connect-rate "601"
    a ramp of Unit 50 | service: webpubsub // unit: 50 // arrivingRate: 2000 | | none
    too fast for Unit 50 | service: webpubsub // unit: 50 // arrivingRate: 2001 | | info connect-rate "2001"
    a ramp of Unit 100 | service: webpubsub // unit: 100 // arrivingRate: 8000 | | none
    too fast for Unit 100 | service: webpubsub // unit: 100 // arrivingRate: 8001 | | info connect-rate "8001"
    too fast for the Free tier | service: signalr // sku: free // connections: 10 // arrivingRate: 21 | | info connect-rate "21"
    a ramp without a size | service: signalr // arrivingRate: 9000 | | none
    a ramp without a service | unit: 1 // arrivingRate: 9000 | | none
    REST beside a hub | service: signalr | ${mix} | error service-mode "restBroadcast" | ^A hub is in default or serverless mode: restBroadcast and echo mix only with .upstream.
    both with an upstream | service: signalr // upstream: {} | ${mix} | none
    both on Web PubSub | service: webpubsub | ${mix} | none
    REST alone | service: signalr | scenarios: [{ name: restSendToUser }, { name: restBroadcast }] | none
    streams with an upstream | service: signalr // upstream: {} | scenario: { name: streamingEcho } | error upstream-use-case "streamingEcho"
    own calls with an upstream | service: signalr // upstream: {} | scenario: { name: invoke, parameters: { method: Mine, arguments: ["{text}"] } } | error upstream-use-case "invoke"
    bytes with an upstream | service: signalr // upstream: {} // protocol: messagepack | scenario: { name: echo } | error upstream-protocol "messagepack"
    REST with an upstream | service: signalr // upstream: {} // protocol: messagepack | scenario: { name: restBroadcast } | none
    too many server connections | service: signalr // ${full} | | warning server-connections "5" | ^996 clients and 5 server connections are more than the 1,000 connections of Unit 1
    enough room for them | service: signalr // unit: 1 // connections: 995 | | none
    none on Web PubSub | service: webpubsub // ${full} | | info no-effect "1" + info no-effect "5"
    none with an upstream | service: signalr // ${full} // upstream: {} | | info no-effect "1" + info no-effect "5"
    too many for the Free tier | service: signalr // sku: free // connections: 18 // arrivingRate: 10 | | warning server-connections "18"
    the lasting one of a worker | service: signalr // unit: 1 // connections: 1000 | scenario: { name: restPersistSendToUser } | warning server-connections "1000" | ^1,000 clients and 1 server connection are more than the 1,000 connections of Unit 1
    requests without one | service: signalr // unit: 1 // connections: 1000 | scenario: { name: restSendToUser } | none
    those of five workers | service: signalr // unit: 1 // connections: 996 // workers: 5 | scenario: { name: restPersistBroadcast } | warning server-connections "5"
    those of four workers | service: signalr // unit: 1 // connections: 996 // workers: 4 | scenario: { name: restPersistBroadcast } | none
  `);

  it('has app servers of the run in default mode only', () => {
    const keys = ['appServers: 2', 'serverConnections: 10', 'serverStickyMode: required'];
    const onService = (service: string, ...lines: string[]): string =>
      withConfig(`service: ${service}`, ...lines);
    assert.deepEqual(brief(onService('signalr', ...keys)), []);
    for (const [start, end, why] of [
      [withConfig(), '', 'with a hub without a service'],
      [onService('webpubsub'), '', 'with Azure Web PubSub'],
      [
        onService('signalr').replace('local', 'https://a.test/chat'),
        '',
        'where the target is the URL of your own app server',
      ],
      [onService('signalr', 'upstream: {}'), '', 'with `upstream`, which takes their place'],
      [
        onService('signalr'),
        'scenario: { name: restBroadcast }\n',
        'with use cases of the REST API, which need none',
      ],
    ] as const) {
      const written = (lines: readonly string[]): string =>
        start + lines.map((line) => `  ${line}\n`).join('') + end;
      const idle = keys.map((key) => `info no-effect "${key.replace(/.*: /, '')}"`);
      assert.deepEqual(brief(written(keys)), idle);
      const message = messageOf(written(keys.slice(2)), 'no-effect');
      assert.ok(message.endsWith(`: serverStickyMode has no effect ${why}.`), message);
    }
  });
});

describe('subprotocol, transport and hub protocol', () => {
  const toGroups = 'scenario: { name: sendToGroup, parameters: { groupCount: 2 } }';
  const replay = 'scenario: { name: replay, parameters: { recording: a.recording.jsonl } }';
  testProblems(`
    a reliable one | service: webpubsub // subprotocol: reliableJson | ${toGroups} | none
    one without a service | subprotocol: none | | error subprotocol-service "none"
    one of Azure SignalR | service: signalr // subprotocol: none | | error subprotocol-service "none"
    none to echo | service: webpubsub // subprotocol: none | | none
    none to groups | service: webpubsub // subprotocol: none | ${toGroups} | error subprotocol-use-case "none"
    a replay in JSON | service: webpubsub // subprotocol: reliableJson | ${replay} | none
    a replay without one | service: webpubsub // subprotocol: none | ${replay} | error subprotocol-use-case "none"
    a replay in protobuf | service: webpubsub // subprotocol: reliableProtobuf | ${replay} | error subprotocol-use-case "reliableProtobuf"
    acks of all messages | service: webpubsub // subprotocol: reliableProtobuf // acks: all | | none
    acks of Azure SignalR | service: signalr // acks: all | | error acks-service "all"
    acks without a subprotocol | service: webpubsub // subprotocol: none // acks: all | | error acks-subprotocol "all"
    long polling to Web PubSub | transport: LongPolling // service: webpubsub | | error transport-service "LongPolling"
    server-sent events to Web PubSub | transport: ServerSentEvents // service: webpubsub | | error transport-service "ServerSentEvents"
    messagepack to Web PubSub | protocol: messagepack // service: webpubsub | | error protocol-service "messagepack"
    WebSockets to Web PubSub | transport: Websockets // service: webpubsub | | none
    long polling to SignalR | transport: LongPolling // service: signalr | | none
    messagepack to SignalR | protocol: messagepack // service: signalr | | none
  `);

  it('have defaults', () => {
    const { subprotocol, acks } = scenarioOf(withConfig('service: webpubsub'));
    assert.deepEqual([subprotocol, acks], ['json', 'first']);
  });
});

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
