import type { Snapshot } from '../../../src/measure/snapshot';
import { snapshotsToColumns } from '../../../src/measure/snapshotHistory';
import type { RunSummary } from '../../../src/measure/summary';
import type { ToPanel } from '../../../src/messages/panel';
import { panelStrings } from '../../../src/measure/show/panelStrings';
import { toPanelResult } from '../../../src/extension/panel/panelSession';
import { initialState, reduce, type ShownRun } from '../../../src/webview/panelState';
import {
  latency,
  sampleEstimate,
  sampleResult,
  sampleScenario,
  sampleSnapshot,
} from '../results/sampleResult';

type Filled = Partial<Omit<Extract<ToPanel, { type: 'hydrate' }>, 'seconds'>> & {
  readonly snapshots?: readonly Snapshot[];
};

/** The message that fills a panel with the sample run. */
export function hydrate({ snapshots = [], ...change }: Filled = {}): ToPanel {
  return {
    type: 'hydrate',
    run: {
      id: 'run-1',
      title: 'chat-room.signalr.yaml',
      targetUrl: 'http://localhost:5050/signalrbench',
      startedAt: '2026-11-21T14:02:11.000Z',
      scenario: sampleScenario,
      estimate: sampleEstimate,
    },
    load: 'sendToGroup',
    seconds: snapshotsToColumns(snapshots),
    spectra: [],
    strings: panelStrings,
    interrupted: false,
    ...change,
  };
}

/** A panel that shows the sample run with these snapshots. */
export function shownRun(snapshots: readonly Snapshot[] = [], change: Filled = {}): ShownRun {
  const state = reduce(initialState, hydrate({ snapshots, ...change }));
  if (state.kind !== 'run') throw new Error('not filled');
  return state;
}

/** The finished sample run. */
export function finishedRun(change: Partial<RunSummary> = {}): ShownRun {
  return shownRun([measured(30, 1), measured(90, 2), measured(150, 3)], {
    result: toPanelResult(sampleResult(change)),
  });
}

/** A measured second of the sample run with a p99 of `p99Us`. */
export function measured(tick: number, step: number, p99Us = 20_000): Snapshot {
  return sampleSnapshot(tick, step, {
    interval: {
      seconds: 1,
      receivingSeconds: 1,
      offered: 700,
      sent: 700,
      received: 7000,
      latencyUs: latency(7000, p99Us / 10, p99Us, p99Us * 2),
    },
  });
}
