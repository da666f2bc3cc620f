/** What `record` offers. */
import { InvalidArgumentError, Option } from 'commander';
import { parseDurationMs } from '../../base/units';
import { wholeNumber, withExample, type AddCommands } from './commandTree';
import type { RecordFlags } from '../commands/recordCommand';
import type { OnDemand } from '../loadOnDemand';

export const addRecord: AddCommands<OnDemand> = (program, carryOut) => {
  withExample(
    program.command('record'),
    'record --target http://localhost:5050/chat --out chat.signalr.yaml\n\nThe first line on standard output is {"url":…}: what clients use in place of the target.',
  )
    .description('Record what clients of a hub do, through a proxy on this machine.')
    .requiredOption(
      '--target <url>',
      'URL that clients begin with: of the hub, or of what answers negotiate',
    )
    .option('--port <n>', 'port on loopback, 0 for any free one', wholeNumber(0, 65_535), 0)
    .option('--out <file>', 'scenario to write; the recording goes beside it')
    .option('--for <duration>', 'end by itself, such as 60s', duration)
    .option('--until-gone', 'end when all clients have been gone for 5 s')
    .option('--ca-file <file>', "authority of the target's certificate, in PEM form")
    .option('--insecure-tls', 'accept any certificate of the target, for test systems only')
    .option('--force', 'replace files that are there')
    .option('--json', 'print what was recorded as JSON')
    .addOption(new Option('--exit-with-stdin').hideHelp())
    .action(
      carryOut(
        ({ onRecord }) =>
          async (flags: RecordFlags, ...more: [never, never]) =>
            (await onRecord()).recordCommand(flags, ...more),
      ),
    );
};

/** Milliseconds, at least a second and at most a week. */
function duration(text: string): number {
  const value = parseDurationMs(text.trim());
  if (value === undefined || value < 1000 || value > 7 * 24 * 3_600_000)
    throw new InvalidArgumentError('Expected a duration from 1s to 168h, such as 60s.');
  return value;
}
