import assert from 'node:assert/strict';
import { classicHubCode } from '../../../src/usecases/hubCode';
import { contractMethods } from '../../../src/usecases/registry';

describe('the C# of a hub of ASP.NET SignalR', () => {
  const publicMethods = (code: string): string[] =>
    [...code.matchAll(/public (?:async )?(?:Task|string) (\w+)\(/g)].map(([, name]) => name!);

  it('has all methods of the contract that open no streams', () => {
    const { recordLatency, measure, streams } = contractMethods();
    assert.ok(streams.includes('StreamingEcho'));
    assert.deepEqual(
      publicMethods(classicHubCode('recordLatency')),
      recordLatency.filter((name) => !streams.includes(name)),
    );
    assert.deepEqual(publicMethods(classicHubCode('measure')), measure);
  });

  it('sends to whom each method is for, under the name that scenarios have', () => {
    const code = classicHubCode('recordLatency');
    for (const part of [
      '[HubName("signalrbench")]',
      'Clients.Caller.RecordLatency(message);',
      'Clients.All.RecordLatency(message);',
      'Clients.Client(message["information.ConnectionId"].ToString()).RecordLatency(message);',
      'Clients.Group(message["information.GroupName"].ToString()).RecordLatency(message);',
      'await Groups.Add(Context.ConnectionId, group);',
      'await Groups.Remove(Context.ConnectionId, group);',
      'await Clients.Caller.OnConnected(Context.ConnectionId);',
    ])
      assert.ok(code.includes(part), part);
    const measured = classicHubCode('measure');
    assert.ok(measured.includes('Clients.Group(receiver).Measure(ticks, payload);'));
    assert.ok(!measured.includes('OnConnected'));
  });
});
