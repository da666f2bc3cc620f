/** What files and metrics have of each agent. */
import type { AgentProgress } from '../summary';

export interface AgentColumn {
  /** In CSV, after `agent.`; its end is the unit that the result file has. */
  readonly id: string;
  readonly value: (agent: AgentProgress) => number | undefined;
  /** Name of the metric, after `agent.`. */
  readonly metric: string;
  readonly kind?: 'counter';
  /** Of the metric; those whose `id` ends with `Us` are microseconds before. */
  readonly unit?: 'seconds' | 'ratio';
  /** One sentence. */
  readonly help: string;
}

/** Every value of an agent; a new one is a line here. */
export const agentColumns: readonly AgentColumn[] = [
  {
    ...{ id: 'share', metric: 'share', unit: 'ratio', help: 'Share of the connections.' },
    value: ({ share }) => share,
  },
  {
    ...{ id: 'sent', metric: 'messages.sent', kind: 'counter' },
    help: 'Messages that have left an agent in the last step that it was part of.',
    value: ({ lastStep }) => lastStep?.sent,
  },
  {
    ...{ id: 'received', metric: 'deliveries.received', kind: 'counter' },
    help: 'Deliveries that connections of an agent have received in that step.',
    value: ({ lastStep }) => lastStep?.received,
  },
  {
    ...{ id: 'p99Us', metric: 'latency.p99', unit: 'seconds' },
    help: 'The p99 of what they have received.',
    value: ({ lastStep }) => lastStep?.p99Us,
  },
  {
    ...{ id: 'cpuShare', metric: 'cpu', unit: 'ratio' },
    help: 'Share of a core that the busiest worker of an agent used.',
    value: ({ lastStep }) => lastStep?.cpuShare,
  },
  {
    ...{ id: 'slipP99Us', metric: 'slip.p99', unit: 'seconds' },
    help: 'The p99 of how late an agent sent.',
    value: ({ lastStep }) => lastStep?.slipP99Us,
  },
  {
    ...{ id: 'loopDelayP99Us', metric: 'loop_delay.p99', unit: 'seconds' },
    help: 'The p99 of the delay of its event loops.',
    value: ({ lastStep }) => lastStep?.loopDelayP99Us,
  },
  {
    ...{ id: 'clockErrorUs', metric: 'clock.error', unit: 'seconds' },
    help: 'By how much the clock of an agent may have differed at most.',
    value: ({ clockErrorUs }) => clockErrorUs,
  },
  {
    ...{ id: 'lastTick', metric: 'reported', unit: 'seconds' },
    help: 'Newest second of the run of which an agent has reported.',
    value: ({ lastTick }) => lastTick,
  },
];
