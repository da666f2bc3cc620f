import assert from 'node:assert/strict';
import { findUseCase, useCases } from '../../../src/usecases/registry';
import { type Parameters, largestGroup } from '../../../src/usecases/parameters';
import { deliveriesPerMessage, type UseCase } from '../../../src/usecases/useCase';
import fc from 'fast-check';
import { numberDuplicates } from '../../../src/usecases/sessionSteps';

/** Defaults, and ten groups where a number of groups is required. */
const defaultsOf = (useCase: UseCase): Parameters =>
  Object.fromEntries(
    useCase.parameters
      // With these an own method has streams.
      .filter(({ name }) => name !== 'streamingItems')
      .map(({ name, type, default: fallback }) => [
        name,
        fallback ?? (type === 'list' ? '["{text}"]' : 10),
      ]),
  );

const load = { connections: 100, senders: 40 };

describe('the use cases', () => {
  it('have all those of the Azure SignalR benchmark, in its order', () => {
    const seed = [
      ...['echo', 'broadcast', 'sendToClient', 'sendToGroup'],
      ...['streamingEcho', 'frequentJoinLeaveGroup'],
      ...['restBroadcast', 'restSendToUser', 'restSendToGroup'],
      ...['restPersistBroadcast', 'restPersistSendToUser', 'restPersistSendToGroup'],
    ];
    const names = useCases.map(({ name }) => name);
    assert.deepEqual(
      names.filter((name) => seed.includes(name)),
      seed,
    );
  });

  it('have names and aliases that differ in more than letter case', () => {
    const names = useCases.flatMap(({ name, aliases }) => [name, ...aliases]);
    assert.equal(new Set(names.map((name) => name.toLowerCase())).size, names.length);
  });

  it('are found by name and alias in any letter case', () => {
    for (const useCase of useCases) {
      for (const name of [useCase.name, ...useCase.aliases]) {
        assert.equal(findUseCase(name), useCase);
        assert.equal(findUseCase(name.toUpperCase()), useCase);
      }
    }
    assert.equal(findUseCase('nothing'), undefined);
    assert.equal(findUseCase(''), undefined);
  });

  for (const useCase of useCases) {
    describe(useCase.name, () => {
      it('says in a sentence what it does, and where it exists', () => {
        assert.match(useCase.summary, /^[A-Z].*\.$/);
        assert.ok(useCase.services.length > 0);
      });

      it('has parameters with different names and defaults within their bounds', () => {
        const names = useCase.parameters.map(({ name }) => name);
        assert.equal(new Set(names).size, names.length);
        for (const spec of useCase.parameters) {
          const absent = spec.required === true || spec.optional === true;
          assert.equal(spec.default === undefined, absent, spec.name);
          if (spec.type === 'choice' && spec.optional !== true)
            assert.ok(spec.choices?.includes(String(spec.default)));
          if (typeof spec.default !== 'number') continue;
          assert.ok(spec.default >= (spec.minimum ?? -Infinity), spec.name);
          assert.ok(spec.default <= (spec.maximum ?? Infinity), spec.name);
        }
      });

      it('has traffic of its senders, of one second and 2 KB by default', () => {
        for (const service of useCase.services) {
          const traffic = useCase.traffic(defaultsOf(useCase), load, service);
          // Each call of a session is a traffic of its own.
          if (['connectOnly', 'session', 'replay'].includes(useCase.name)) {
            assert.equal(traffic, undefined);
            continue;
          }
          assert.equal(traffic?.senders, 40);
          // The user's own arguments count as JSON text: two brackets and two quotes more.
          assert.equal(traffic.messageBytes, useCase.name === 'invoke' ? 2052 : 2048);
          assert.equal(traffic.intervalS, useCase.name === 'streamingEcho' ? 0.5 : 1);
        }
      });
    });
  }

  it('deliver each message to as many connections as their name says', () => {
    const deliveries = {
      ...{ echo: 1, broadcast: 100, sendToClient: 1, sendToGroup: 10, streamingEcho: 2 },
      ...{ frequentJoinLeaveGroup: 10, invoke: 1, connectOnly: 0 },
      ...{ restBroadcast: 100, restSendToUser: 1, restSendToGroup: 10 },
      ...{ restPersistBroadcast: 100, restPersistSendToUser: 1, restPersistSendToGroup: 10 },
    };
    for (const [name, expected] of Object.entries(deliveries)) {
      const useCase = findUseCase(name)!;
      assert.equal(deliveriesPerMessage(useCase, defaultsOf(useCase), load), expected, name);
    }
  });

  it('that echo over Web PubSub are upstream calls', () => {
    const echo = findUseCase('echo')!;
    assert.equal(echo.traffic(defaultsOf(echo), load, 'webpubsub')?.kind, 'upstream_echo');
    assert.equal(echo.traffic(defaultsOf(echo), load, 'signalr')?.kind, 'echo');
  });
});

/** Lets every connection join, one by one. */
function countedLargest(connections: number, groupCount: number, perConnection: number): number {
  const members = new Array<number>(groupCount).fill(0);
  for (let connection = 0; connection < connections; connection++) {
    for (let joined = 0; joined < Math.min(perConnection, groupCount); joined++) {
      members[(connection + joined) % groupCount]! += 1;
    }
  }
  return Math.max(...members);
}

describe('the largest group', () => {
  it('is what counting gives', () => {
    const numbers = fc.tuple(
      fc.integer({ min: 1, max: 120 }),
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: 50 }),
    );
    fc.assert(
      fc.property(numbers, ([connections, groupCount, groupsPerConnection]) => {
        assert.equal(
          largestGroup({ groupCount, groupsPerConnection }, connections),
          countedLargest(connections, groupCount, groupsPerConnection),
        );
      }),
      { numRuns: 300 },
    );
  });

  it('without a number of groups is a defect, not a number', () => {
    assert.throws(() => largestGroup({ groupsPerConnection: 1 }, 10), /groupCount/);
  });
});

describe('numberDuplicates', () => {
  it('numbers only what is there several times', () => {
    assert.deepEqual(numberDuplicates(['echo', 'broadcast', 'echo']), [
      'echo 1',
      'broadcast',
      'echo 2',
    ]);
    assert.deepEqual(numberDuplicates(['echo']), ['echo']);
  });
});
