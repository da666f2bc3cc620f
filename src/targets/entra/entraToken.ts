/** A token of Microsoft Entra ID, and until when it is good. */
export interface EntraToken {
  readonly token: string;
  /** Milliseconds since 1970. */
  readonly expiresAtMs: number;
}

/** Something that gets tokens of Microsoft Entra ID. */
export interface EntraCredential {
  /** @throws Error with why there is none */
  token(scope: string): Promise<EntraToken>;
}
