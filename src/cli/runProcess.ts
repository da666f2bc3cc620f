import { exitCode } from './exitCode';
import { flushed } from './io';

/** Makes a program the whole of its process: what it returns is the exit code, once all is written. */
export function runProcess(program: () => Promise<number>): void {
  // Whatever escapes is a defect of ours.
  process.on('uncaughtException', (error) => {
    process.stderr.write(`${error.stack ?? String(error)}\n`);
    process.exit(exitCode.defect);
  });
  void program().then(async (code) => {
    await flushed();
    process.exit(code);
  });
}
