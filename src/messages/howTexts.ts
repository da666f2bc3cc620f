/** What is said of the ways of a run that are not the usual ones, by the names they have in a scenario. */
export const howTexts = {
  ServerSentEvents: 'over ServerSentEvents',
  LongPolling: 'over LongPolling',
  messagepack: 'messagepack',
  sdk: 'official client',
  measure: 'dialect measure',
  closed: 'closed pacing',
  agents: 'on {0} agents',
} as const;

/** What has answered in place of a service or a deployed hub. */
export const emulatedTexts = {
  embeddedHub: 'against the embedded hub',
  emulator: 'against an emulator',
} as const;
