import { sideBySide } from '../fakes/sideBySide';
import { killCase, killTitle, runKillCase, victims } from './killCases';
import { needsLinux } from '../fakes/skipAloud';

const seed = Number(process.env['TEST_SEED'] ?? 1);

/** The first seed from there on that hits that victim. */
function seedOf(victim: string): number {
  let at = seed;
  while (killCase(at).victim !== victim) at += 1;
  return at;
}

describe('a run of which something is killed', function () {
  before(function () {
    needsLinux(this, 'the list of child processes in /proc');
  });
  const test = sideBySide();

  for (const victim of victims) {
    const kill = killCase(seedOf(victim));
    test(`leaves what is true: seed ${kill.seed}, ${killTitle(kill)}`, () => runKillCase(kill));
  }
});
