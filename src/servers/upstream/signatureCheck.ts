import { createHmac, timingSafeEqual } from 'node:crypto';

/** What is said of an event without the right one. */
export const wrongSignature =
  'The upstream handler refused an event with 401: it is not signed with the access key of the connection string.';

/**
 * Whether a service has signed an event: `sha256=<hex>` for each of its keys, separated by commas, over
 * the id of the connection. The services differ in the case of the digits.
 *
 * @param accessKey undefined where somebody has signed in instead: nothing can be checked then
 */
export function isSigned(
  header: string | undefined,
  connectionId: string | undefined,
  accessKey: string | undefined,
): boolean {
  if (accessKey === undefined) return true;
  if (header === undefined || connectionId === undefined) return false;
  const wanted = createHmac('sha256', accessKey).update(connectionId).digest();
  return header.split(',', 4).some((part) => {
    const [, digits] = /^\s*sha256=([0-9a-f]{64})\s*$/i.exec(part) ?? [];
    return digits !== undefined && timingSafeEqual(Buffer.from(digits, 'hex'), wanted);
  });
}
