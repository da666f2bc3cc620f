import assert from 'node:assert/strict';
import { seededRandom } from '../../../../src/base/random';
import { estimate } from '../../../../src/capacity/estimate';
import type { EstimateInput } from '../../../../src/capacity/model';
import { loadOf } from '../../../../src/capacity/load/loadOf';
import type { Scenario } from '../../../../src/scenario/scenario';
import { inputOf as inputOfScenario, messages, scenarioWith } from '../scenarios';

const inputOf = (changes: Partial<Scenario> = {}): EstimateInput =>
  inputOfScenario(scenarioWith(changes));

const groupEntry = (groupCount: number) => ({
  name: 'sendToGroup',
  parameters: { ...messages, groupCount, groupsPerConnection: 1, sendersPer: 'connection' },
});

describe('a counter file to be read', () => {
  it('has nothing to estimate', () => {
    const load = loadOf(scenarioWith({ kind: 'resultparser' }));
    assert.ok('problem' in load && /nothing to estimate/.test(load.problem));
  });
});

describe('loadOf', () => {
  it('takes the senders of the last step', () => {
    assert.deepEqual(inputOf(), {
      product: 'signalr',
      connections: 1000,
      useCases: [
        {
          ...{ kind: 'echo', senders: 1000, intervalS: 1, messageBytes: 2048 },
          // `{"type":1,"target":"RecordLatency","arguments":[{…}]}`, and Echo within `[6, "…", "…", {}]`.
          leaving: [{ bytes: 2048, weight: 1, sent: 2221, toClient: 2230, toApplication: 2252 }],
        },
      ],
      serverConnections: 5,
      assumptions: [],
    });
    assert.equal(inputOf({ sendingSteps: 1 }).useCases[0]!.senders, 500);
  });

  it('takes the larger group, and each entry of a mix', () => {
    const input = inputOf({ entries: [groupEntry(300), { name: 'echo', parameters: messages }] });
    assert.deepEqual(
      input.useCases.map(({ kind, senders, groupMembers }) => [kind, senders, groupMembers]),
      [
        ['send_to_group', 500, 4],
        ['echo', 500, undefined],
      ],
    );
  });

  it('estimates the sample of the Azure SignalR benchmark, 500 groups of two', () => {
    assert.equal(estimate(inputOf({ entries: [groupEntry(500)] })).unit, 5);
  });

  it('lets connections decide when nothing is sent', () => {
    for (const service of ['signalr', 'webpubsub'] as const) {
      const input = inputOf({
        service,
        connections: 2500,
        entries: [{ name: 'connectOnly', parameters: {} }],
      });
      const result = estimate(input);
      assert.equal(result.unit, 3);
      assert.deepEqual(result.limiting, ['connections']);
      assert.deepEqual(result.formula, ['no senders: connections only']);
    }
    const silent = inputOf({ baseSending: 0, step: 0 });
    assert.equal(silent.useCases[0]!.senders, 0);
  });

  it('needs no app servers with an upstream', () => {
    assert.notEqual(estimate(inputOf()).app_servers, null);
    assert.equal(estimate(inputOf({ upstream: { port: 0 } })).app_servers, null);
  });

  it('advises no app servers on the Free tier, whose connections they would take', () => {
    const small = { connections: 1, baseSending: 1, step: 0 };
    assert.ok(estimate(inputOf({ ...small, sku: 'standard' })).advice);
    const free = estimate(inputOf({ ...small, sku: 'free' }));
    assert.deepEqual([free.advice, free.app_servers, free.unit], [undefined, null, 1]);
    assert.equal(free.server_connections, 5, 'those of the run');
  });

  it('lets nothing out where nobody answers, and one answer where the hub gives one', () => {
    const own = (parameters: object): Scenario['entries'] => [
      { name: 'invoke', parameters: { method: 'Send', sendingInterval: 1000, ...parameters } },
    ];
    const rates = (entries: Scenario['entries']): readonly number[] => {
      const { loads, billing } = estimate(inputOf({ entries }));
      const [load] = loads;
      return [load!.in_messages_per_s, load!.out_messages_per_s, billing!.messages_per_s];
    };
    const call = { arguments: '["{text:20KB}"]' };
    // 20 KB and its envelopes are eleven messages of 2 KB on each leg.
    assert.deepEqual(rates(own({ ...call, reply: 'completion' })), [1000, 1000, 22_000]);
    assert.deepEqual(rates(own({ ...call, reply: 'none' })), [1000, 0, 11_000]);
    const items = {
      ...{ streamingItemCount: 4, streamingItemSendDelay: 0, streamingItemSize: 3000 },
      arguments: '[]',
    };
    const up = { ...items, streamingItems: '["{text:3000}"]' };
    assert.deepEqual(rates(own({ ...up, reply: 'stream' })), [4000, 4000, 16_000]);
    assert.deepEqual(rates(own({ ...up, reply: 'completion' })), [4000, 1000, 10_000]);
    // What goes up for a download is no more than the call.
    assert.deepEqual(rates(own({ ...items, reply: 'stream' })), [1000, 4000, 9000]);
    const bench = (streamDirection: string): Scenario['entries'] => [
      {
        name: 'streamingEcho',
        parameters: {
          ...messages,
          streamingItemCount: 4,
          streamingItemSendDelay: 0,
          streamDirection,
        },
      },
    ];
    assert.deepEqual(rates(bench('both')), [4000, 4000, 16_000]);
    // The answer to an upload is a number.
    assert.deepEqual(rates(bench('upload')), [4000, 1000, 9000]);
    assert.deepEqual(rates(bench('download')), [1000, 4000, 9000]);
  });

  it('uses the tables of the service', () => {
    const webPubSub = inputOf({ service: 'webpubsub' });
    assert.equal(webPubSub.product, 'webpubsub');
    assert.equal(webPubSub.useCases[0]!.kind, 'upstream_echo');
    assert.equal(inputOf({ connectionType: 'AspNet' }).stack, 'aspnet');
  });

  it('says what the tables do not know', () => {
    const sentences = (changes: Partial<Scenario>): string =>
      (inputOf(changes).assumptions ?? []).join(' ');
    assert.match(sentences({ service: 'hub' }), /plain hub has no Units/);
    assert.match(sentences({ transport: 'LongPolling' }), /LongPolling is slower/);
    const streaming = { ...messages, streamingItemCount: 4, streamingItemSendDelay: 0 };
    const entries = [{ name: 'streamingEcho', parameters: streaming }];
    assert.match(sentences({ entries }), /no table for streams/);
    assert.equal(estimate(inputOf({ entries })).loads[0]!.in_messages_per_s, 4000);
    const persistent = [{ name: 'restPersistBroadcast', parameters: messages }];
    assert.match(sentences({ entries: persistent }), /one HTTP request per message/);
    const joining = [{ ...groupEntry(100), name: 'frequentJoinLeaveGroup' }];
    assert.match(sentences({ entries: joining }), /Joining and leaving/);
    const notes = estimate(inputOf({ service: 'hub' })).notes;
    assert.match(notes.at(-1)!, /plain hub/);
  });

  it('is a problem where the guide has no table', () => {
    const loaded = loadOf(
      scenarioWith({
        service: 'webpubsub',
        entries: [{ name: 'broadcast', parameters: messages }],
      }),
    );
    assert.deepEqual(loaded, { problem: 'The Web PubSub guide has no table for broadcast.' });
    const unknown = loadOf(scenarioWith({ entries: [{ name: 'juggle', parameters: {} }] }));
    assert.deepEqual(unknown, { problem: 'There is no use case juggle.' });
  });
});

