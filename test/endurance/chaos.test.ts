import { sideBySide } from '../fakes/sideBySide';
import { randomCase, runChaosCase, singleCases } from './chaosCases';

/** One and all: each of them holds, so a new seed in each run tries new ones. A failure names its seed. */
const seed = Number(process.env['TEST_SEED'] ?? 1);
/** A step coprime with the number of ways: each fault once, over another transport each. */
const stride = 6;
const randomCount = 4;

describe('a run through a link with faults', function () {
  const test = sideBySide();

  const cases = [
    ...singleCases(seed).filter((_, at) => at % stride === 0),
    ...Array.from({ length: randomCount }, (_, at) => randomCase(seed + at)),
  ];
  for (const chaos of cases)
    test(`is counted to the message: seed ${chaos.seed}, ${chaos.title}`, () =>
      runChaosCase(chaos));
});
