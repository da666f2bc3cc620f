import { randomBytes } from 'node:crypto';

/**
 * Names an app server as the SDK does: `{machine name}_{32 hexadecimal digits}`. It travels in a header, and
 * machines have names in every language.
 */
export function serverIdOn(machine: string): string {
  const name = machine.replace(/[^\x21-\x7e]/g, '-').slice(0, 64);
  return `${name}_${randomBytes(16).toString('hex')}`;
}
