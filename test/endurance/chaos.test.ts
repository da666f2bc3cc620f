import { sideBySide } from '../fakes/sideBySide';
import { fewCases, randomCase, runChaosCase } from './chaosCases';

/** One and all: each of them holds, so a new seed in each run tries new ones. A failure names its seed. */
const seed = Number(process.env['TEST_SEED'] ?? 1);
const randomCount = 2;

describe('a run through a link with faults', function () {
  const test = sideBySide();

  const cases = [
    ...fewCases(seed),
    ...Array.from({ length: randomCount }, (_, at) => randomCase(seed + at)),
  ];
  for (const chaos of cases)
    test(`is counted to the message: seed ${chaos.seed}, ${chaos.title}`, () =>
      runChaosCase(chaos));
});
