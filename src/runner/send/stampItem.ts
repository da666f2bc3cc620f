import type { Population } from '../../plan/population';
import type { Stamp } from '../../wire/message/stamp';
import type { OpenStream } from './openStream';

/** Stamps the item of that number in a stream whose items are so far apart. */
export function stampItem(
  stamp: Stamp,
  { firstSource, sourcesPerSender }: Population,
  stream: OpenStream,
  position: number,
  delayUs: number,
  nowUs: number,
): void {
  const { index, measureUs } = stream.step!;
  const wanted = position < stream.wanted;
  const place = wanted ? stream.place : sourcesPerSender - 1;
  stamp.step = index;
  stamp.source = firstSource + stream.sender * sourcesPerSender + place;
  stamp.sequence = wanted ? stream.firstSequence + position : 0;
  stamp.intendedUs = stream.firstUs + position * delayUs;
  stamp.sentUs = nowUs;
  stamp.warmup = stamp.intendedUs < measureUs;
}
