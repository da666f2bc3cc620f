/** What a server of ASP.NET SignalR says in a fixed conversation, byte for byte but for ids, message ids and tokens. */
import { skipSpace, walk } from '../../src/wire/message/jsonScan';
import { ClassicPeer, classicUrl, negotiate } from './classicPeer';

/** What came in one step: texts in their order, and whether an envelope had more than its messages. */
export interface Said {
  readonly answers: readonly string[];
  readonly messages: readonly string[];
  /** Members of envelopes besides `C` and `M`. */
  readonly members: readonly string[];
}

export interface Conversation {
  readonly http: Readonly<Record<string, string>>;
  readonly socket: Readonly<Record<string, Said>>;
}

/** Raw values of an object by their names. */
function membersOf(text: string): Map<string, string> {
  const bytes = Buffer.from(text, 'utf8');
  const members = new Map<string, string>();
  walk(bytes, skipSpace(bytes, 0), bytes.length, (keyStart, keyEnd, start, end) => {
    const key =
      keyEnd === 0 ? String(members.size) : bytes.toString('utf8', keyStart + 1, keyEnd - 1);
    members.set(key, bytes.toString('utf8', start, end));
  });
  return members;
}

export function sortOut(texts: readonly string[]): Said {
  const [answers, messages, members] = [[] as string[], [] as string[], new Set<string>()];
  for (const text of texts) {
    if (text === '{}') continue;
    const all = membersOf(text);
    if (!all.has('M')) {
      answers.push(text);
      continue;
    }
    for (const name of all.keys()) if (name !== 'C' && name !== 'M') members.add(name);
    messages.push(...membersOf(all.get('M')!).values());
  }
  return { answers, messages, members: [...members] };
}

const payload = {
  'payload.Timestamp': '1',
  text: 'ü "x" \n </é>',
  list: [1, -0.5, null, true, {}],
};

/** Method, arguments, and how many messages come with the answer. */
const calls: readonly (readonly [string, readonly unknown[], number])[] = [
  ['Echo', [payload], 1],
  ['Broadcast', [{ n: 1 }], 1],
  ['GetConnectionId', [], 0],
  ['ConnectionId', [], 1],
  ['JoinGroup', ['a'], 1],
  ['SendToGroup', [{ 'information.GroupName': 'a' }], 1],
  ['LeaveGroup', ['a'], 1],
  ['Nope', [], 0],
  ['echo', [], 0],
  ['Echo', [5], 0],
];

const hides = (...values: readonly string[]): ((text: string) => string) => {
  const [token = '', id = ''] = values;
  return (text) => text.replaceAll(token, '<token>').replaceAll(id, '<id>');
};

async function answerTo(url: string, init?: RequestInit): Promise<string> {
  const response = await fetch(url, init);
  // What refuses has none there.
  const type = response.ok ? (response.headers.get('content-type') ?? '') : '';
  const text = await response.text();
  return `${response.status} ${type.toLowerCase().replace(/;.*/, '')} ${text.trim()}`.replace(
    / +/g,
    ' ',
  );
}

async function overHttp(hubUrl: string): Promise<Record<string, string>> {
  const negotiated = await negotiate(hubUrl);
  const { ConnectionToken: connectionToken, ConnectionId } = negotiated;
  const hide = hides(connectionToken, ConnectionId);
  const ask = (command: string, query: Record<string, string>): Promise<string> =>
    answerTo(classicUrl(hubUrl, command, query));
  const other = '[{"name":"Other"}]';
  const longPolling = { transport: 'longPolling', connectionToken };
  const said: Record<string, string> = {
    // Members and their forms: the values that differ from each other each time are hidden.
    negotiate: (await ask('negotiate', { clientProtocol: '1.5' })).replace(
      /("Connection(?:Token|Id)":)"[^"]*"/g,
      '$1"…"',
    ),
    ping: await ask('ping', {}),
    'unknown hub': await ask('negotiate', { connectionData: other }),
    'no transport': await ask('connect', { connectionToken }),
    'no token': await ask('connect', { transport: 'longPolling' }),
    'wrong token': await ask('connect', { transport: 'longPolling', connectionToken: 'eA==' }),
    'no web socket': await ask('connect', { transport: 'webSockets', connectionToken }),
  };
  const first = await ask('connect', longPolling);
  said['connect'] = first.replace(/"C":"[^"]*"/, '"C":"…"');
  said['start'] = await ask('start', longPolling);
  const messageId = /"C":"([^"]*)"/.exec(first)?.[1] ?? '';
  const poll = await ask('poll', { ...longPolling, messageId });
  said['poll'] = hide(poll).replace(/"C":"[^"]*"/, '"C":"…"');
  const body = new URLSearchParams({
    data: JSON.stringify({ H: 'signalrbench', M: 'GetConnectionId', A: [], I: 3 }),
  });
  const send = classicUrl(hubUrl, 'send', longPolling);
  said['send'] = hide(await answerTo(send, { method: 'POST', body }));
  said['abort'] = await answerTo(classicUrl(hubUrl, 'abort', longPolling), { method: 'POST' });
  return Object.fromEntries(Object.entries(said).map(([key, text]) => [key, hide(text)]));
}

