import { InvalidArgumentError } from 'commander';
import { signalrEditions, type Edition } from '../capacity/model';
import type { SetKey } from '../results/scenarioCopy';

/** Readers of flag values for the command line; each throws what the parser shows to the person. */

export function wholeNumber(minimum: number, maximum: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
    if (!(value >= minimum && value <= maximum)) {
      throw new InvalidArgumentError(`Expected a whole number from ${minimum} to ${maximum}.`);
    }
    return value;
  };
}

/** `key=value`, repeated. */
export function setKey(text: string, previous: readonly SetKey[] = []): readonly SetKey[] {
  const equals = text.indexOf('=');
  const path = text.slice(0, Math.max(0, equals)).trim();
  if (path === '') {
    throw new InvalidArgumentError('Expected key=value, such as config.connections=100.');
  }
  return [...previous, { path, value: text.slice(equals + 1) }];
}

/** A share of the published limits: `0.7` or `70%`. */
export function headroom(text: string): number {
  const [, digits, percent] = /^(\d+(?:\.\d+)?)\s*(%?)$/.exec(text.trim()) ?? [];
  const value = digits === undefined ? NaN : Number(digits) / (percent ? 100 : 1);
  if (!(value > 0 && value <= 1)) {
    throw new InvalidArgumentError('Expected a number above 0 and up to 1, such as 0.7.');
  }
  return value;
}

/** An amount of money, in whatever currency. */
export function amount(text: string): number {
  const value = /^\d{1,9}(\.\d{1,6})?$/.test(text.trim()) ? Number(text) : NaN;
  if (Number.isNaN(value)) throw new InvalidArgumentError('Expected an amount, such as 1.2.');
  return value;
}

/** Hours, at most those of ten years. */
export function hours(text: string): number {
  const value = /^\d{1,5}(\.\d{1,6})?$/.test(text.trim()) ? Number(text) : NaN;
  if (!(value > 0 && value <= 87_600)) {
    throw new InvalidArgumentError('Expected a number of hours, above 0 and up to 87600.');
  }
  return value;
}

export function edition(text: string): Edition {
  const found = signalrEditions.find((name) => name === text);
  if (!found) throw new InvalidArgumentError(`Expected ${signalrEditions.join(' or ')}.`);
  return found;
}
