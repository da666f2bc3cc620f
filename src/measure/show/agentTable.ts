/** The agents of a run, in the words of the one who shows them. */
import { fill } from '../../base/objectives/limitWords';
import { formatCount, formatShare } from '../../base/units';
import type { AgentSummary } from '../summary';
import { latencyOrDash } from './chartWords';
import type { TextTable } from './panelTables';

type Texts<Name extends string> = Readonly<Record<Name, string>>;
type StateText = 'agentDone' | 'agentLeft' | 'agentLost';
type HeadText =
  | 'agentColumn'
  | 'agentNode'
  | 'agentShare'
  | 'agentReceived'
  | 'agentCpu'
  | 'agentSlip'
  | 'agentLoop'
  | 'agentClock'
  | 'agentState';
type SentenceText =
  | 'agentsOfStep'
  | 'agentSlowest'
  | 'agentBusiest'
  | 'agentsLost'
  | 'agentsLeft'
  | 'agentNamed';

/** Names of machines come from elsewhere. */
const longestName = 60;
const mostNamed = 10;

/** The step whose figures are shown: the last one of any agent. */
export const agentsStep = (agents: readonly AgentSummary[]): number | undefined =>
  agents.reduce<number | undefined>(
    (last, { lastStep }) => Math.max(last ?? 0, lastStep?.index ?? 0) || undefined,
    undefined,
  );

/** At most so many, in their order: of more those that were lost or left, then the slowest. */
export function shownAgents(agents: readonly AgentSummary[], most: number): AgentSummary[] {
  const first = [...agents].sort(
    (a, b) => Number(a.status === 'done') - Number(b.status === 'done') || p99Of(b) - p99Of(a),
  );
  return first.slice(0, most).sort((a, b) => a.index - b.index);
}

const p99Of = ({ lastStep }: AgentSummary): number => lastStep?.p99Us ?? 0;

export function stateWords(agent: AgentSummary, texts: Texts<StateText>): string {
  const after = formatCount(agent.lastTick);
  if (agent.status === 'done') return texts.agentDone;
  return fill(agent.status === 'left' ? texts.agentLeft : texts.agentLost, after);
}

export function agentTable(
  agents: readonly AgentSummary[],
  texts: Texts<HeadText | StateText | 'noValue'>,
  most: number,
): TextTable {
  const dash = texts.noValue;
  const rows = shownAgents(agents, most).map((agent) => {
    const { index, node, share, clockErrorUs, lastStep } = agent;
    return [
      ...[formatCount(index), node.slice(0, longestName), formatShare(share)],
      lastStep === undefined ? dash : formatCount(lastStep.received),
      ...[lastStep?.p99Us].map((us) => latencyOrDash(us, dash)),
      lastStep === undefined ? dash : formatShare(lastStep.cpuShare),
      ...[lastStep?.slipP99Us, lastStep?.loopDelayP99Us || undefined, clockErrorUs].map((us) =>
        latencyOrDash(us, dash),
      ),
      stateWords(agent, texts),
    ];
  });
  return {
    heads: [
      ...[texts.agentColumn, texts.agentNode, texts.agentShare, texts.agentReceived, 'p99'],
      ...[texts.agentCpu, texts.agentSlip, texts.agentLoop, texts.agentClock, texts.agentState],
    ],
    rows,
    textColumns: [1, 9],
  };
}

/** Who was lost or left, who was the slowest, and whose processor had the most to do. */
export function agentSentences(
  agents: readonly AgentSummary[],
  texts: Texts<SentenceText>,
): string[] {
  const named = ({ index, node }: AgentSummary): readonly [string, string] => [
    formatCount(index),
    node.slice(0, longestName),
  ];
  const gone = (status: AgentSummary['status'], text: string): string[] => {
    const some = agents.filter((agent) => agent.status === status);
    const names = some.slice(0, mostNamed).map((agent) => fill(texts.agentNamed, ...named(agent)));
    const more = some.length > names.length ? [`… (${formatCount(some.length)})`] : [];
    return some.length === 0 ? [] : [fill(text, [...names, ...more].join(', '))];
  };
  const step = agentsStep(agents);
  const measured = agents.filter(
    ({ lastStep }) => lastStep !== undefined && lastStep.index === step,
  );
  const [slowest, next] = measured
    .filter(({ lastStep }) => lastStep?.p99Us !== undefined)
    .sort((a, b) => p99Of(b) - p99Of(a));
  const busiest = measured.reduce<AgentSummary | undefined>(
    (most, agent) =>
      (agent.lastStep?.cpuShare ?? 0) > (most?.lastStep?.cpuShare ?? 0) ? agent : most,
    undefined,
  );
  return [
    ...gone('lost', texts.agentsLost),
    ...gone('left', texts.agentsLeft),
    ...(slowest === undefined || next === undefined || p99Of(slowest) === p99Of(next)
      ? []
      : [
          fill(
            texts.agentSlowest,
            ...named(slowest),
            ...[slowest, next].map((agent) => latencyOrDash(p99Of(agent), '')),
          ),
        ]),
    ...(busiest?.lastStep === undefined || measured.length < 2
      ? []
      : [
          fill(
            texts.agentBusiest,
            ...named(busiest),
            formatShare(busiest.lastStep.cpuShare),
            latencyOrDash(busiest.lastStep.slipP99Us, ''),
          ),
        ]),
    ...(step === undefined ? [] : [fill(texts.agentsOfStep, formatCount(step))]),
  ];
}
