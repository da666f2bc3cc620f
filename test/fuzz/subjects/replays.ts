import assert from 'node:assert/strict';
import { ExpectedError } from '../../../src/base/expectedError';
import { noStamp } from '../../../src/plan/plan';
import { stampLength } from '../../../src/wire/message/stamp';
import { readRecording } from '../../../src/record/recordingFile';
import { readReplay, type ReplayProtocol } from '../../../src/record/replay/readReplay';
import type { Subject } from '../subject';
import { once, recordingText } from './files';

const pubSubText = `{"schema":"signalr-bench-recording/1","target":"http://h/client/hubs/chat","startedAt":"2026-11-23T10:00:00.000Z","kind":"webpubsub"}
{"t":1,"client":1,"ev":"open","transport":"WebSockets","path":"/client/hubs/chat","protocol":"json.webpubsub.azure.v1","query":[]}
{"t":2,"client":1,"ev":"out","bytes":40,"m":{"type":"joinGroup","group":"g","ackId":1}}
{"t":3,"client":1,"ev":"in","bytes":30,"m":{"type":"ack","ackId":1,"success":true}}
{"t":4,"client":1,"ev":"out","bytes":60,"m":{"type":"sendToGroup","group":"g","ackId":2,"noEcho":true,"dataType":"text","data":"x"}}
{"t":5,"client":1,"ev":"out","bytes":60,"m":{"type":"event","event":"said","dataType":"json","data":{"a":[1,null]}}}
{"t":6,"client":1,"ev":"out","bytes":40,"m":{"type":"leaveGroup","group":"g","ackId":3}}
`;

const protocols: readonly ReplayProtocol[] = ['json', 'messagepack', 'webpubsub'];

async function checkReplay(input: Buffer, protocol: ReplayProtocol): Promise<void> {
  const { tracks } = await readReplay(await readRecording(once(input), 'x'), 'x', protocol);
  const { clients, first, dueUs, at, length, stampAt, bytes } = tracks;
  assert.equal(first.length, clients + 1);
  for (let client = 0; client < clients; client++)
    for (let operation = first[client]!; operation < first[client + 1]!; operation++) {
      assert.ok(
        operation === first[client] || dueUs[operation]! >= dueUs[operation - 1]!,
        'times fall',
      );
      assert.ok(at[operation]! + length[operation]! <= bytes.length, 'beyond all bytes');
      const stamp = stampAt[operation]!;
      const room = protocol === 'webpubsub' ? 1 : stampLength;
      assert.ok(stamp === noStamp || stamp + room <= length[operation]!, 'stamp beyond message');
    }
}

export const replays: Subject = {
  name: 'replays',
  holds:
    'what is replayed of a recording lies within its bytes and in order, or it is refused by ExpectedError',
  seeds: () => [recordingText, pubSubText],
  pieces: [
    '{"$integer":"9007199254740993"}',
    '{"$extension":',
    '"t":-1',
    '"ackId":"18446744073709551616"',
    '"dataType":"protobuf"',
    '"data":"//8="',
    '"streamIds":["1"]',
    '"ev":"in"',
  ],
  isSlow: true,
  check: async (input) => {
    for (const protocol of protocols)
      try {
        await checkReplay(input, protocol);
      } catch (error) {
        if (!(error instanceof ExpectedError)) throw error;
      }
  },
};
