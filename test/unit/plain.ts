/** A value whose reasons have code and English message alone, for tests that are about these. */
export const plain = <Value>(value: Value): Value =>
  JSON.parse(
    JSON.stringify(value, (key, each: unknown) =>
      key === 'rule' || (key === 'words' && typeof each !== 'function') ? undefined : each,
    ),
    (_key, each: unknown) => (isReason(each) ? { code: each.code, message: each.message } : each),
  ) as Value;

const isReason = (value: unknown): value is { readonly code: string; readonly message: string } =>
  typeof value === 'object' && value !== null && 'code' in value && 'message' in value;
