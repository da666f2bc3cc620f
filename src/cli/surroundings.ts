import type { Disposable } from '../base/event';
import type { EndingSignal } from './exitCode';

/** Where text goes. */
export interface Output {
  readonly isTerminal: boolean;
  /** Width and height of a terminal; undefined when unknown. */
  readonly columns: number | undefined;
  readonly rows: number | undefined;
  readonly write: (text: string) => void;
}

/** What a command sees of the process it runs in; tests put fakes in its place. */
export interface Surroundings {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Folder relative paths start from. */
  readonly cwd: string;
  /** Whether a person can be asked: both ends of {@link ask} are a terminal. */
  readonly interactive: boolean;
  /**
   * Asks on the terminal; undefined when the input ends.
   *
   * @throws SignalError when the person presses Ctrl+C instead
   */
  readonly ask: (question: string) => Promise<string | undefined>;
  /** Standard input as it comes. */
  readonly input: () => AsyncIterable<Uint8Array>;
  readonly onSignal: (listener: (signal: EndingSignal) => void) => Disposable;
  readonly now: () => Date;
}

/**
 * Whether the cursor may be moved: only when everything a person sees is a terminal, so that neither
 * stream of a redirected command gets control sequences.
 */
export function canRedraw({ stdout, stderr, env }: Surroundings): boolean {
  return stdout.isTerminal && stderr.isTerminal && env['TERM'] !== 'dumb';
}

/** Whether output may be coloured; `NO_COLOR` is honoured when it is not empty. */
export function canColour(surroundings: Surroundings): boolean {
  return canRedraw(surroundings) && !surroundings.env['NO_COLOR'];
}

/** Width to write for: that of the terminal, 80 where there is none. */
export function widthOf(output: Output): number {
  const { columns } = output;
  return output.isTerminal && columns !== undefined && columns > 0 ? columns : 80;
}
