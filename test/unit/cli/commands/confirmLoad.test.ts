import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { contactsOfFlags } from '../../../../src/cli/commands/confirmLoad';
import { commandLine } from '../commandLine';

describe('what flags contact', () => {
  it('is a collector and a bus, with the names of what they get', () => {
    const env = {
      OTEL_EXPORTER_OTLP_HEADERS: 'api-key=V4LUE,other=V4LUE',
      SIGNALR_BENCH_BUS_TOKEN: 'V4LUE',
    };
    const flags = { otlp: 'https://otlp.example/v1', on: 'hosts', bus: 'nats://a.example:4222,b' };
    const contacts = contactsOfFlags(flags, { env });
    assert.deepEqual(
      contacts.map(({ host, why, isBeyond, gets }) => [host, why, isBeyond, gets.join()]),
      [
        ['otlp.example', 'otlp', true, 'header api-key,header other'],
        ['a.example:4222', 'bus', true, 'scenario,its files,key of the bus'],
        ['b', 'bus', true, 'scenario,its files,key of the bus'],
      ],
    );
    assert.deepEqual(contactsOfFlags({ bus: 'nats://a.example' }, { env }), []);
  });

  it('is not contacted before a yes', async () => {
    const at = await commandLine();
    let opened = 0;
    const bus = createServer((socket) => {
      opened += 1;
      socket.on('error', () => undefined);
      socket.end('no bus\r\n');
    }).listen(0, '127.0.0.1');
    try {
      await once(bus, 'listening');
      const file = await at.file('a.yaml', '');
      const here = `nats://127.0.0.1:${(bus.address() as AddressInfo).port}`;
      const args = ['run', file, '--on', 'hosts', '--bus', `${here},nats://bus.example`];
      const asked = await at.run(args);
      assert.equal(asked.code, 2);
      assert.match(
        asked.err,
        /It contacts bus\.example \(bus\) with scenario, its files\..*Add --yes/,
      );
      await at.run(args, { answer: 'n' });
      assert.equal(opened, 0);
      const agreed = await at.run(['run', file, '--on', 'hosts', '--bus', here, '--yes']);
      assert.match(agreed.err, /The bus at nats:\/\/127\.0\.0\.1:\d+ cannot be used/);
      assert.equal(opened, 1);
    } finally {
      bus.close();
      await at.dispose();
    }
  });
});
