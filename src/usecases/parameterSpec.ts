/**
 * Description of one key of a scenario file. Everything that shows or checks the key is derived from
 * it: parser, JSON schema, completion, hover and documentation.
 */
export interface ParameterSpec {
  /** The key as written in the file. */
  readonly name: string;
  /**
   * How the value is written and in which unit the parsed value is kept: `size` in bytes, `duration` in
   * milliseconds, `share` as 0…1, `count` and `number` as they are. A `list` holds any values and is kept
   * as JSON text.
   */
  readonly type:
    'size' | 'duration' | 'share' | 'count' | 'number' | 'choice' | 'text' | 'flag' | 'list';
  /** Parsed default; absent when the key has none. */
  readonly default?: number | string | boolean;
  readonly required?: boolean;
  /** Neither required nor with a default: absent unless written. */
  readonly optional?: boolean;
  /** Bounds of the parsed value, both included. */
  readonly minimum?: number;
  readonly maximum?: number;
  /**
   * A bare number in this range (`from` ≤ value < `below`, in the unit of the type) was probably meant
   * in `unit`; people are asked to write the unit.
   */
  readonly unitMistake?: { readonly from: number; readonly below: number; readonly unit: string };
  /** Allowed texts of a `choice`. */
  readonly choices?: readonly string[];
  /** One sentence for people. */
  readonly summary: string;
  /** What the Azure SignalR benchmark did differently, where it did. */
  readonly seedNote?: string;
}

/** Parsed parameters of a use case by name, in the units of {@link ParameterSpec.type}. */
export type Parameters = Readonly<Record<string, number | string | boolean>>;

/** A numeric parameter that the parser has filled in; a missing one is a defect of ours. */
export function numberOf(parameters: Parameters, name: string): number {
  const value = parameters[name];
  if (typeof value !== 'number') throw new Error(`parameter ${name} is no number`);
  return value;
}
