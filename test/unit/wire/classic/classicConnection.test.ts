import assert from 'node:assert/strict';
import type { Endpoint, HttpTransport } from '../../../../src/base/endpoint';
import { ConnectFailure } from '../../../../src/wire/connectFailure';
import { classicCodec } from '../../../../src/wire/classic/classicCodec';
import { connectHub } from '../../../../src/wire/connect/connectHub';
import { maximumBatchBytes } from '../../../../src/wire/http/httpConnection';
import { type HubConnection, Invocations } from '../../../../src/wire/hub/clientConnection';
import { hubMessageType } from '../../../../src/wire/message/hubMessage';
import { SocketAgents } from '../../../../src/wire/socket/socket';
import { endpointOf } from '../../../fakes/endpoint';
import { RecordingListener } from '../../../fakes/recordingListener';
import { ScriptedClassicHub } from '../../../fakes/scriptedClassicHub';
import { until } from '../../../fakes/until';
import { VirtualTime } from '../../../fakes/virtualTime';

class ClassicListener extends RecordingListener {
  readonly invocations = new Invocations();
  override received(connection: HubConnection, buffer: Buffer, start: number, end: number): void {
    const text = buffer.toString('utf8', start, end);
    if (text !== '') this.texts.push(text);
    const message = start < end ? connection.codec.read(buffer, start, end) : undefined;
    if (message?.type === hubMessageType.completion)
      this.invocations.completed(connection, message);
  }
}

const transports: readonly (HttpTransport | undefined)[] = [
  undefined,
  'ServerSentEvents',
  'LongPolling',
];
const nameOf = (transport: HttpTransport | undefined): string =>
  (transport ?? 'WebSockets').replace(/^./, (letter) => letter.toLowerCase());

