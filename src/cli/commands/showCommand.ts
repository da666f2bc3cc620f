import { readResult } from '../../results/readResult';
import { exitCode } from '../exitCode';
import { finalScreen, interruptedScreen } from '../views/finalScreen';
import { lazyCommands } from '../loadLazyCommands';
import { paintAll } from '../views/line';
import { canColour, widthOf, type Surroundings } from '../surroundings';

/**
 * The last screen of a stored run, also of one that was interrupted by a crash; or its summary in the
 * order of the Azure SignalR benchmark.
 */
export async function showCommand(
  location: string,
  { summary = false }: { readonly summary?: boolean },
  surroundings: Surroundings,
): Promise<number> {
  const { stdout } = surroundings;
  const run = await readResult(location);
  if (summary) {
    const { summaryOf } = await lazyCommands();
    stdout.write((await summaryOf(run)).map((line) => `${line}\n`).join(''));
    return exitCode.done;
  }
  const width = widthOf(stdout);
  const lines =
    run.kind === 'result'
      ? finalScreen(run.result, width, run.path)
      : interruptedScreen(run, width);
  stdout.write(paintAll(lines, canColour(surroundings)));
  return exitCode.done;
}
