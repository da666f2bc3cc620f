/** Declares a test, as mocha's `it` does. */
export type DeclareTest = (title: string, body: () => Promise<unknown>) => void;

/**
 * Tests that run beside each other, at most `atOnce` of them: for runs of which only what a busy machine
 * does not change is judged, such as counts. Called in a `describe`, after the hooks that the bodies need;
 * all bodies begin before the first of these tests, and each test waits for its own.
 */
export function sideBySide(atOnce = 4): DeclareTest {
  const bodies: (() => Promise<unknown>)[] = [];
  const outcomes: Promise<unknown>[] = [];

  before('tests side by side begin', () => {
    bodies.forEach((body, index) => {
      // Each waits for the one that began `atOnce` before, however that ended.
      const outcome = Promise.resolve(outcomes[index - atOnce]).then(body, body);
      // A failure is for the test that waits for it.
      outcome.catch(() => undefined);
      outcomes.push(outcome);
    });
  });
  return (title, body) => {
    const index = bodies.push(body) - 1;
    let tries = 0;
    it(title, async () => {
      tries += 1;
      // Tried again, it is alone.
      await (tries === 1 ? outcomes[index] : body());
    });
  };
}
