import { hubFrame } from './frames';
import { startRawHub, type Peer, type RawHub } from './rawHub';

/** A hub with no method at all, without negotiation, that answers calls as ASP.NET Core does. */
export async function startBareHub(): Promise<Pick<RawHub, 'url' | 'dispose'>> {
  const hub = await startRawHub();
  const serve = async (): Promise<void> => {
    for (;;) void answerCalls(await hub.nextPeer());
  };
  void serve();
  return hub;
}

async function answerCalls(peer: Peer): Promise<void> {
  for (;;) {
    const { payload } = await peer.nextFrame();
    // A frame of a client that says goodbye holds no call.
    const calls = payload.toString('utf8').split('\x1e').filter(isCall);
    const answers = calls.map((text) => {
      const { invocationId, target } = JSON.parse(text) as Record<string, string>;
      const error = `Failed to invoke '${target}' due to an error on the server. HubException: Method does not exist.`;
      return { type: 3, invocationId, error };
    });
    if (answers.length > 0) peer.socket.write(hubFrame(...answers));
  }
}

const isCall = (text: string): boolean => text.includes('"invocationId"');
