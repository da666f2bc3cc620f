let asked: string | undefined;

/** The next hover of a document shows the estimate, even when hovers are set not to. */
export function askEstimate(uri: string): void {
  asked = uri;
}

/** Whether the estimate of a document was asked for; once for each time. */
export function takeAskedEstimate(uri: string): boolean {
  const found = asked === uri;
  if (found) asked = undefined;
  return found;
}
