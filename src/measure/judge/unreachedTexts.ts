import type { ErrorClass } from '../../base/errorClass';

/** Why nothing was reached; `{0}` is where, `{1}` what was said there. */
export const unreachedTexts: Readonly<Partial<Record<ErrorClass, string>>> = {
  refused: 'nothing listens on {0}',
  unreachable: '{0} cannot be reached from this machine',
  dns: 'the host name {0} was not found',
  tls: 'TLS with {0} failed ({1})',
  timeout: '{0} did not answer in time',
  unauthorized: '{0} denies access ({1})',
  notFound: 'there is no hub at {0} ({1})',
};

export const distrusted = 'the certificate of {0} is not trusted ({1})';
export const silentTarget = 'the target did not answer';
/** Around the reason and what to do. */
export const unreached = 'Could not connect: {0}. {1}';
