import { objectives } from '../base/slo';

/**
 * The templates of what is said of runs: verdicts with their reasons, and the line on the load. They are made
 * in `src/measure` and `src/session/runWords.ts`; a test makes all of them and finds each here.
 */
const otherTexts: readonly string[] = [
  // Verdicts.
  'passed',
  'failed',
  'invalid',
  'incomplete',
  'invalid, the generator was the bottleneck',
  '{0} (and {1} more)',
  'step {0} was not run',
  'steps {0} and {1} were not run',
  'steps {0} to {1} were not run',
  'step {0}: {1}',
  'slowest was step {0}: {1}',

  // What was delivered.
  '{0} of {1} deliveries arrived',
  '{0} within {1}',
  '{0} within {1} (limit {2})',
  '{0} % of {1} deliveries',
  '{0} % of {1} delivery',
  'all {0} deliveries',
  'the only delivery',
  'none lost',
  '{0} lost',
  '{0} in all steps',
  'nothing sent',
  '{0} messages sent and no answer expected',

  // Connections.
  '{0} of {1} connections held for {2}',
  '{0} of {1} connections open after {2}',
  '{0} of {1} connections opened',
  'none dropped',
  '{0} dropped',
  'none dropped otherwise',
  '{0} dropped otherwise',
  '{0} closed by us',

  // Why a run failed.
  'the hub refused messages of {0} of {1} senders, and later messages ask for no answer, so more may have been refused',

  // Why it is invalid.
  'the one sender sent nothing, so there is nothing that was measured',
  '{0} senders sent nothing, so there is nothing that was measured',
  'the generator sent only {0} of {1} messages that were due ({2})',
  '1 % of the messages left {0} or more behind schedule, which is above 10 % of the limit of {1}',
  'a worker of the generator used {0} of a core',
  'take more workers or another machine, or send less',
  'calls waited for a free socket of their worker, which used {0} of a core',
  'take more workers, or a machine nearer to the service',
  'something else took the processor, or the machine slept: the busiest worker used only {0} of a core, and its messages left late',
  'close what else runs on this machine, or run the load from another one',

  // Why it is incomplete.
  'the run was stopped before its plan was done',
  'the run was interrupted before its plan was done',
  'the target was lost during the run',
  'a worker of the load generator was lost during the run',
  'no step was completed, so there is nothing to judge',

  // What the hub answered, and what ended a run.
  'the hub has no method {0}',
  "the hub's method {0} takes other arguments than it is given",
  "the hub's method {0} is there but throws an exception",
  '{0} ({1} calls answered so)',
  'All {0} connections were lost. {1}',
  'No connection could be opened ({0} failed). {1}',

  // What a recommendation stands on.
  'Measured in step {0} with {1} connections: {2}.',
  '{0} msg/s in and {1} msg/s out of {2}',
  '{0} msg/s in and {1} msg/s out ({2} expected and {3} extra) of {4}',
  'Measured in step {0} with {1} connections: no traffic.',
  '{0} of {1} deliveries did not arrive',
  'they count all the same, as the traffic needs them.',
  '{0} of {1} connections failed or were dropped',
  'they count all the same, with the rates that the scenario plans.',
  'Extra are deliveries to connections that were joining or leaving, or that were not meant to get them: a service sends them too.',
  '{0} joins and leaves a second, and as many answers, are not counted: no table has them.',
  'The run ended in step {0}, which was not measured to its end and may need more.',
  '{0} msg/s in and {1} msg/s out (as planned; measured: {2} expected) of {3}',
  '{0} msg/s in and {1} msg/s out (as planned; measured: {2} expected and {3} extra) of {4}',
  'Compared at {0} with {1}, edition {2}, line {3}.',
  '{0} app servers with {1} server connections each.',

  // The load.
  'groups of {0}',
  '{0} items of {1}',
  '{0} each second',
  '{0} every {1}',
  '{0} (mean {1})',
  '{0} more',
  '{0} connection',
  '{0} connections',
  '{0} connection in {1} steps',
  '{0} connections in {1} steps',

  // Between the parts of a sentence.
  '; ',
  ' + ',
  ', ',
];

/** With those of the objectives. */
export const saidTexts = (): readonly string[] => [
  ...otherTexts,
  ...new Set(objectives().flatMap(([, { texts }]) => texts)),
];
