/** What only sessions need, recorded ones included: a part of its own of the worker. */
export { ReplaySender } from './replaySender';
export { SessionSender as Sender } from './sessionSender';
