import assert from 'node:assert/strict';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { Emitter } from '../../../src/base/async';
import { SignalError, type EndingSignal } from '../../../src/cli/exitCode';
import { describeBus, openBus } from '../../../src/cli/openBus';

async function brokenBus() {
  let asked = 0;
  const server = createServer((socket) => {
    asked += 1;
    socket.on('error', () => undefined);
    socket.end('nothing of a bus\r\n');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `nats://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, asked: () => asked, dispose: () => server.close() };
}

const warn = (): void => undefined;

describe('a bus that is not there', () => {
  const signals = new Emitter<EndingSignal>();
  const io = (within?: string) => ({
    env: within === undefined ? {} : { SIGNALR_BENCH_BUS_WITHIN: within },
    onSignal: signals.event,
  });

  it('is a sentence at once where nobody waits for it', async () => {
    const bus = await brokenBus();
    await assert.rejects(openBus({ bus: bus.url }, io(), 'test', warn), {
      code: 'bus-unreachable',
    });
    assert.equal(bus.asked(), 1);
    bus.dispose();
  });

  it('is asked again for as long as it may take to come', async () => {
    const bus = await brokenBus();
    await assert.rejects(openBus({ bus: bus.url }, io('600ms'), 'test', warn), {
      code: 'bus-unreachable',
    });
    assert.ok(bus.asked() > 1, `${bus.asked()}`);
    bus.dispose();
  });

  it('is waited for as long as somebody has written, and not where that is no duration', async () => {
    await assert.rejects(openBus({ bus: 'nats://127.0.0.1:1' }, io('abc'), 'test', warn), {
      message: 'SIGNALR_BENCH_BUS_WITHIN is not a duration: write one such as 3m.',
    });
  });

  it('is not asked where its certificate authority is no file', async () => {
    const env = { SIGNALR_BENCH_BUS_CA: '/nowhere/ca.pem' };
    await assert.rejects(openBus({ bus: 'nats://127.0.0.1:1' }, { ...io(), env }, 'test', warn), {
      message: 'SIGNALR_BENCH_BUS_CA: /nowhere/ca.pem cannot be read: there is no such file.',
    });
  });

  it('that wants another key says which variables hold it, and is not asked again', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', () => socket.end("-ERR 'Authorization Violation'\r\n"));
      socket.write('INFO {"server_id":"S","version":"2.9.0","proto":1,"max_payload":1000}\r\n');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const bus = `nats://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await assert.rejects(openBus({ bus }, io('1h'), 'test', warn), {
      code: 'bus-unreachable',
      message:
        /Violation\. It does not let this user in: set SIGNALR_BENCH_BUS_USER and SIGNALR_BENCH_BUS_PASSWORD, or SIGNALR_BENCH_BUS_TOKEN, to what it wants\.$/,
    });
    server.close();
  });

  it('is waited for no longer after a signal', async () => {
    const bus = await brokenBus();
    const waiting = openBus({ bus: bus.url }, io('1h'), 'test', warn);
    signals.fire('SIGTERM');
    await assert.rejects(waiting, (error) => {
      assert.ok(error instanceof SignalError && error.signal === 'SIGTERM');
      return true;
    });
    bus.dispose();
  });
});

describe('an address of a bus', () => {
  const io = { env: {}, onSignal: new Emitter<EndingSignal>().event };

  for (const url of ['http://127.0.0.1:1', 'ws://127.0.0.1:1', 'nats://127.0.0.1:1,wss://h', ''])
    it(`is refused in a sentence where it is ${url || 'missing'}`, async () => {
      const code = url === '' ? 'bus-missing' : 'bus-address';
      await assert.rejects(openBus({ bus: url }, io, 'test', warn), { code });
    });

  it('is shown without its password', async () => {
    await assert.rejects(openBus({ bus: 'http://me:hidden@h:1' }, io, 'test', warn), {
      message:
        'http://h:1 is not an address of a bus: nats://host:port, or tls://host:port for TLS.',
    });
  });

  it('says whether the bus is on this machine, and whether it has a key', () => {
    const traits = (bus: string, env = {}) => describeBus({ bus }, { env });
    const isBare = (bus: string, isHere: boolean) => {
      const { servers, ...rest } = traits(bus);
      assert.deepEqual(rest, { hasKey: false, isHere }, bus);
      assert.ok(
        servers.every((server) => /^(?:nats|tls):\/\//.test(server)),
        servers.join(),
      );
    };
    for (const bus of ['nats://127.0.0.1:4222', 'localhost:4222', 'tls://[::1]:1, 127.0.0.2'])
      isBare(bus, true);
    for (const bus of ['nats://10.0.0.4', 'bus', 'nats://127.0.0.1,nats://bus:4222'])
      isBare(bus, false);
    const env = { SIGNALR_BENCH_BUS: 'nats://me:hidden@127.0.0.1' };
    const { hasKey, isHere } = describeBus({}, { env });
    assert.deepEqual({ hasKey, isHere }, { hasKey: true, isHere: true });
    const keys = [{ SIGNALR_BENCH_BUS_TOKEN: 'k' }, { SIGNALR_BENCH_BUS_PASSWORD: 'k' }];
    for (const key of keys) assert.equal(traits('127.0.0.1', key).hasKey, true);
  });

  for (const scheme of ['nats://', 'tls://', ''])
    it(`may begin with ${scheme || 'the host'}`, async () => {
      const bus = await brokenBus();
      const url = `${scheme}${bus.url.slice('nats://'.length)}`;
      await assert.rejects(openBus({ bus: url }, io, 'test', warn), { code: 'bus-unreachable' });
      assert.equal(bus.asked(), 1);
      bus.dispose();
    });

  it('with tls:// is one that speaks TLS: no name goes to another', async () => {
    const heard: string[] = [];
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (data) => heard.push(data.toString()));
      socket.write('INFO {"server_id":"S","version":"2.9.0","proto":1,"max_payload":1000}\r\n');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await assert.rejects(openBus({ bus: `tls://me:hidden@127.0.0.1:${port}` }, io, 'test', warn), {
      code: 'bus-unreachable',
      message: /does not support 'tls'/,
    });
    assert.deepEqual(heard, []);
    server.close();
  });
});
