import type { Audience, BenchMethod } from './benchMethods';
import type { HubConnection } from './hubConnection';
import type { HubMessage } from '../hubProtocol/hubMessage';
import { encodedOnce } from '../hubProtocol/payloadFrames';
import type { ServerProtocol } from '../hubProtocol/serverProtocol';

/**
 * Methods of the newer contract: ticks and payload, behind the receiver where there is one, go to the
 * callback `Measure` as they came.
 */

/** @param receiverFirst whether the receiver's id or name is the first argument */
function measured(
  name: string,
  receiverFirst: boolean,
  audienceOf: (receiver: string, caller: HubConnection) => Audience,
): BenchMethod {
  return {
    name,
    contract: 'measure',
    argumentCount: receiverFirst ? 3 : 2,
    delivers: true,
    run: (context, caller, message) => {
      const { bytes, firstStart, firstEnd } = message;
      const { protocol } = caller;
      const receiver = receiverFirst ? protocol.text(bytes, firstStart, firstEnd) : '';
      const measure = measureOf(protocol, message, receiverFirst);
      if (receiver === undefined || measure === undefined) return 'unbound';
      const audience = audienceOf(receiver, caller);
      return context.send(caller, encodedOnce(measure), audience) ? 'done' : 'failed';
    },
  };
}

/** Makes the callback in any protocol; undefined when the arguments are of the wrong types. */
function measureOf(
  sent: ServerProtocol,
  message: HubMessage,
  receiverFirst: boolean,
): ((protocol: ServerProtocol) => Buffer) | undefined {
  const { bytes, argumentsEnd } = message;
  const [ticksStart, ticksEnd, payloadStart, payloadEnd] = receiverFirst
    ? [message.secondStart, message.secondEnd, message.thirdStart, message.thirdEnd]
    : [message.firstStart, message.firstEnd, message.secondStart, message.secondEnd];
  const ticks = sent.wideInteger(bytes, ticksStart, ticksEnd);
  const isNull = sent.isNull(bytes, payloadStart);
  const payload = isNull ? null : sent.text(bytes, payloadStart, payloadEnd);
  if (ticks === undefined || payload === undefined) return undefined;
  return (protocol) =>
    protocol === sent
      ? protocol.measureFrame(bytes, ticksStart, argumentsEnd)
      : protocol.measureFrameOf(ticks, payload);
}

export const measureMethods: readonly BenchMethod[] = [
  measured('Echo', false, (_none, { id }) => ({ kind: 'client', id })),
  measured('Broadcast', false, () => ({ kind: 'all' })),
  measured('SendToConnection', true, (id) => ({ kind: 'client', id })),
  measured('GroupBroadcast', true, (name) => ({ kind: 'group', name })),
];
