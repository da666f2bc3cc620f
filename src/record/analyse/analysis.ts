import { addCount, getOrCreate } from '../../base/collect';
import { secretReferences, recordedTarget } from '../clientsConfig';
import type { OpenEvent, RecordingHeader } from '../recording';
import { secretNamesIn } from '../yamlText';
import { mostSecrets } from './arguments';
import { findCauses, findGreetings } from './causes';
import { findMethodCallbacks, type MethodCallback } from './methodCallbacks';
import { planConnections, type ConnectionPlan } from './connectionPlan';
import {
  findEarlierValues,
  unusedName,
  placeholderNames,
  type EarlierValues,
  type ValueSource,
} from './earlierValues';
import { IdentityColumns } from './identityColumns';
import {
  callStepsIn,
  chosenStepsIn,
  findClientKinds,
  type CallStep,
  type ClientKind,
} from './kinds';
import { findRooms, type Rooms } from './rooms';
import type { Trace, TracedCall } from './trace';
import { jsonPathOf, lastName, urlWithoutKeys } from './values';

/** Nobody reads more kinds. */
const mostKinds = 20;

/** What was found in a recording of a hub, before anything of it is written. */
export class Analysis {
  readonly target: string;
  readonly secretKeys: Readonly<Record<string, unknown>>;
  readonly greetings: ReadonlySet<string>;
  readonly methodCallbacks: readonly MethodCallback[];
  readonly kinds: readonly ClientKind[];
  readonly crowd: ConnectionPlan;
  readonly rooms: Rooms;
  readonly earlierValues: EarlierValues;
  readonly identities = new IdentityColumns();
  /** JSONPath to the placeholder of each value that is sent back. */
  readonly names = new Map<ValueSource, Map<string, string>>();
  readonly leftOut: Map<string, number>;

  constructor(
    readonly header: RecordingHeader,
    readonly trace: Trace,
  ) {
    const { clients, endUs } = trace;
    const opens = clients.map(({ open }) => open);
    this.leftOut = new Map(trace.leftOut);
    this.target = urlWithoutKeys(recordedTarget(header.target, opens));
    this.secretKeys = this.withOwnTokens(secretReferences(opens, this.target));
    this.greetings = findGreetings(trace);
    findCauses(trace);
    this.methodCallbacks = findMethodCallbacks(trace);
    this.kinds = this.readableKinds(findClientKinds(trace));
    const onlyStream = new Set(
      trace.streamsBeside.map(({ client }) => client).filter(({ calls }) => calls.length === 0),
    );
    this.crowd = planConnections(
      { clients: clients.filter((client) => !onlyStream.has(client)), endUs },
      this.kinds.filter(({ streams }) => streams === undefined).map((kind) => kind.clients),
      true,
      this.kinds.flatMap(({ streams }) => (streams === undefined ? [] : [streams])),
    );
    this.rooms = this.usableRooms(findRooms(trace, this.methodCallbacks));
    this.earlierValues = this.findEarlierValues();
    this.nameValues();
  }

  leave(what: string, times?: number): void {
    addCount(this.leftOut, what, times);
  }

  /** A single room keeps its name: the hub may know no other. */
  get roomNames(): ReadonlySet<string> {
    return this.rooms.inSeveral ? new Set() : this.rooms.names;
  }

  groupChange({ method, form }: CallStep): 'join' | 'leave' | undefined {
    if (form === 'stream') return undefined;
    if (this.rooms.joinMethods.has(method)) return 'join';
    return this.rooms.leaveMethods.has(method) ? 'leave' : undefined;
  }

  /** Clients with different tokens get one each, unless there are more than people set by hand. */
  private withOwnTokens(keys: Readonly<Record<string, unknown>>): typeof keys {
    const numbers = new Map<number, number>();
    for (const { id, open } of this.trace.clients)
      if (hasTokenNumber(open)) numbers.set(id, open.tokenNumber);
    const different = new Set(numbers.values()).size;
    const [name] = secretNamesIn(keys['accessToken']);
    if (name === undefined || different < 2 || different > mostSecrets) return keys;
    this.identities.tokens(name, numbers);
    return { ...keys, accessToken: undefined };
  }

  /** A connection of a run is in one room: of clients in several, nothing is counted for a room. */
  private usableRooms(rooms: Rooms): Rooms {
    if (!rooms.inSeveral) return rooms;
    this.leave('client in several rooms: no callback is counted for a room');
    return { ...rooms, joinMethods: new Set(), leaveMethods: new Set() };
  }

  private readableKinds(kinds: readonly ClientKind[]): readonly ClientKind[] {
    for (const { clients } of kinds.slice(mostKinds))
      this.leave(`clients of further kinds, beyond ${mostKinds}`, clients.length);
    return kinds.slice(0, mostKinds);
  }

  private findEarlierValues(): EarlierValues {
    const stepOf = new Map<TracedCall, CallStep>();
    const places = new Map<CallStep, number>();
    for (const step of this.kinds.flatMap(({ steps }) => callStepsIn(steps))) {
      places.set(step, places.size);
      for (const call of step.calls) stepOf.set(call, step);
    }
    const chosen = new Set(this.kinds.flatMap(({ steps }) => chosenStepsIn(steps)));
    const firsts = new Set(this.kinds.map(({ steps }) => callStepsIn(steps)[0]));
    return findEarlierValues(this.trace.clients, {
      stepOf,
      isBefore: ({ from, turn }, step) => {
        if (turn === 'before' && firsts.has(from)) return false;
        if (turn === 'before' && from === step) return true;
        // One of several options may not have been done.
        return places.get(from)! < places.get(step)! && !chosen.has(from);
      },
      rooms: this.roomNames,
    });
  }

  private nameValues(): void {
    const taken = new Set(placeholderNames);
    for (const { source, path } of [...this.earlierValues.values()].flatMap((values) => [
      ...values.values(),
    ])) {
      const named = getOrCreate(this.names, source, () => new Map<string, string>());
      getOrCreate(named, jsonPathOf(path), () => {
        const name = unusedName(lastName(path) ?? source.event ?? source.from.method, taken);
        taken.add(name);
        return name;
      });
    }
  }
}

const hasTokenNumber = (open: OpenEvent): open is OpenEvent & { tokenNumber: number } =>
  Number.isSafeInteger(open.tokenNumber);