describe('what the hub is said to send on its own', () => {
  const price = { name: 'PriceChanged', perSecond: 2, bytes: 38, to: 'everyone' as const };

  it('goes out to everybody also where clients only listen', () => {
    const idle = [{ name: 'connectOnly', parameters: {} }];
    const input = inputOf({ connections: 100, entries: idle, pushes: [price] });
    const { loads, billing } = estimate(input);
    assert.deepEqual(
      loads.map((load) => [load.in_messages_per_s, load.out_messages_per_s]),
      [[0, 200]],
    );
    assert.equal(billing!.messages_per_day, 200 * 86_400);
    // `{"type":1,"target":"PriceChanged","arguments":…}` and what marks its end.
    assert.deepEqual(input.useCases[0]!.leaving, [
      { bytes: 38, weight: 1, sent: 0, toClient: 48 + 38, toApplication: 0 },
    ]);
    assert.match(
      estimate(input).formula.join(),
      /1 hub × 2 msg\/s × 100 receivers = 200 msg\/s × 1 KB \(counted for 38 B\)/,
    );
  });

  it('takes the place of the sentence that nobody knows it', () => {
    const own: Partial<Scenario> = {
      ...{ target: { kind: 'hubUrl', urls: ['http://localhost:5000/chat'] } },
      entries: [{ name: 'connectOnly', parameters: {} }],
    };
    const said = /write it as config\.pushes/;
    assert.match(inputOf(own).assumptions!.join(), said);
    const known = inputOf({ ...own, pushes: [price] }).assumptions!.join();
    assert.doesNotMatch(known, said);
    assert.match(known, /each counts as the outbound part of an echo/);
  });

  it('is the sum by hand, beside the traffic of the senders, whatever is drawn', () => {
    const random = seededRandom(Number(process.env['TEST_SEED'] ?? 1));
    const upTo = (most: number): number => 1 + random.below(most);
    for (let round = 0; round < 60; round += 1) {
      const [connections, groupCount] = [upTo(5000), upTo(50)];
      const groups = Math.min(groupCount, connections);
      const receivers = {
        everyone: connections,
        group: Math.ceil(connections / groups),
        client: 1,
      };
      const audiences = ['everyone', 'group', 'client'] as const;
      const pushes = Array.from({ length: upTo(5) }, (_, at) => ({
        name: `Push${at}`,
        ...{ perSecond: upTo(400) / 8, bytes: upTo(9000), to: audiences[upTo(3) - 1]! },
      }));
      const quiet = { connections, baseSending: 1, step: 0, entries: [groupEntry(groups)] };
      const [alone, together] = [inputOf(quiet), inputOf({ ...quiet, pushes })].map((input) => {
        const { loads, billing } = estimate(input);
        const sum = (of: (load: (typeof loads)[number]) => number): number =>
          loads.reduce((total, load) => total + of(load), 0);
        return {
          in: sum((load) => load.in_messages_per_s),
          out: sum((load) => load.out_messages_per_s),
          bytes: sum((load) => load.out_bytes_per_s),
          billed: billing!.messages_per_s,
        };
      });
      const byHand = (each: (push: (typeof pushes)[number]) => number): number =>
        pushes.reduce((total, push) => total + push.perSecond * receivers[push.to] * each(push), 0);
      // Names of five letters in `{"type":1,"target":"…","arguments":…}`, billed in started pieces of 2 KB.
      const billedAs = ({ bytes }: { bytes: number }): number => Math.ceil((bytes + 41) / 2048);
      assert.equal(together!.in, alone!.in);
      const near = (found: number, due: number): void =>
        assert.ok(Math.abs(found - due) <= 1e-6 * due + 0.01, `${found} for ${due}`);
      near(
        together!.out - alone!.out,
        byHand(() => 1),
      );
      near(
        together!.bytes - alone!.bytes,
        byHand(({ bytes }) => Math.max(1024, bytes)),
      );
      near(together!.billed - alone!.billed, byHand(billedAs));
    }
  });
});
