/** What is in encoded frames that lie one behind the other, for transports that frame otherwise. */

/** Where the payload begins of the frame that begins at `at`. */
export function payloadStart(frames: Buffer, at: number): number {
  const marker = frames[at + 1]!;
  return at + (marker < 126 ? 2 : marker === 126 ? 4 : 10);
}

/** Where it ends, and the next frame begins. */
export function payloadEnd(frames: Buffer, at: number): number {
  const marker = frames[at + 1]!;
  if (marker < 126) return at + 2 + marker;
  return marker === 126
    ? at + 4 + frames.readUInt16BE(at + 2)
    : at + 10 + frames.readUInt32BE(at + 6);
}

export function payloadsIn(frames: Buffer): Buffer[] {
  const payloads: Buffer[] = [];
  for (let at = 0; at < frames.length; at = payloadEnd(frames, at))
    payloads.push(frames.subarray(payloadStart(frames, at), payloadEnd(frames, at)));
  return payloads;
}
