import type { Snapshot } from '../measure/snapshot';
import type { Scenario } from '../scenario/scenario';
import { loadWords } from './loadWords';

/** Shows a run while it goes on, on standard error. */
export interface RunView {
  update(snapshot: Snapshot): void;
  /** Says something beside the view: a warning, or that the run is being stopped. */
  message(text: string): void;
  /** Removes what was redrawn in place; the final screen follows. */
  close(): void;
}

/** First lines of every view: `chat-room.yaml → http://…`, and the load. */
export interface RunTitle {
  readonly file: string;
  readonly url: string;
  readonly scenario: Scenario;
}

export function titleLines({ file, url, scenario }: RunTitle): string[] {
  return [`${file} → ${url}`, loadWords(scenario)];
}
