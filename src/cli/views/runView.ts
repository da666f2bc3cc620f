import type { Snapshot } from '../../measure/show/snapshot';
import type { Dialect, Scenario } from '../../scenario/scenario';
import { loadWords, marksOf } from '../../session/runWords';

/** Shows a run while it goes on, on standard error. */
export interface RunView {
  update(snapshot: Snapshot): void;
  /** Says something beside the view: a warning, or that the run is being stopped. */
  message(text: string): void;
  /** Removes what was redrawn in place; the final screen follows. */
  close(): void;
}

/** First lines of every view: `chat-room.yaml → http://…`, the load, and how when unusual. */
export interface RunTitle {
  readonly file: string;
  readonly url: string;
  readonly scenario: Scenario;
  /** The dialect agreed with the hub. */
  readonly dialect?: Dialect;
  readonly emulated?: true;
}

export function titleLines({ file, url, scenario, ...target }: RunTitle): string[] {
  const how = marksOf(scenario, target);
  return [`${file} → ${url}`, loadWords(scenario), ...(how === '' ? [] : [how])];
}
