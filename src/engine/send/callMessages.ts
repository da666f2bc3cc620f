import type { Row } from '../../base/personalText';
import { createPayloadPicker, type PayloadPicker } from '../../plan/draws';
import type { Plan, PlanEntry } from '../../plan/plan';
import {
  argumentBytes,
  nameLengthExcess,
  placeholdersIn,
  rowPlaceholders,
  fillRowValues,
  type CallArgument,
  type RowsOfMessage,
  mostSizesOfCall,
  sizedArguments,
  mapTexts,
} from '../../usecases/ownArguments';
import { argumentsOfStep, type CountedStep, type KeepPaths } from '../../usecases/sessionSteps';
import type { HubConnection } from '../../wire/hub/clientConnection';
import type { MessageShape } from '../../wire/message/messageLayout';
import {
  holeLengths,
  MessageTemplate,
  type SenderFields,
} from '../../wire/message/messageTemplate';
import { codecForProtocol } from '../../wire/connect/connectHub';
import type { Stamp } from '../../wire/message/stamp';
import { decimalDigits, buildArguments } from './messageShape';
import { bytesBeyondEstimate } from '../prepare/payloadFiles';
import type { SenderDependencies } from './entrySender';
import { compileJsonPath } from '../../usecases/jsonPath';

interface CallForm {
  readonly method: string;
  readonly sized: readonly (readonly CallArgument[])[];
  readonly payload: PayloadPicker;
  readonly namesBeyond: ReturnType<typeof nameLengthExcess>;
  /** Holds kept values: each message is encoded anew. */
  readonly takesKept: boolean;
  readonly takesRows: boolean;
  readonly takesData: boolean;
  readonly opensStream: boolean;
  readonly isAnswered: boolean;
}

export interface SessionValues {
  kept: KeptValues | undefined;
  row: Row | undefined;
}

/** Messages of a session's calls, encoded once unless they hold kept or row values. */
export class CallMessages {
  private readonly forms: readonly CallForm[];
  private readonly templates = new Map<number, MessageTemplate>();
  wireBytes = 0;
  payloadBytes = 0;

  constructor(
    private readonly plan: Plan,
    private readonly entry: PlanEntry,
    steps: readonly CountedStep[],
    private readonly dependencies: Pick<SenderDependencies, 'framed' | 'rows' | 'codec'>,
  ) {
    this.forms = steps.map((step) => {
      const items = argumentsOfStep(step);
      const beyond = bytesBeyondEstimate(items, entry.files ?? {});
      const sized = sizedArguments(items);
      const sizes = sized.map(({ items: one, weight }) => ({
        ...{ bytes: argumentBytes(one) + beyond, weight },
      }));
      return {
        method: step.kind === 'on' ? '' : step.method,
        ...{ sized: sized.map(({ items: one }) => one), namesBeyond: nameLengthExcess(items) },
        payload: createPayloadPicker(sizes, plan.seed),
        takesKept: placeholdersIn(items).some(({ name }) => name === 'kept'),
        takesRows: rowPlaceholders(items).length > 0,
        takesData: rowPlaceholders(items).some(({ name }) => name === 'data'),
        opensStream: step.kind === 'stream',
        isAnswered: step.kind === 'call' && step.reply === 'completion',
      };
    });
  }

  /**
   * Sends a call; returns the name of a kept value that is missing, else undefined. @param asks requests a completion
   * that is not counted
   */
  send(
    call: number,
    connection: HubConnection,
    stamp: Stamp,
    receiver: Buffer | undefined,
    source: SenderFields,
    { asks, session, unixMs }: { asks: boolean; session: SessionValues; unixMs: number },
  ): string | undefined {
    const form = this.forms[call]!;
    const { payload } = form;
    const size = payload.pick(stamp.source, 0, stamp.sequence);
    const written = form.sized[size]!;
    let template: MessageTemplate;
    if (form.takesKept || form.takesRows) {
      const filled = form.takesRows
        ? fillRowValues(written, this.rowsFor(source.index, form, session))
        : written;
      const items = form.takesKept ? fillKeptValues(filled, session.kept ?? nothing) : filled;
      if (typeof items === 'string') return items;
      template = this.encoded(form, items, receiver, source, asks);
      this.payloadBytes = argumentBytes(items) + bytesBeyondEstimate(items, this.entry.files ?? {});
    } else {
      // Ids and group names are shorter than 256 bytes, indexes than 10 digits.
      const sender = (source.id?.length ?? 0) * 10 + decimalDigits(source.index);
      const lengths = (sender * 256 + (receiver?.length ?? 0)) * 2 + (asks ? 1 : 0);
      const key = (lengths * this.forms.length + call) * mostSizesOfCall + size;
      let known = this.templates.get(key);
      if (known === undefined)
        this.templates.set(key, (known = this.encoded(form, written, receiver, source, asks)));
      template = known;
      this.payloadBytes = payload.sizes[size]!;
    }
    if (form.namesBeyond !== undefined)
      this.payloadBytes += form.namesBeyond({
        receiver: receiver?.length ?? 0,
        sender: source.id?.length ?? 0,
        senderIndex: decimalDigits(source.index),
      });
    this.wireBytes = template.sendTo(connection, stamp, receiver, unixMs, source);
    return undefined;
  }

