/** Loaded only for plans with sessions. */
export { ReplaySender } from './replaySender';
export { SessionSender as Sender } from './sessionSender';
