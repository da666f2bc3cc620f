import assert from 'node:assert/strict';
import { ServiceEmulator } from '../../../../src/servers/azureSignalr/serviceEmulator';
import { UserGroups } from '../../../../src/servers/azureSignalr/serviceHub';
import { EmulatorPeer } from '../../../fakes/emulatorPeer';
import { until } from '../../../fakes/until';

describe('hubs of the Azure SignalR emulator', () => {
  it('are forgotten once nobody is there and no user is remembered', async () => {
    const service = new ServiceEmulator({});
    await service.listen();
    try {
      const peer = new EmulatorPeer(service.connectionString);
      await peer.rest('HEAD', '/api/hubs/asked/users/ann');
      await peer.rest('PUT', '/api/hubs/kept/users/ann/groups/g?ttl=100');
      await peer.rest('PUT', '/api/hubs/brief/users/ann/groups/g?ttl=0');
      assert.deepEqual([...service.hubs.keys()], ['asked', 'kept', 'brief']);
      await until('the forgetting', () => service.hubs.size === 1);
      assert.deepEqual([...service.hubs.keys()], ['kept']);
    } finally {
      await service.dispose();
    }
  });

  it('remember a bounded number of users in groups', () => {
    const memberships = { used: 999_998 };
    const [groups, ofOtherHub] = [new UserGroups(memberships), new UserGroups(memberships)];
    for (let index = 0; index < 2; index++) assert.ok(groups.add('ann', String(index), Infinity));
    assert.ok(!groups.add('bob', '0', Infinity));
    assert.ok(!ofOtherHub.add('bob', '0', Infinity), 'it is one bound for all hubs');
    assert.ok(groups.add('ann', '0', Infinity), 'who is in it already may stay longer');
    groups.remove('ann', '0');
    assert.ok(groups.add('bob', '0', Infinity));
    groups.removeAll('ann');
    assert.ok(!groups.isEmpty);
    groups.remove('bob', '0');
    assert.ok(groups.isEmpty);
  });
});
