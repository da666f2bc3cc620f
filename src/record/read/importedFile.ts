import type { Recording } from '../recording';

/** A file that was made elsewhere, as a recording. */
export interface ImportedFile {
  readonly recording: Recording;
  /** What was left out, as sentences; known once all events were read. */
  readonly notes: () => readonly string[];
}
