import type { Scenario } from '../scenario/scenario';
import type { Endpoint } from '../wire/endpoint';
import type { ProblemListener, TargetProblems } from './targetProblems';

/** What a target needs from its surroundings. */
export interface TargetContext {
  /** Value of a `${secret:name}` or `${env:NAME}` reference; undefined when there is none. */
  reference(kind: 'env' | 'secret', name: string): string | undefined;
  /** Path of the script that runs `serve hub`, for the embedded hub. */
  readonly serverScript: string;
  /** Reads a file the scenario names, relative to the scenario file. */
  readFile(path: string): Promise<string>;
  /** Told what goes wrong with a server that was started for the target. */
  readonly onProblem?: ProblemListener;
}

/** A target ready for connections. */
export interface OpenTarget {
  readonly kind: 'local' | 'hubUrl' | 'connectionString';
  readonly endpoint: Endpoint;
  /** Values that must not be shown or stored wherever they turn up, such as in a server's error text. */
  readonly secrets: readonly string[];
  /** For people and results: no query, no secrets. */
  readonly url: string;
  /** Whether every host is this machine. */
  readonly loopback: boolean;
  /** Of the servers that were started for the target. */
  readonly problems?: TargetProblems;
  /** Stops what was started for the target. */
  dispose(): Promise<void>;
}

/** A kind of target: one file and one line in the registry. */
export interface Target {
  readonly kind: 'local' | 'hubUrl' | 'connectionString';
  /** @throws ExpectedError when the target cannot be opened */
  open(scenario: Scenario, context: TargetContext): Promise<OpenTarget>;
}