describe('a connection to a hub of ASP.NET SignalR', () => {
  let hub: ScriptedClassicHub;
  let listener: ClassicListener;
  let agents: SocketAgents;
  let connection: HubConnection | undefined;

  async function open(
    script: ConstructorParameters<typeof ScriptedClassicHub>[0] = {},
    changes: Partial<Endpoint> = {},
  ): Promise<HubConnection> {
    hub = new ScriptedClassicHub(script);
    const endpoint = endpointOf(await hub.listen(), { classic: true, ...changes });
    agents = new SocketAgents(endpoint, 2);
    listener = new ClassicListener();
    const options = {
      ...{ maximumMessageBytes: 100_000, maximumUnsentBytes: 100_000 },
      codec: classicCodec('signalrbench'),
    };
    const context = { endpoint, agents, listener, options };
    return (connection = await connectHub(0, context, AbortSignal.timeout(60_000)));
  }

  async function refusal(...opening: Parameters<typeof open>): Promise<string> {
    try {
      await open(...opening);
    } catch (error) {
      if (!(error instanceof ConnectFailure)) throw error;
      return `${error.errorClass}: ${error.message}`;
    }
    throw new Error('it was let in');
  }

  afterEach(async () => {
    connection?.destroy();
    connection = undefined;
    agents.destroy();
    await hub.close();
  });

  for (const transport of transports) {
    const name = nameOf(transport);
    const changes = transport === undefined ? {} : { transport };
    describe(`over ${name}`, () => {
      it('negotiates, connects, starts, calls and is called', async () => {
        const greeting = '{"C":"d-2","M":[{"H":"x","M":"OnConnected","A":["id-1"]}]}';
        const opened = await open({ greeting }, changes);
        await until('the greeting', () => listener.texts.includes(greeting));
        assert.deepEqual(hub.requests.slice(0, 3), [
          'negotiate',
          `connect ${name}`,
          transport === 'LongPolling' ? hub.requests[2] : `start ${name}`,
        ]);
        assert.ok(hub.requests.includes(`start ${name}`));
        const [asked, connected] = hub.queries;
        assert.equal(asked!.get('clientProtocol'), '2.1');
        assert.equal(asked!.get('connectionData'), '[{"Name":"signalrbench"}]');
        assert.equal(connected!.get('connectionToken'), 'token+/=');
        assert.equal(opened.connectionId, 'id-1');
        assert.equal(hub.headers[1]!.cookie, 'node=a');
        hub.answers = ({ I }) => JSON.stringify({ R: 'ünd&=', I });
        const outcome = await listener.invocations.invoke(opened, 'JoinGroup', ['a&b=ü'], 2000);
        assert.deepEqual(outcome, { ok: true, result: 'ünd&=' });
        assert.deepEqual(hub.calls, [{ H: 'signalrbench', M: 'JoinGroup', A: ['a&b=ü'], I: '1' }]);
        hub.answers = ({ I }) => JSON.stringify({ I, E: 'no such method' });
        const refused = await listener.invocations.invoke(opened, 'Nothing', [], 2000);
        assert.ok(!refused.ok && refused.text === 'no such method');
        assert.deepEqual(listener.losses, []);
      });

      it('comes back over another request from where it was', async () => {
        await open({}, changes);
        await until('a poll', () => transport !== 'LongPolling' || hub.isPolled);
        const frame = '{"C":"d-7","G":"gr=oups","M":[{"H":"x","M":"Echo","A":[1]}]}';
        hub.say(frame);
        await until('the message', () => listener.texts.includes(frame));
        await until('a poll', () => transport !== 'LongPolling' || hub.isPolled);
        hub.cut();
        await until('coming back', () => hub.requests.includes(`reconnect ${name} d-7 gr=oups`));
        const next = '{"C":"d-8","M":[{"H":"x","M":"Echo","A":[2]}]}';
        if (transport === undefined)
          await until('the socket', () => listener.reported.includes('recovered'));
        await until('the request', () => transport !== 'LongPolling' || hub.isPolled);
        hub.say(next);
        await until('the next message', () => listener.texts.includes(next));
        assert.equal(listener.reported.length, 2);
        assert.match(listener.reported[0]!, /^interrupted (closed|reset)$/);
        assert.equal(listener.reported[1], 'recovered');
        assert.deepEqual(listener.losses, []);
      });

      it('takes many messages in one frame', async () => {
        await open({}, changes);
        await until('a poll', () => transport !== 'LongPolling' || hub.isPolled);
        // Each below the limit of a message, and all together above.
        const message = `{"H":"x","M":"Echo","A":["${'x'.repeat(60_000)}"]}`;
        const frame = `{"C":"d-2","M":[${message},${message},${message}]}`;
        hub.say(frame);
        await until('the frame', () => listener.texts.includes(frame));
      });

      it('says goodbye by abort', async () => {
        const opened = await open({}, changes);
        opened.close();
        await until('abort', () => hub.requests.includes(`abort ${name}`));
      });

      it('ends at a frame that is none, and at an order to end', async () => {
        for (const [frame, says] of [
          ['garbage', /^protocol: a frame is not a JSON object$/],
          ['{"C":"d","D":1,"M":[]}', /^closed: the server ordered the connection to end \(D: 1\)$/],
          ['{"E":"out of order"}', /^closed: the server reports an error: out of order$/],
        ] as const) {
          await open({}, changes);
          await until('a poll', () => transport !== 'LongPolling' || hub.isPolled);
          hub.say(frame);
          const { errorClass, text } = await listener.lostOnce;
          assert.match(`${errorClass}: ${text}`, says);
          assert.deepEqual(listener.reported, []);
          agents.destroy();
          await hub.close();
        }
        await open({}, changes);
      });
    });
  }

  it('looks for another socket when keep-alives stay away', async () => {
    const opened = await open();
    opened.silentFor!(19_000);
    assert.deepEqual(listener.reported, []);
    opened.silentFor!(20_000);
    await until('coming back', () => listener.reported.includes('recovered'));
    assert.deepEqual(listener.reported, ['interrupted timeout', 'recovered']);
    assert.ok(hub.requests.includes('reconnect webSockets d-1'));
  });

  it('keeps what is sent while it comes back for the next socket', async () => {
    const opened = await open();
    hub.cut();
    await until('the loss', () => listener.reported.length > 0);
    const outcome = listener.invocations.invoke(opened, 'Echo', [1], 4000);
    assert.deepEqual(await outcome, { ok: true, result: undefined });
  });

  it('waits before it comes back again to a server that ends each socket at once', async () => {
    const time = new VirtualTime().install();
    try {
      await open();
      for (const ended of [1, 2, 3]) {
        hub.cut();
        await until('the loss', () => listener.reported.length >= 2 * ended - 1);
        // The first time at once.
        if (ended > 1) {
          await time.waitedFor(1000);
          assert.equal(hub.sockets.length, ended);
          await time.to(time.nowMs + 3000);
        }
        await until('coming back', () => listener.reported.length === 2 * ended);
        assert.equal(hub.sockets.length, ended + 1);
      }
      assert.deepEqual(listener.losses, []);
    } finally {
      time.restore();
    }
  });

  it('is given up when more comes before the start than is kept, in frames however short', async () => {
    // Each takes its two bytes, and the room to keep it.
    const flood = Array<string>(Math.ceil(maximumBatchBytes / 258) + 1).fill('{}');
    const says = /^protocol: more came before the start than 16777216 bytes hold$/;
    assert.match(await refusal({ flood }), says);
  });

  it('waits before the next poll where the server says so', async () => {
    const init = '{"C":"d-1","S":1,"L":60000,"M":[]}';
    const opened = await open({ init }, { transport: 'LongPolling' });
    await listener.invocations.invoke(opened, 'Echo', [], 2000);
    assert.deepEqual(
      hub.requests.filter((request) => request.startsWith('poll')),
      [],
    );
  });

  it('polls by reconnect after an order to come back', async () => {
    await open({}, { transport: 'LongPolling' });
    await until('a poll', () => hub.isPolled);
    hub.say('{"C":"d-2","T":1,"M":[]}');
    await until('coming back', () => hub.requests.includes('reconnect longPolling d-2'));
  });

  it('follows a redirect with its token and its query, as Azure SignalR answers', async () => {
    const service = new ScriptedClassicHub();
    const there = await service.listen();
    const to = there.replace('/signalrbench', '/signalr?asrs.op=x');
    const redirect = { RedirectUrl: to, AccessToken: 'secret', ProtocolVersion: '2.0' };
    try {
      const opened = await open({ negotiation: redirect }, { query: { mine: '1' } });
      assert.deepEqual(hub.requests, ['negotiate']);
      assert.deepEqual(service.requests, ['negotiate', 'connect webSockets', 'start webSockets']);
      for (const { authorization } of service.headers) assert.equal(authorization, 'Bearer secret');
      const query = service.queries[1]!;
      assert.deepEqual([query.get('asrs.op'), query.get('mine')], ['x', null]);
      opened.destroy();
    } finally {
      await service.close();
    }
  });

  it('says why it was not let in', async () => {
    const cases: readonly [Parameters<typeof open>, RegExp][] = [
      [[{ negotiation: 'hello' }], /^negotiate: negotiate: the answer is not a JSON object/],
      [
        [{ negotiation: '{"availableTransports":[]}' }],
        /^negotiate: .* hub of ASP\.NET Core SignalR: remove connectionType: AspNet/,
      ],
      [[{ negotiation: { ProtocolVersion: '1.2' } }], /protocol 1\.2; .* speak 1\.4 to 2\.1$/],
      [[{ negotiation: '{}' }], /speaks no ProtocolVersion/],
      [[{ negotiation: { TryWebSockets: false } }], /does not offer WebSockets/],
      [[{ negotiation: { Error: 'too many' } }], /^negotiate: negotiate: too many$/],
      [[{ negotiation: { ConnectionToken: '' } }], /no ConnectionToken$/],
      [[{ statuses: { negotiate: 500 } }], /^negotiate: negotiate: .* answered 500: refused$/],
      [[{ statuses: { connect: 400 } }], /^upgrade: upgrade: .*\/connect answered 400/],
      [
        [{ statuses: { connect: 400 } }, { transport: 'ServerSentEvents' }],
        /^request: event stream: .* answered 400/,
      ],
      [
        [{ statuses: { connect: 400 } }, { transport: 'LongPolling' }],
        /^request: poll: .* answered 400/,
      ],
      [[{ start: '{"Response":"no"}' }], /^handshake: the server did not answer start/],
      [
        [{ init: '{}', negotiation: { TransportConnectTimeout: 0.05 } }],
        /^timeout: the server sent no first message within 0\.05 s/,
      ],
    ];
    for (const [opening, says] of cases) {
      assert.match(await refusal(...opening), says);
      agents.destroy();
      await hub.close();
    }
    await open();
  });
});
