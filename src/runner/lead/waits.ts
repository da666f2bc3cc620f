/** How long the lead of a run waits for what. */
export const waits = {
  /** Failed connects after which a target that never answered is given up. */
  hopelessConnects: 20,
  /** A target of which nothing is heard for so long is given up, unless the plan allows a single connect more. */
  hopelessMs: 22_500,
  /** So is one that had connections, after as long without any. */
  deadMs: 47_000,
  /** In a search, whose connections come back only because it opens them again. */
  deadInSearchMs: 15_000,
  /** From the order to connect until the first connection is due. */
  connectLeadUs: 20_000,
  /** From the order to begin a step until its first message may be due, so that every worker has heard it. */
  stepLeadUs: 100_000,
  drainPollMs: 25,
  /** From the end of a step until every worker has said that its last message left; backlogs take a second. */
  sendingUs: 1_500_000,
  /** From the end of a drain until every worker has reported what it had received by then, and agents each other's changes. */
  reportingUs: 1_000_000,
  closeMs: 3000,
  /** A host declares lost who is silent, before this. */
  mostSettlingMs: 120_000,
  /**
   * After all the time that a phase may take, until an agent that has not reported its end is lost.
   * Source: decision record on several machines, "Barrier".
   */
  phaseMs: 60_000,
  /** After that, for what could not be heard until then. */
  onItsWayMs: 5000,
  /** Between two looks at which processes of workers are silent. */
  lookMs: 1000,
  /** One that is silent for so long is lost, as an agent is by default. */
  silentMs: 30_000,
  /** Between two looks at a target that recovers from a step. */
  recoveryPollMs: 250,
  /** One that delivers nothing more for so long has recovered, or will not. */
  quietUs: 2_000_000,
  leastRecoveryMs: 5000,
} as const;
