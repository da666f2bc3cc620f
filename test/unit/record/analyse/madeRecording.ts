import assert from 'node:assert/strict';
import { parse } from 'yaml';
import {
  type OpenEvent,
  recordingSchema,
  type RecordedEvent,
  type Recording,
  type RecordingHeader,
} from '../../../../src/record/recording';
import { scenarioFromRecording } from '../../../../src/record/analyse/scenarioFromRecording';
import { parseScenario } from '../../../../src/scenario/parseScenario';

/** Writes a recording by hand: clients that come, call and hear, on a clock that moves on. */
export class MadeRecording {
  readonly events: RecordedEvent[] = [];
  private nowUs = 0;
  private ids = 0;

  get recording(): Recording {
    const header: RecordingHeader = {
      ...{ schema: recordingSchema, target: 'http://localhost:5050/chat' },
      ...{ startedAt: '2026-11-23T10:00:00.000Z', kind: 'signalr' },
    };
    const events = [...this.events].sort((a, b) => a.t - b.t);
    return { header, events };
  }

  /** Milliseconds since the recording began. */
  at(ms: number): this {
    this.nowUs = Math.round(ms * 1000);
    return this;
  }

  wait(ms: number): this {
    this.nowUs += Math.round(ms * 1000);
    return this;
  }

  open(client: number, more: Partial<OpenEvent> = {}): this {
    return this.add({
      ...{ t: this.nowUs, client, ev: 'open', transport: 'WebSockets', protocol: 'json' },
      ...{ path: '/chat', query: ['id'], ...more },
    });
  }

  /** They come a millisecond apart, and each calls 5 ms later. */
  arrive(
    clients: readonly number[],
    method?: string,
    argumentsOf: (client: number) => readonly unknown[] = () => [],
  ): this {
    for (const client of clients) {
      this.at(client).open(client);
      if (method !== undefined) this.wait(5).call(client, method, argumentsOf(client));
    }
    return this;
  }

  close(client: number): this {
    return this.add({ t: this.nowUs, client, ev: 'close' });
  }

  /** A call and its answer a millisecond later. */
  call(client: number, target: string, args: readonly unknown[], answer: object = {}): this {
    const invocationId = String(this.ids++);
    this.out(client, { type: 1, invocationId, target, arguments: args });
    return this.wait(1)
      .in(client, { type: 3, invocationId, ...answer })
      .wait(-1);
  }

  send(client: number, target: string, args: readonly unknown[]): this {
    return this.out(client, { type: 1, target, arguments: args });
  }

  stream(
    client: number,
    target: string,
    args: readonly unknown[],
    items: readonly unknown[],
  ): this {
    const invocationId = String(this.ids++);
    this.out(client, { type: 4, invocationId, target, arguments: args });
    for (const [index, item] of items.entries())
      this.wait(index + 1)
        .in(client, { type: 2, invocationId, item })
        .wait(-index - 1);
    return this.wait(items.length + 1)
      .in(client, { type: 3, invocationId })
      .wait(-items.length - 1);
  }

  /** A callback, two milliseconds after now, on each of these clients. */
  heard(clients: readonly number[], target: string, args: readonly unknown[]): this {
    this.wait(2);
    for (const client of clients) this.in(client, { type: 1, target, arguments: args });
    return this.wait(-2);
  }

  raw(client: number, why: string): this {
    return this.add({ t: this.nowUs, client, ev: 'out', raw: 12, why });
  }

  out(client: number, m: object): this {
    return this.message('out', client, m);
  }

  in(client: number, m: object): this {
    return this.message('in', client, m);
  }

  private message(ev: 'out' | 'in', client: number, m: object): this {
    const bytes = Buffer.byteLength(JSON.stringify(m)) + 1;
    return this.add({ t: this.nowUs, client, ev, m, bytes } as RecordedEvent);
  }

  private add(event: RecordedEvent): this {
    this.events.push(event);
    return this;
  }
}

/** In one room, where each lets the two others know ten times, by a text that is none of the call. */
export function threeWhoType(): MadeRecording {
  const made = new MadeRecording().arrive([1, 2, 3], 'JoinRoom', () => ['lobby']);
  for (let round = 0; round < 10; round++)
    for (const client of [1, 2, 3]) {
      made.at(1000 + 900 * round + 300 * client).send(client, 'Typing', ['lobby']);
      made.heard(
        [1, 2, 3].filter((other) => other !== client),
        'Typing',
        [`user-${client}`],
      );
    }
  return made;
}

interface File {
  readonly config: Readonly<Record<string, unknown>>;
  readonly scenario?: { readonly name: string; readonly parameters: Session };
  readonly scenarios?: readonly { readonly senders?: string; readonly parameters: Session }[];
}
export interface Session {
  readonly sessionInterval: string;
  readonly groupCount?: number;
  readonly sharedGroups?: string;
  readonly steps: readonly Readonly<Record<string, unknown>>[];
}

/** The scenario of a recording, which has no errors. */
export async function analysed({ recording }: MadeRecording) {
  const { yaml, found } = await scenarioFromRecording(recording);
  assert.ok(yaml !== undefined, JSON.stringify(found));
  const errors = parseScenario(yaml).problems.filter(({ severity }) => severity === 'error');
  assert.deepEqual(errors, [], yaml);
  const file = parse(yaml) as File;
  return { yaml, found, file, steps: (file.scenario ?? file.scenarios![0]!).parameters.steps };
}
