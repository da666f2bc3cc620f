import { hubFrame } from './frames';
import { startHubServing, type Peer } from './rawHub';

/** A hub with no method at all, without negotiation, that answers calls as ASP.NET Core does. */
export const startBareHub = (): ReturnType<typeof startHubServing> => startHubServing(answerCalls);

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
