import { ExpectedError } from '../../base/expectedError';
import { services } from '../../base/serviceTraits';
import { presetOf, type GroupShape, type PresetChoice } from '../../capacity/start/preset';
import { didYouMean } from '../../scenario/text/words';
import { isReplay } from '../../run/scenarioFile';
import { findUseCase, useCases } from '../../usecases/registry';
import { needsApplication, type UseCase } from '../../usecases/useCase';
import { exitCode } from '../exitCode';
import type { ProcessIo } from '../io';
import path from 'node:path';
import { createFile, replaceFile } from '../../results/safeFiles';
import { describeFileError } from '../../results/resultFolder';

interface InitFlags {
  readonly useCase?: string;
  readonly unit: number;
  readonly service: PresetChoice['service'];
  readonly groups: GroupShape;
  readonly force?: boolean;
}

/** Writes the set-up of a performance guide. @throws ExpectedError */
export async function initCommand(
  file: string | undefined,
  flags: InitFlags,
  { stdout, stderr, cwd }: ProcessIo,
): Promise<number> {
  const { unit, service, groups, force } = flags;
  const answersItself = services[service].appServers === 'ofRun';
  const usual = useCases.find(
    (one) => one.services.includes(service) && (answersItself || !needsApplication(one)),
  )!;
  const { useCase = usual.name } = flags;
  const named = useCaseNamed(useCase);
  if (isReplay(named))
    throw new ExpectedError(
      'preset',
      'A replay needs a recording: `signalr-bench record` makes one, and `run` takes it in place of a scenario file.',
    );
  const { text } = presetOf(named, { unit, service, groups });
  if (file === undefined) {
    stdout.write(text);
    return exitCode.done;
  }
  await writeNewFile(text, { file, force }, 'init-file', { cwd });
  stderr.write(`wrote ${file}\n`);
  return exitCode.done;
}

function useCaseNamed(name: string): UseCase {
  const useCase = findUseCase(name);
  if (useCase !== undefined) return useCase;
  const names = useCases.map((known) => known.name);
  const meant = didYouMean(name, names);
  const question = meant === undefined ? '' : ` Did you mean ${meant}?`;
  throw new ExpectedError(
    'use-case',
    `There is no use case "${name.slice(0, 60)}".${question} Known are ${names.join(', ')}.`,
  );
}

/** Replaces an existing file only with --force. @throws ExpectedError with that code */
export async function writeNewFile(
  text: string,
  { file, force = false }: { readonly file: string; readonly force?: boolean },
  code: string,
  { cwd }: Pick<ProcessIo, 'cwd'>,
): Promise<void> {
  try {
    await (force ? replaceFile : createFile)(path.resolve(cwd, file), text);
  } catch (cause) {
    const system = (cause as NodeJS.ErrnoException).code;
    const why = system === 'ENOENT' ? 'there is no such folder' : describeFileError(cause);
    const message =
      system === 'EEXIST' ? fileExistsMessage(file) : `${file} cannot be written: ${why}.`;
    throw new ExpectedError(code, message, { cause });
  }
}

export const fileExistsMessage = (file: string): string =>
  `There is a file ${file} already. Name another one, or replace it with --force.`;
