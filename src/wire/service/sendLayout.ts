import type { HoleLengths, MessageLayout, MessageShape } from '../message/messageLayout';
import { jsonLayout, messagePackLayout, Pieces } from '../message/messageLayout';
import { lengthPrefix } from '../message/messagePackFraming';
import { arrayHead, binaryHead, encodeText, textHead } from '../message/messagePackWriter';
import { serviceType } from './serviceMessage';
import { broadcastHead, groupTail, plainTail } from './serviceOutput';

/** Who gets what a server connection sends; the name of a user or group is the message's receiver. */
export type SendAudience = 'everyone' | 'user' | 'group';

/**
 * A service message that sends one invocation to many: whole hub frames of both hub protocols, of which the
 * service gives each client its own. Nobody is excluded.
 */
export const sendLayout =
  (audience: SendAudience) =>
  (shape: MessageShape, lengths: HoleLengths): MessageLayout => {
    const pieces = new Pieces(lengths);
    if (audience === 'everyone') {
      pieces.add(broadcastHead);
    } else {
      const isGroup = audience === 'group';
      const type = isGroup ? serviceType.groupBroadcastData : serviceType.userData;
      pieces.add(arrayHead(isGroup ? 7 : 4), Buffer.from([type]), textHead(lengths.receiver));
      pieces.hole('receiver', 'text');
      if (isGroup) pieces.add(arrayHead(0));
    }
    const frames = [
      ['json', jsonLayout(shape, lengths)],
      ['messagepack', messagePackLayout(shape, lengths)],
    ] as const;
    pieces.add(Buffer.from([0x80 | frames.length]));
    for (const [protocol, layout] of frames) {
      pieces.add(encodeText(protocol), binaryHead(layout.body.length));
      pieces.nested(layout);
    }
    pieces.add(audience === 'group' ? groupTail : plainTail);
    return pieces.layout(lengthPrefix);
  };
