import { stampBytes } from '../../base/stampBytes';
import type { PayloadSize } from '../../usecases/payloadSizes';
import { findUseCase } from '../../usecases/registry';
import { hubRunOf, type HubRun } from '../../usecases/useCase';
import type { ScenarioEntry } from '../scenario';

/** Why an entry cannot be run in the dialect measure, and the parameter at fault, if one is. */
export interface MeasureProblem {
  readonly parameter?: 'payload' | 'messageSize';
  readonly message: string;
}

interface Entry {
  /** Of the use case. */
  readonly name: string;
  readonly run: HubRun;
  readonly payload: { readonly sizes: readonly PayloadSize[]; readonly content: unknown };
}

/** Whether a use case needs a hub with methods of the bench contract. */
export const needsContract = ({ audience, ownCall }: HubRun): boolean =>
  audience !== 'nobody' && ownCall === undefined;

/**
 * Checks an entry against the contract `Measure(ticks, payload)`; undefined when it can be run there, or
 * needs no contract at all.
 */
export function measureProblem({ name, run, payload }: Entry): MeasureProblem | undefined {
  if (!needsContract(run)) return undefined;
  if (run.message?.measureMethod === undefined) {
    return { message: `The dialect measure has no hub method for ${name}.` };
  }
  if (payload.content === 'binary') {
    return {
      parameter: 'payload',
      message: 'In the dialect measure payloads are text: remove payload: binary.',
    };
  }
  if (payload.sizes.every(({ bytes }) => bytes >= stampBytes)) return undefined;
  return {
    parameter: 'messageSize',
    message: `In the dialect measure the payload begins with the ${stampBytes} bytes by which a message is recognised: messages of ${name} need at least ${stampBytes} bytes.`,
  };
}

/** What tells whether numbers above 2^53 can be sent. */
interface NumberWay {
  readonly driver?: 'native' | 'sdk' | undefined;
  readonly protocol: string;
}

/**
 * Why ticks cannot be sent that way; undefined when they can. The package `@msgpack/msgpack` 2 of the
 * official client knows no bigint, and writes numbers above 2^53 as floating point, which hubs refuse.
 */
export const ticksProblem = ({ driver, protocol }: NumberWay): string | undefined =>
  driver === 'sdk' && protocol === 'messagepack'
    ? 'The official client cannot write ticks, which are whole numbers of 64 bits, in messagepack: set driver to native, or protocol to json.'
    : undefined;

/** Whether an entry's messages have ticks for a number. */
export function sendsTicks({ name, parameters }: ScenarioEntry, dialect: string): boolean {
  const useCase = findUseCase(name);
  const run = useCase === undefined ? undefined : hubRunOf(useCase, parameters);
  if (run === undefined) return false;
  // A placeholder is a number where it is the whole text.
  if (run.ownCall !== undefined) {
    const items = run.streams?.own?.items ?? '';
    return `${run.ownCall.arguments}${items}`.includes('"{ticks}"');
  }
  return dialect === 'measure' && needsContract(run);
}
