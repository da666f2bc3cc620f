import assert from 'node:assert/strict';
import { brief, fixed, problemOf, withConfig } from '../parsed';

const onService = (service: string, ...lines: string[]): string =>
  withConfig(`service: ${service}`, ...lines);

describe('a service', () => {
  it('has rules for names of hubs', () => {
    for (const service of ['signalr', 'webpubsub']) {
      assert.deepEqual(brief(onService(service, 'hub: my-hub')), ['error hub-name "my-hub"']);
      assert.deepEqual(brief(onService(service, 'hub: 1hub')), ['error hub-name "1hub"']);
      assert.deepEqual(brief(onService(service, `hub: ${'h'.repeat(128)}`)), []);
      assert.deepEqual(brief(onService(service, 'hub: chat_app.Hub')), []);
    }
    assert.equal(brief(onService('signalr', `hub: ${'h'.repeat(129)}`)).length, 1);
    assert.deepEqual(brief(withConfig('hub: my-hub')), []);
  });

  it('may refuse a ramp that is too fast, which is only a hint', () => {
    const steep = onService('signalr', 'unit: 10', 'connections: 1000', 'arrivingRate: 401');
    assert.deepEqual(brief(steep), ['info connect-rate "401"']);
    assert.match(
      problemOf(steep, 'connect-rate').message,
      /^Unit 10 may refuse more than 400 new connections per second .* maintainer/,
    );
    for (const [unit, rate] of [
      [10, 400],
      [20, 600],
      [50, 2000],
      [100, 8000],
    ]) {
      const at = (perSecond: number): string[] =>
        brief(onService('webpubsub', `unit: ${unit!}`, `arrivingRate: ${perSecond}`));
      assert.deepEqual(at(rate!), []);
      assert.deepEqual(at(rate! + 1), [`info connect-rate "${rate! + 1}"`]);
    }
    const free = onService('signalr', 'sku: free', 'connections: 10', 'arrivingRate: 21');
    assert.deepEqual(brief(free), ['info connect-rate "21"']);
    assert.deepEqual(brief(onService('signalr', 'arrivingRate: 9000')), []);
    assert.deepEqual(brief(withConfig('unit: 1', 'arrivingRate: 9000')), []);
  });

  it('has app servers of the run in default mode only', () => {
    const keys = ['appServers: 2', 'serverConnections: 10', 'serverStickyMode: required'];
    const rest = 'scenarios:\n  - name: restBroadcast\n';
    const ownServer = withConfig('service: signalr').replace('local', 'https://a.test/chat');
    assert.deepEqual(brief(onService('signalr', ...keys)), []);
    for (const [start, end, why] of [
      [withConfig(), '', 'with a hub without a service'],
      [onService('webpubsub'), '', 'with Azure Web PubSub'],
      [ownServer, '', 'where the target is the URL of your own app server'],
      [onService('signalr', 'upstream: {}'), '', 'with `upstream`, which takes their place'],
      [onService('signalr'), rest, 'with use cases of the REST API, which need none'],
    ] as const) {
      const written = (lines: readonly string[]): string =>
        start + lines.map((line) => `  ${line}\n`).join('') + end;
      const idle = keys.map((key) => `info no-effect "${key.replace(/.*: /, '')}"`);
      assert.deepEqual(brief(written(keys)), idle);
      const { message } = problemOf(written(keys.slice(2)), 'no-effect');
      assert.ok(message.endsWith(`: serverStickyMode has no effect ${why}.`), message);
    }
  });

  it('of REST and hub use cases together needs an upstream', () => {
    const mix = 'scenarios:\n  - name: echo\n  - name: restBroadcast\n';
    const text = onService('signalr') + mix;
    assert.deepEqual(brief(text), ['error service-mode "restBroadcast"']);
    assert.match(
      problemOf(text, 'service-mode').message,
      /^A hub is in default or serverless mode: restBroadcast and echo mix only with `upstream`/,
    );
    assert.deepEqual(brief(onService('signalr', 'upstream: {}') + mix), []);
    assert.deepEqual(brief(onService('webpubsub') + mix), []);
    const rest = 'scenarios:\n  - name: restSendToUser\n  - name: restBroadcast\n';
    assert.deepEqual(brief(onService('signalr') + rest), []);
  });

  it('passes on to an upstream what the handler can answer', () => {
    const text = (name: string, ...lines: string[]): string =>
      `${onService('signalr', 'upstream: {}', ...lines)}scenario:\n  name: ${name}\n`;
    const groups = '\n  parameters: { groupCount: 2 }';
    assert.deepEqual(brief(text('streamingEcho')), ['error upstream-use-case "streamingEcho"']);
    const invoke = 'invoke\n  parameters: { method: Mine, arguments: ["{text}"] }';
    assert.deepEqual(brief(text(invoke)), ['error upstream-use-case "invoke"']);
    for (const name of ['echo', 'broadcast', 'sendToClient', `sendToGroup${groups}`]) {
      assert.deepEqual(brief(text(name)), []);
      const bytes = text(name, 'protocol: messagepack');
      assert.deepEqual(brief(bytes), ['error upstream-protocol "messagepack"']);
      assert.deepEqual(brief(fixed(bytes, problemOf(bytes, 'upstream-protocol'))), []);
    }
    assert.deepEqual(brief(text('restBroadcast', 'protocol: messagepack')), []);
  });

  it('counts the connections of app servers', () => {
    const full = ['unit: 1', 'connections: 996', 'appServers: 1', 'serverConnections: 5'];
    const text = onService('signalr', ...full);
    assert.deepEqual(brief(text), ['warning server-connections "5"']);
    assert.match(
      problemOf(text, 'server-connections').message,
      /^996 clients and 5 server connections are more than the 1,000 connections of Unit 1/,
    );
    assert.deepEqual(brief(onService('signalr', 'unit: 1', 'connections: 995')), []);
    const unused = ['info no-effect "1"', 'info no-effect "5"'];
    assert.deepEqual(brief(onService('webpubsub', ...full)), unused);
    assert.deepEqual(brief(onService('signalr', ...full, 'upstream: {}')), unused);
    const free = onService('signalr', 'sku: free', 'connections: 18', 'arrivingRate: 10');
    assert.deepEqual(brief(free), ['warning server-connections "18"']);
  });

  it('counts the lasting server connection of each worker', () => {
    const text = (useCase: string, ...lines: string[]): string =>
      `${onService('signalr', 'unit: 1', ...lines)}scenario:\n  name: ${useCase}\n`;
    const full = text('restPersistSendToUser', 'connections: 1000');
    assert.deepEqual(brief(full), ['warning server-connections "1000"']);
    assert.match(
      problemOf(full, 'server-connections').message,
      /^1,000 clients and 1 server connection are more than the 1,000 connections of Unit 1/,
    );
    assert.deepEqual(brief(text('restSendToUser', 'connections: 1000')), []);
    const byWorkers = (workers: number): string[] =>
      brief(text('restPersistBroadcast', 'connections: 996', `workers: ${workers}`));
    assert.deepEqual(byWorkers(5), ['warning server-connections "5"']);
    assert.deepEqual(byWorkers(4), []);
  });
});
