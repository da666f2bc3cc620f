// Agents of a run without the load: all of them in one process, which speak the real protocol over a real bus.
//
//   node bench/simulatedAgents.mjs BUS RUN AGENTS ALL_AGENTS PER_SECOND
//
// Claims, orders, outboxes, beats and clock bursts are those of the product; what the workers report is as large as that of
// workers that each handle PER_SECOND echoes a second. Prints its own lateness when the run is over.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { serveRun } from '../out/src/agents/agent/agent.js';
import { connectNats } from '../out/src/agents/bus/natsBus.js';
import { ReferenceClock } from '../out/src/agents/clock/referenceClock.js';
import { runSubjects } from '../out/src/agents/messages.js';
import { LatencyHistogram } from '../out/src/measure/histogram.js';
import { workersOfAgent, connectionsOfAgent } from '../out/src/plan/plan.js';
import { buildPlan } from '../out/src/plan/buildPlan.js';
import { machineClock } from '../out/src/engine/machineClock.js';
import { Recorder } from '../out/src/engine/recorder.js';
import { parseScenario } from '../out/src/scenario/parseScenario.js';

const [bus, run, agentsText, allAgentsText, perSecondText] = process.argv.slice(2);
const [agents, allAgents, perSecond] = [agentsText, allAgentsText, perSecondText].map(Number);
const clock = machineClock();
const delay = monitorEventLoopDelay({ resolution: 10 });
delay.enable();

/** Latency as hubs have it: most of it near a millisecond, a long tail. */
const latencyUs = () => 800 * Math.exp(0.8 * normal());
const normal = () =>
  Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());

/** What a worker counts in a second of a measured step, made by what counts in a real one. */
function measuredSecond() {
  const recorder = new Recorder(0, undefined, 1, true);
  const step = recorder.beginStep(1);
  for (let count = 0; count < perSecond; count++) {
    const [atUs, lateUs, tookUs] = [1e6, 50 * -Math.log(1 - Math.random()), latencyUs()];
    step.slip.record(lateUs);
    recorder.delivered(1, step, count, atUs, atUs + lateUs, atUs + lateUs + tookUs);
  }
  for (const field of ['offered', 'sent', 'expected']) step[field] = perSecond;
  for (const field of ['payloadBytesIn', 'payloadBytesOut', 'wireBytesIn', 'wireBytesOut'])
    step[field] = 2100 * perSecond;
  const loopDelay = new LatencyHistogram();
  for (let count = 0; count < 100; count++) loopDelay.record(10_000 + latencyUs() / 10);
  const generator = {
    ...{ step: 1, elapsedUs: 1e6, busyUs: 3e5, gcUs: 1e4 },
    loopDelay: loopDelay.counts(),
  };
  return recorder.take(0, 0, generator);
}

const seconds = Array.from({ length: 8 }, measuredSecond);
const idle = { step: 0, elapsedUs: 1e6, busyUs: 1e4, gcUs: 0 };

/** Workers of one agent, which only report. */
class Workers {
  constructor({ plan, agent, originUs }, listener) {
    this.plan = plan;
    this.listener = listener;
    this.originUs = originUs;
    this.alive = new Set(workersOfAgent(plan, agent));
    this.open = connectionsOfAgent(plan, agent).length;
    this.connected = 0;
    this.tick = Math.floor(this.nowUs() / 1e6) + 1;
    this.window = undefined;
    setImmediate(() => this.fact({ type: 'ready' }));
    this.later();
  }

  nowUs() {
    return clock.nowUs() - this.originUs;
  }

  takingPart() {
    return this.connected;
  }

  fact(fact) {
    for (const worker of [...this.alive]) {
      if (fact.type === 'closed') this.alive.delete(worker);
      this.listener.fact(worker, fact);
    }
  }

  later() {
    this.timer = setTimeout(
      () => {
        const { window, tick } = this;
        const inStep = window && tick * 1e6 > window.measureUs && tick * 1e6 <= window.endUs;
        this.sample(true, undefined, inStep === true);
        this.tick += 1;
        this.later();
      },
      Math.max(0, (this.tick * 1e6 - this.nowUs()) / 1000),
    );
  }

  sample(due, flush, isMeasured = false) {
    const { alive, listener, tick, connected } = this;
    const atUs = this.nowUs();
    for (const worker of alive) {
      if (due || flush !== undefined)
        listener.fact(worker, { type: 'moved', upToUs: Math.floor(atUs), changes: [] });
      const second = seconds[(worker + tick) % seconds.length];
      const counts = isMeasured ? second : { ...second, steps: [], generator: idle };
      const { soFar } = second.connections;
      const connections = { soFar: { ...soFar, connected: connected / alive.size } };
      const sample = { ...counts, worker, tick, atUs, connections };
      listener.fact(worker, {
        ...{ type: 'sampled', sample, due },
        ...(flush !== undefined && { flush }),
      });
    }
  }

  order(order) {
    if (order.type === 'connect') {
      this.connected = this.open;
      this.fact({ type: 'connected' });
    } else if (order.type === 'prepare') this.fact({ type: 'prepared' });
    else if (order.type === 'flush') this.sample(false, order.flush);
    else if (order.type === 'step') {
      const { warmupMs, measureMs } = this.plan.steps[order.index - 1];
      const measureUs = order.atUs + warmupMs * 1000;
      this.window = { measureUs, endUs: measureUs + measureMs * 1000 };
      const leftMs = (this.window.endUs - this.nowUs()) / 1000;
      setTimeout(() => this.fact({ type: 'stepSent', index: order.index }), leftMs);
    } else if (order.type === 'close') {
      this.sample(false);
      this.fact({ type: 'closed' });
    }
  }

  end() {
    clearTimeout(this.timer);
    this.alive.clear();
    return Promise.resolve();
  }
}

async function work() {
  const link = await connectNats({ url: bus, name: 'a simulated agent' });
  // Agents of one machine have one clock and would not ask for the time.
  const { clock: subject } = runSubjects(run);
  const asking = new ReferenceClock(link, subject, () => clock.nowUs(), false, allAgents);
  const parts = {
    scenarioOf: async ({ text, overrides }) => parseScenario(text, overrides).scenario,
    planOf: async (scenario, { workersEach, seed, runId, dialect }, count) => ({
      ...buildPlan(scenario, { workers: workersEach * count, agents: count, seed, runId }),
      dialect,
    }),
    openTarget: async () => ({ secrets: [], endpoint: {}, dispose: async () => {} }),
    machineLimits: async () => ({ cores: 4, fileDescriptors: null, localPorts: null }),
    startWorkers: (share, listener) => {
      void asking.begin(() => {});
      return new Workers(share, listener);
    },
  };
  const leave = new AbortController().signal;
  const ending = await serveRun(link, parts, { run, say: () => {}, leave });
  asking.dispose();
  await link.close();
  if (ending.kind !== 'done') throw new Error(`an agent ended: ${ending.kind} ${ending.text}`);
}

await Promise.all(Array.from({ length: agents }, work));
console.log(JSON.stringify({ lateMs: delay.percentile(99) / 1e6, mostLateMs: delay.max / 1e6 }));