  /** A session takes one shared row, at its first call that needs one. */
  private rowsFor(sender: number, { takesData }: CallForm, session: SessionValues): RowsOfMessage {
    if (!takesData) return this.dependencies.rows!.of(sender, false);
    const held = session.row;
    const rows = this.dependencies.rows!.of(sender, held === undefined);
    session.row ??= rows.data;
    return held === undefined ? rows : { ...rows, data: held };
  }

  private encoded(
    { method, opensStream, isAnswered }: CallForm,
    items: readonly CallArgument[],
    receiver: Buffer | undefined,
    source: SenderFields,
    asks: boolean,
  ): MessageTemplate {
    const shape: MessageShape = {
      method,
      arguments: buildArguments(items, this.entry, this.plan.seed),
      ...(opensStream ? { opens: { down: true, up: false } } : { answered: isAnswered || asks }),
    };
    const lengths = holeLengths(receiver, source);
    const { codec = codecForProtocol(this.plan.protocol), framed } = this.dependencies;
    return MessageTemplate.of(shape, lengths, codec, framed);
  }
}

const nothing: KeptValues = new Map();

/** In characters of JSON; each session holds its values. */
export const maxKeptCharacters = 65_536;

type Find = (answer: unknown) => unknown;

export const compileKeep = (keep: KeepPaths): readonly (readonly [name: string, find: Find])[] =>
  Object.entries(keep).map(([name, path]) => {
    const query = compileJsonPath(path);
    return [name, (answer) => bounded(firstOf(query, answer))];
  });

function firstOf(query: ReturnType<typeof compileJsonPath>, answer: unknown): unknown {
  if (answer === undefined) return undefined;
  try {
    return query.match(answer as Parameters<typeof query.match>[0])?.value;
  } catch {
    // Too deeply nested for the library: an answer must not end the worker.
    return undefined;
  }
}

function bounded(value: unknown): unknown {
  if (
    value === undefined ||
    typeof value === 'number' ||
    typeof value === 'boolean' ||
    value === null
  )
    return value;
  if (typeof value === 'bigint') return String(value);
  return asText(value).length <= maxKeptCharacters ? value : undefined;
}

const withBigInts = (_key: string, value: unknown): unknown =>
  typeof value === 'bigint' ? String(value) : value;

export type KeptValues = ReadonlyMap<string, unknown>;

/**
 * Fills placeholders with kept values, or returns the name of one that is missing. A placeholder alone keeps the type
 * of its value.
 */
export function fillKeptValues(
  items: readonly CallArgument[],
  kept: KeptValues,
): readonly CallArgument[] | string {
  let missing: string | undefined;
  const valueOf = (key: string): unknown => {
    const value = kept.get(key);
    if (value === undefined) missing ??= key;
    return value;
  };
  const all = mapTexts(items, ({ parts: written }) => {
    const [first, more] = written;
    if (more === undefined && typeof first === 'object' && first.name === 'kept')
      return literal(valueOf(first.key));
    const parts = written.map((part) =>
      typeof part === 'object' && part.name === 'kept' ? asText(valueOf(part.key)) : part,
    );
    return { kind: 'text', parts };
  });
  return missing ?? all;
}

const asText = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value, withBigInts);

function literal(value: unknown): CallArgument {
  if (typeof value === 'string') return { kind: 'text', parts: [value] };
  if (Array.isArray(value)) return { kind: 'list', items: value.map(literal) };
  if (value instanceof Uint8Array)
    return { kind: 'text', parts: [Buffer.from(value).toString('base64')] };
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([key, member]) => [key, literal(member)] as const);
    return { kind: 'map', members };
  }
  if (typeof value === 'bigint') return { kind: 'text', parts: [String(value)] };
  return { kind: 'value', value: (value ?? null) as number | boolean | null };
}

/** Without `equals`: whether the value is neither missing, empty, false, 0 nor null. */
export function matchesCondition(
  value: unknown,
  equals: string | number | boolean | null | undefined,
): boolean {
  if (equals !== undefined) return value === equals;
  if (Array.isArray(value)) return value.length > 0;
  return Boolean(value);
}