async function overSocket(hubUrl: string): Promise<Record<string, Said>> {
  const peer = await ClassicPeer.open(hubUrl);
  const { ConnectionToken, ConnectionId } = peer.negotiated;
  const hide = hides(ConnectionToken, ConnectionId);
  const said: Record<string, Said> = {};
  const step = async (
    name: string,
    on: ClassicPeer,
    isOver: (so: Said) => boolean,
  ): Promise<void> => {
    const from = on.texts.length;
    said[name] = await on.untilTexts(() => {
      const so = sortOut(on.texts.slice(from).map(hide));
      return isOver(so) ? so : undefined;
    });
  };
  said['connect'] = await peer.untilTexts(() => {
    const so = sortOut(peer.texts);
    return so.members.includes('S') ? so : undefined;
  });
  const greeted = step('start', peer, ({ messages }) => messages.length === 1);
  await peer.command('start');
  await greeted;
  for (const [index, [M, A, messages]] of calls.entries()) {
    const done = step(
      `${M}(${JSON.stringify(A).slice(1, -1)})`,
      peer,
      (so) => so.answers.length === 1 && so.messages.length === messages,
    );
    peer.send({ H: 'signalrbench', M, A, I: index });
    await done;
  }
  await peer.command('abort');
  await peer.gone();
  return said;
}

/** Away while messages come; back with and without the token of its groups. */
async function comingBack(hubUrl: string): Promise<Record<string, Said>> {
  const other = await ClassicPeer.start(hubUrl);
  const said: Record<string, Said> = {};
  for (const shows of [true, false]) {
    const first = await ClassicPeer.start(hubUrl);
    await first.invoke('JoinGroup', 'b');
    await first.untilTexts(() => (first.groupsToken === '' ? undefined : true));
    await first.untilTexts(() => first.calls('JoinGroup')[0]);
    await first.lose();
    await other.untilHeard();
    const toGroup = { 'information.GroupName': 'b', n: 1 };
    if (shows) await other.invoke('SendToGroup', toGroup);
    await other.invoke('Broadcast', { n: 2 });
    const again = await ClassicPeer.open(hubUrl, first, shows ? {} : { groupsToken: '' });
    await again.untilTexts(() => again.calls('RecordLatency')[shows ? 1 : 0]);
    await other.invoke('SendToGroup', { ...toGroup, n: 3 });
    await other.invoke('Broadcast', { n: 4 });
    const name = `back ${shows ? 'with' : 'without'} its groups`;
    said[name] = await again.untilTexts(() => {
      const { answers, messages } = sortOut(again.texts);
      // Groups and the whole hub have numbers of their own there, and no order among them.
      const so = { answers, messages: [...messages].sort(), members: [] };
      return messages.length >= (shows ? 4 : 2) ? so : undefined;
    });
    await again.command('abort');
    await again.gone();
  }
  await other.command('abort');
  return said;
}

export async function conversationWith(hubUrl: string): Promise<Conversation> {
  return {
    http: await overHttp(hubUrl),
    socket: { ...(await overSocket(hubUrl)), ...(await comingBack(hubUrl)) },
  };
}
