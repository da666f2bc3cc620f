import assert from 'node:assert/strict';
import fc from 'fast-check';
import { parse } from 'yaml';
import { scenarioFromRecording } from '../../../../src/record/analyse/scenarioFromRecording';
import { MadeRecording } from './madeRecording';

/** A session as a scenario has it: calls, and loops of them. */
type MadeStep =
  | { readonly call: string }
  | { readonly repeat: number; readonly everyMs: number; readonly calls: readonly string[] };

/** Each call has another name, so that nothing but the loops is repeated. */
function named(
  shape: readonly (number | readonly [rounds: number, calls: number, everyMs: number])[],
): MadeStep[] {
  let next = 0;
  const name = (): string => `Call${next++}`;
  return shape.map((part) => {
    if (typeof part === 'number') return { call: name() };
    const [repeat, calls, everyMs] = part;
    return { repeat, everyMs, calls: Array.from({ length: calls }, name) };
  });
}

const pauseMs = 700;
const innerMs = 40;

/** Clients do the session one beside the other, `pauseMs` between steps. */
function rendered(session: readonly MadeStep[], clients: number): MadeRecording {
  const made = new MadeRecording();
  for (let client = 1; client <= clients; client++) {
    made
      .at(37 * client)
      .open(client)
      .wait(20);
    for (const step of session) {
      if ('call' in step) made.call(client, step.call, [5]).wait(1 + pauseMs);
      else {
        for (let round = 0; round < step.repeat; round++) {
          for (const call of step.calls) made.call(client, call, [5]).wait(1 + innerMs);
          made.wait(step.everyMs - step.calls.length * (1 + innerMs));
        }
        made.wait(pauseMs);
      }
    }
    made.close(client);
  }
  return made;
}

/** The steps as the scenario has to have them. */
function expected(session: readonly MadeStep[]): unknown[] {
  const call = (name: string) => ({ call: name, arguments: [5], reply: 'completion' });
  return session.flatMap((step, index): unknown[] => {
    const pause = index === 0 ? [] : [{ wait: `${pauseMs}ms` }];
    if ('call' in step) return [...pause, call(step.call)];
    const inner = step.calls.flatMap((name, at) =>
      at === 0 ? [call(name)] : [{ wait: `${innerMs}ms` }, call(name)],
    );
    return [...pause, { repeat: step.repeat, every: `${step.everyMs}ms`, steps: inner }];
  });
}

describe('a session that is rendered to a recording', () => {
  it('comes back with the same steps, loops and pauses', async () => {
    const loop = fc.tuple(
      fc.integer({ min: 2, max: 12 }),
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 200, max: 900 }),
    );
    // One call alone would be a session of its own kind: it is a loop without an end.
    const shapes = fc
      .array(fc.oneof(fc.constant(1), loop), { minLength: 2, maxLength: 8 })
      .filter((shape) => shape.length > 1);
    await fc.assert(
      fc.asyncProperty(shapes, fc.integer({ min: 1, max: 4 }), async (shape, clients) => {
        const session = named(shape);
        const { yaml, found } = await scenarioFromRecording(rendered(session, clients).recording);
        const { scenario } = parse(yaml!) as {
          scenario: { parameters: { steps: unknown } };
        };
        assert.deepEqual(scenario.parameters.steps, expected(session));
        assert.deepEqual(
          found.kinds.map((kind) => [kind.clients, kind.sessions, kind.unfinished]),
          [[clients, clients, 0]],
        );
      }),
      { numRuns: 25 },
    );
  });
});
