import assert from 'node:assert/strict';
import { seededRandom } from '../../../../src/base/random';
import { completion, SessionBench, sessionPlan, type FakeHub } from '../../../fakes/sessionBench';
import { analysed, MadeRecording } from './madeRecording';

/** As long as the name of a group in a run. */
const room = 'a-room-of-18-bytes';

const clients = [1, 2, 3, 4];
const sessionsEach = 25;

/** What clients sent, by method: how many calls, and bytes of their arguments as JSON. */
class Traffic {
  private readonly methods = new Map<string, { calls: number; bytes: number }>();

  add(method: string, args: readonly unknown[]): void {
    const found = this.methods.get(method) ?? { calls: 0, bytes: 0 };
    this.methods.set(method, found);
    found.calls += 1;
    found.bytes += Buffer.byteLength(JSON.stringify(args));
  }

  get rows(): readonly (readonly [method: string, calls: number, bytesOfCall: number])[] {
    return [...this.methods].map(([method, { calls, bytes }]) => [method, calls, bytes / calls]);
  }
}

interface Script {
  /** Of a pause that is `ms` long in the mean. */
  readonly pause: (ms: number) => number;
  readonly size: () => number;
  readonly rounds: () => number;
}

/** People who come again and again, on a clock of their own; and what they sent. */
function recorded({ pause, size, rounds }: Script): {
  made: MadeRecording;
  sent: Traffic;
  seconds: number;
} {
  const made = new MadeRecording();
  const sent = new Traffic();
  let [id, us] = [1000, 0];
  for (const client of clients) {
    let ms = 50 * client;
    made.at(ms).open(client);
    const call = (method: string, args: readonly unknown[], answer = {}): void => {
      made.at(ms).call(client, method, args, answer);
      sent.add(method, args);
      ms += 1;
    };
    const begunMs = ms;
    for (let session = 0; session < sessionsEach; session++) {
      call('JoinRoom', [room]);
      ms += pause(900);
      for (let round = rounds(); round > 0; round--) {
        const text = `${id} ${'x '.repeat(5000)}`.slice(0, size());
        call('SendMessage', [room, { text }]);
        made.at(ms).heard([client], 'MessagePosted', [{ id: `m-${++id}`, text }]);
        ms += pause(700);
        call('Acknowledge', [`m-${id}`]);
        ms += pause(1200);
      }
      call('GetHistory', [room, 20], { result: [{ id: `h-${id}` }] });
      ms += pause(400);
      call('Acknowledge', [`h-${id}`]);
      ms += pause(2500);
      call('LeaveRoom', [room]);
      ms += pause(1500);
    }
    us += (ms - begunMs) * 1000;
    made.at(ms).close(client);
  }
  return { made, sent, seconds: us / 1e6 / clients.length };
}

/** The hub of those people. */
function chat(): FakeHub {
  let id = 0;
  return ({ id: invocation, target, args }) => {
    const result = target === 'GetHistory' ? [{ id: `h-${1000 + (id % 1000)}` }] : null;
    return [
      ...(target === 'SendMessage'
        ? [
            {
              afterUs: 2000,
              message: {
                ...{ type: 1, target: 'MessagePosted' },
                arguments: [{ ...(args[1] as object), id: `m-${1000 + (++id % 1000)}` }],
              },
            },
          ]
        : []),
      ...(invocation === undefined
        ? []
        : [{ afterUs: 1000, message: completion(invocation, result) }]),
    ];
  };
}

const within5Percent = (found: number, wanted: number, what: string): void =>
  assert.ok(Math.abs(found / wanted - 1) <= 0.05, `${what}: ${found} instead of ${wanted}`);

describe('rates and sizes of a scenario made of a recording', () => {
  const random = seededRandom(7);
  const draw = (): number => random.below(1_000_000) / 1_000_000;
  // Pauses from half of their mean to one and a half times; texts mostly short, a few long.
  const people: Script = {
    pause: (ms) => ms * (0.5 + draw()),
    size: () => Math.round(60 + 2000 * draw() ** 6),
    rounds: () => 10 + random.below(5),
  };

  it('are those recorded, call by call, as people have them', async () => {
    const { made, sent, seconds } = recorded(people);
    const { file, yaml } = await analysed(made);
    const lists = yaml.match(/^ *-? ?(?:wait|every): \[ .* \]$/gm) ?? [];
    // Three pauses of a session, and the period of its rounds.
    assert.equal(lists.length, 4, yaml);
    const parameters = Object.entries(file.scenario!.parameters).map(
      ([name, value]) => `${name}: ${JSON.stringify(value)}`,
    );
    const plan = sessionPlan(parameters.join('\n'), { connections: clients.length, seed: 3 });
    const again = new Traffic();
    const bench = new SessionBench(plan, chat());
    bench.run(seconds * 1000, { warmupMs: (seconds * 1000) / sessionsEach, drainMs: 5000 });
    const fromUs = 5_000_000 + (seconds / sessionsEach) * 1e6;
    for (const { target, args, atUs } of bench.calls)
      if (atUs >= fromUs && atUs < fromUs + seconds * 1e6) again.add(target, args);
    assert.deepEqual(
      again.rows.map(([method]) => method).sort(),
      sent.rows.map(([method]) => method).sort(),
    );
    for (const [method, calls, bytes] of sent.rows) {
      // One more or less is no more than that of a hundred.
      assert.ok(calls >= 100, `${method}: ${calls}`);
      const [, calledAgain, bytesAgain] = again.rows.find(([name]) => name === method)!;
      within5Percent(calledAgain, calls, `${method}, calls\n${yaml}`);
      within5Percent(bytesAgain, bytes, `${method}, bytes\n${yaml}`);
    }
    assert.equal(bench.sample().sessions!.brokenOff, 0);
  });
});
