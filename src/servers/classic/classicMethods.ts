/** Methods beside the bench contract, to try what only this protocol has: progress, state, and errors with data. */
import type { ClassicCaller } from './classicConnection';
import type { ClassicMessage } from './classicProtocol';

const mostSteps = 1000;

type Method = (caller: ClassicCaller, message: ClassicMessage, id: string) => boolean;

const text = (value: unknown): Buffer => Buffer.from(JSON.stringify(value), 'utf8');

/** Reports 1 to n as progress, sets the state `counted`, and returns n. */
const countUp: Method = (caller, message, I) => {
  const n = message.argumentCount === 1 ? caller.protocol.integer(message.argument(0)) : undefined;
  if (n === undefined || n < 0 || n > mostSteps) return false;
  for (let D = 1; D <= n; D++) caller.connection.write(text({ I: `P|${I}`, P: { I, D } }));
  caller.write(text({ S: { counted: n }, R: n, I }));
  return true;
};

/** Throws a `HubException` with the text that it gets, and with data. */
const fail: Method = (caller, message, I) => {
  const argument = message.argumentCount === 1 ? message.argument(0) : undefined;
  const E = argument && caller.protocol.text(argument);
  if (E === undefined) return false;
  caller.write(text({ I, H: true, E, D: { method: 'Fail' } }));
  return true;
};

const methods: Readonly<Record<string, Method>> = { countup: countUp, fail };

/** @returns false for a method that is none of these, or another form of one */
export function ranClassicMethod(caller: ClassicCaller, message: ClassicMessage): boolean {
  const method = Object.hasOwn(methods, message.target.toLowerCase())
    ? methods[message.target.toLowerCase()]
    : undefined;
  return method?.(caller, message, message.invocationId ?? '') ?? false;
}
