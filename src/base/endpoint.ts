/** Everything a connection needs to get in, with all references resolved. Never stored, never shown. */
export interface Endpoint {
  /** `http:` or `https:` hub URLs; connection i uses URL i mod count. */
  readonly urls: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly accessToken?: string;
  /** PEM text of additional certificate authorities. */
  readonly ca?: string;
  readonly insecureTls: boolean;
  readonly skipNegotiation: boolean;
}
