import assert from 'node:assert/strict';
import { sideBySide } from '../fakes/sideBySide';
import { assertExact, assertUndisturbed, loadRun, onlyStep } from '../load/loadRun';
import type { AspNetServer } from './aspnetServer';
import { startClassicServer } from './officialClassicServer';

const connections = 20;
const senders = 4;
/** Each sender's messages in half a second at one in 50 ms. */
const perSender = 10;

const entries = [
  { name: 'echo', senders, receivers: 1 },
  { name: 'broadcast', senders, receivers: connections },
  { name: 'sendToClient', senders, receivers: 1 },
  { name: 'sendToGroup', senders, receivers: 5, parameters: { groupCount: 4 } },
  {
    ...{ name: 'invoke', senders, receivers: 1 },
    parameters: { messageSize: undefined, method: 'GetConnectionId' },
  },
];

describe('the engine against the official server of ASP.NET SignalR', function () {
  let server: AspNetServer | undefined;
  before(async function () {
    server = await startClassicServer(this);
  });
  after(() => server?.dispose());

  // Only counts are judged.
  const beside = sideBySide();

  for (const transport of ['Websockets', 'ServerSentEvents', 'LongPolling'])
    beside(`counts a mix exactly over ${transport}`, async () => {
      const config = {
        ...{ connections, transport, skipNegotiation: false, connectionType: 'AspNet' },
        // A server that compiles its code under load answers when it can; nobody gives it up.
        connectTimeout: '120s',
      };
      const mix = entries.map(({ receivers: _each, ...entry }) => entry);
      const run = await loadRun({
        ...{ target: server!.url, entries: mix, workers: 1, config },
        parameters: { sendingInterval: '50ms' },
      });
      assertUndisturbed(run);
      for (const [position, { name, receivers }] of entries.entries()) {
        const counts = onlyStep(run).entries![position]!;
        const sent = senders * perSender;
        // Calls that follow one another at once overtake each other in that server.
        assertExact({ ...counts, outOfOrder: 0 }, sent, sent * receivers);
        assert.equal(counts.sent, sent, name);
      }
    });
});
