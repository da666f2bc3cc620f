/** Where load would leave this machine. */
export interface LoadBeyond {
  /** Names and ports, each once. */
  readonly hosts: readonly string[];
  /** URL of the target, for people. */
  readonly url: string;
  /** Whether the target is on this machine, and redirects to the hosts. */
  readonly redirected: boolean;
}
