const secretName =
  /authorization|cookie|token|secret|passw|passphrase|pwd|api-?key|access-?key|credential|session|signature|(^|[-_])(key|auth|sig|code)$/i;

/** Whether a header, a key or a column is called like something that lets somebody in. */
export const isSecretName = (name: string): boolean => secretName.test(name);
