import assert from 'node:assert/strict';
import { assertUndisturbed, onlyStep } from '../load/loadRun';
import { AgentsOnBus } from '../machines/agentsOnBus';
import { assertEachExact, mixOf, useCasesOf } from '../machines/useCases';
import { sharedAspNetServer } from './aspnetServer';

const connections = 60;

describe('three agents against ASP.NET Core SignalR', () => {
  const server = sharedAspNetServer();
  let cluster: AgentsOnBus | undefined;

  before(async () => {
    cluster = await AgentsOnBus.beside(server.url);
  });
  after(() => cluster?.dispose());

  it('count every use case exactly', async () => {
    const cases = useCasesOf(connections);
    const result = await cluster!.result(3, mixOf(cases, connections));
    assertUndisturbed(result);
    assertEachExact(result, cases);
  });

  it('count joins and leaves exactly', async () => {
    const result = await cluster!.result(3, {
      useCase: 'frequentJoinLeaveGroup',
      parameters: { groupCount: 3, sendingInterval: '40ms', joinLeaveInterval: '200ms' },
      config: { connections: 30, baseSending: 12, singleStepDuration: '2s', workers: 1 },
    });
    // Those that are on their way in or out get messages, too: nobody counts on them.
    const { expected, received, lost, membership } = onlyStep(result);
    assert.deepEqual([received, lost], [expected, 0]);
    assert.ok(expected > 500 && membership!.joins > 30, `${expected}, ${membership?.joins} joins`);
  });
});
