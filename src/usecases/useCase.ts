import type { HubMessage, HubMethod } from './hubMethod';
import type { Parameters, ParameterSpec } from './parameterSpec';
import type { StreamShape } from './streams';
import type { Load, Service, Traffic } from './traffic';

/** What a connection does once after connecting, before the first step. */
export type Preparation = 'nothing' | 'connectionId' | 'joinGroups';

/** Who receives a message: the sender, one other connection, the members of a group, everybody, or, where nothing is sent, nobody. */
export type Audience = 'self' | 'client' | 'group' | 'everyone' | 'nobody';

/** A call of the user's own hub method. */
export interface OwnCall {
  readonly method: string;
  /** A list as JSON text, see {@link import('./ownArguments').ownArguments}. */
  readonly arguments: string;
  /** What comes back for it. */
  readonly reply: 'completion' | 'stream' | 'callback' | 'none';
  /** Client method that brings the first text of the arguments back. */
  readonly callback?: string;
}

/** How a use case runs over hub connections. */
export interface HubRun {
  readonly preparation: Preparation;
  readonly audience: Audience;
  /** A message of the bench contracts. */
  readonly message?: HubMessage;
  /** A message of the user's own; without either, nothing is sent, or {@link streams} are. */
  readonly ownCall?: OwnCall;
  /** The connection's id is needed beside the preparation, to be written into messages. */
  readonly needsId?: boolean;
  /** Hub method that joins a group; `JoinGroup` when absent. */
  readonly joinMethod?: string;
  /** Streams are sent instead of messages. */
  readonly streams?: StreamShape;
  /**
   * How messages reach the service: one REST call each, or one server connection for all; absent: over the
   * sender's own connection.
   */
  readonly via?: 'rest' | 'persistent';
  /** Connections that do not send keep joining and leaving their groups instead of staying in them. */
  readonly othersMove?: boolean;
}

/**
 * A use case: one file and one line in the registry. The name is stable, it is stored in scenario files.
 */
export interface UseCase {
  readonly name: string;
  /** Other spellings that are understood. */
  readonly aliases: readonly string[];
  /** One sentence for people. */
  readonly summary: string;
  /** Services on which the use case exists. */
  readonly services: readonly Service[];
  readonly parameters: readonly ParameterSpec[];
  /** Methods of the bench contracts that it needs a hub to have, if any. */
  readonly hubMethods?: readonly HubMethod[];
  /** The performance guides have a table of its own for it, so that there is a set-up of theirs. */
  readonly inGuides?: boolean;
  /** Sentence on what the published tables do not know of it, where estimates have to assume something. */
  readonly assumption?: string;
  /** Parameters that new files begin with, as written there; absent: all that have a default. */
  readonly starting?: Readonly<Record<string, string>>;
  /** Traffic for the estimate; undefined where the published tables have no such traffic. */
  traffic(parameters: Parameters, load: Load, service: Service): Traffic | undefined;
  /** Receivers of one message when all connections are up. */
  deliveries(parameters: Parameters, load: Load): number;
  readonly run: HubRun;
  /** How it runs with given parameters, where that depends on them. */
  runWith?(parameters: Parameters): HubRun;
}

/** What a file that names no use case runs; the name alone, for what must not load the others. */
export const usualUseCase = 'echo';

/** How a use case runs with these parameters. */
export const hubRunOf = (useCase: UseCase, parameters: Parameters): HubRun =>
  useCase.runWith?.(parameters) ?? useCase.run;

/** Whether a use case sends through the REST API of a service. */
export const isRest = ({ run }: UseCase): boolean => run.via !== undefined;

/**
 * Whether the handler behind a service in serverless mode can answer: streams do not reach it, and methods of
 * the user's own are not in ours.
 */
export const runsUpstream = ({ run }: UseCase): boolean =>
  run.message !== undefined || run.audience === 'nobody';

/**
 * Whether an application behind Azure Web PubSub has to answer: what clients send there goes to a group, or to
 * the application.
 */
export const needsApplication = ({ run }: UseCase): boolean =>
  run.message !== undefined && run.via === undefined && run.audience !== 'group';
