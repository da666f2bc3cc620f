/** Why a recording is not replayed. */
import { ExpectedError } from '../../base/expectedError';
import type { RecordedKind, RecordingHeader } from '../recording';

const kindWords: Readonly<Record<RecordedKind, string>> = {
  signalr: 'a SignalR hub',
  webpubsub: 'Azure Web PubSub with a subprotocol',
};

/** Of a recording without clients that could be replayed. */
export const nothingToReplay = ({ kind }: RecordingHeader, name: string): ExpectedError =>
  replayError(`${name} has no client of ${kindWords[kind]}: there is nothing to replay.`);

export const otherServiceRecorded = ({ kind }: RecordingHeader, name: string): ExpectedError =>
  replayError(
    kind === 'webpubsub'
      ? `${name} is a recording of Azure Web PubSub: it is replayed with config.service: webpubsub alone.`
      : `${name} is a recording of a SignalR hub, which Azure Web PubSub does not understand: remove config.service.`,
  );

export const replayError = (problem: string): ExpectedError =>
  new ExpectedError('nothing-to-replay', problem);
