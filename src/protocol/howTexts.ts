/** What is said of the ways of a run that are not the usual ones, by the names they have in a scenario. */
export const howTexts = {
  ServerSentEvents: 'over ServerSentEvents',
  LongPolling: 'over LongPolling',
  messagepack: 'messagepack',
  sdk: 'official client',
  measure: 'dialect measure',
  closed: 'closed pacing',
} as const;
