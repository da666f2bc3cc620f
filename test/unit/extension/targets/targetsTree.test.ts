import '../../../fakes/plainVscode';
import assert from 'node:assert/strict';
import {
  fitsService,
  freeSecretName,
  targetKeys,
  targetAppearance,
  targetNodes,
  targetValue,
} from '../../../../src/extension/targets/targetsTree';
import { english } from '../../../../src/base/text';

describe('targetNodes', () => {
  it('lists the local hub and emulators, hubs in their order, and secrets by name', () => {
    const nodes = targetNodes(['http://b/hub', 'http://a/hub'], ['two', 'one']);
    assert.deepEqual(nodes.map(targetValue), [
      'local',
      'local',
      'local',
      'http://b/hub',
      'http://a/hub',
      '${secret:one}',
      '${secret:two}',
    ]);
  });

  const fitting = (service: 'hub' | 'signalr' | 'webpubsub'): string[] =>
    targetNodes(['http://a/hub'], ['one'])
      .filter((node) => fitsService(node, service))
      .map((node) => targetAppearance(node, english).label);

  it('knows what a scenario of a service can run on', () => {
    const emulator = 'Local Azure SignalR emulator';
    assert.deepEqual(fitting('hub'), ['Local hub', emulator, 'http://a/hub', 'one']);
    assert.deepEqual(fitting('signalr'), [emulator, 'http://a/hub', 'one']);
    assert.deepEqual(fitting('webpubsub'), ['Local Web PubSub emulator', 'one']);
  });

  it('says the service of an emulator only where the scenario does not', () => {
    const emulator = { kind: 'local', service: 'signalr' } as const;
    const target = { path: 'config.target', value: 'local' };
    assert.deepEqual(targetKeys(emulator, 'signalr'), [target]);
    const service = { path: 'config.service', value: 'signalr' };
    assert.deepEqual(targetKeys(emulator, 'hub'), [target, service]);
  });

  it('shows a secret by its name only', () => {
    const look = targetAppearance({ kind: 'secret', name: 'prod' }, english);
    assert.deepEqual(look, { label: 'prod', description: 'kept secret', icon: 'key' });
  });

  it('recognises hubs on this machine', () => {
    const description = (url: string): string =>
      targetAppearance({ kind: 'hub', url }, english).description;
    assert.equal(description('http://127.0.0.1:5050/hub'), 'this machine');
    assert.equal(description('https://example.com/hub'), '');
    assert.equal(description('no URL'), '');
  });
});

describe('freeSecretName', () => {
  it('counts on where the name is taken', () => {
    assert.equal(freeSecretName('accessKey', ['other']), 'accessKey');
    assert.equal(freeSecretName('accessKey', ['accessKey']), 'accessKey2');
    assert.equal(
      freeSecretName('accessKey', ['accessKey3', 'accessKey', 'accessKey2']),
      'accessKey4',
    );
  });
});
