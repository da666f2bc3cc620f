/** Maps whose keys say by one of them of which kind they are; the others belong to that one. */
export const identityKinds = {
  file: [],
  rule: [
    ...['key', 'keyId', 'algorithm', 'audience', 'issuer', 'userClaim', 'claims', 'lifetime'],
    'count',
  ],
  command: ['env', 'count', 'rate', 'inFlight', 'timeout'],
  url: ['method', 'headers', 'body', 'count', 'rate', 'inFlight', 'timeout'],
} as const;
export const observeKinds = {
  prometheus: ['authorization', 'series'],
  azureMonitor: ['region'],
} as const;

/** Whether a key may stand beside those that do: one that says the kind, or one that belongs to it. */
export function belongs(
  kinds: Readonly<Record<string, readonly string[]>>,
  name: string,
  present: ReadonlySet<string>,
): boolean {
  const kind = Object.keys(kinds).find((each) => present.has(each));
  return kind === undefined ? Object.hasOwn(kinds, name) : kinds[kind]!.includes(name);
}
