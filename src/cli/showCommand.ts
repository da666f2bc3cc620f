import { readResult } from '../results/readResult';
import { exitCode } from './exitCode';
import { finalScreen, interruptedScreen } from './finalScreen';
import { paintAll } from './line';
import { canColour, widthOf, type Surroundings } from './surroundings';

/** The last screen of a stored run, also of one that was interrupted by a crash. */
export async function showCommand(location: string, surroundings: Surroundings): Promise<number> {
  const { stdout } = surroundings;
  const run = await readResult(location);
  const width = widthOf(stdout);
  const lines =
    run.kind === 'result'
      ? finalScreen(run.result, width, run.path)
      : interruptedScreen(run, width);
  stdout.write(paintAll(lines, canColour(surroundings)));
  return exitCode.done;
}
