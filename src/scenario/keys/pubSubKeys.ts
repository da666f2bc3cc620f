import type { KeySpec } from './keySpec';
import { ackChoices, subprotocols } from '../scenario';

/** How clients of Azure Web PubSub talk. */
export const pubSubKeys: readonly KeySpec[] = [
  {
    name: 'subprotocol',
    type: 'choice',
    default: 'json',
    choices: subprotocols,
    summary:
      'How clients of Azure Web PubSub talk: `json`; `reliableJson`, which acknowledges messages and recovers lost sockets; `protobuf`; `reliableProtobuf`; or `none`, plain WebSockets whose messages go to the application.',
  },
  {
    name: 'acks',
    type: 'choice',
    default: 'first',
    choices: ackChoices,
    summary:
      'Which messages of a client ask Azure Web PubSub for an acknowledgement, so that refused ones are counted as errors: the `first` of each sender, or `all`.',
  },
];
