import { identityPlaceholders } from '../../base/personalText';
import { unitMistakeBelow, namedSpecs } from '../../usecases/parameters';
import { anyCasePattern, choice, type Fields, keyOf, text } from './keySpec';

const [texts, list, values] = [keyOf('texts'), keyOf('list'), keyOf('values')];
const [count, duration, rate] = [keyOf('count'), keyOf('duration'), keyOf('rate')];

const tokenAlgorithms = [
  ...['HS256', 'HS384', 'HS512', 'RS256', 'RS384', 'RS512', 'PS256', 'ES256', 'ES384', 'EdDSA'],
] as const;

const identitySpecs = {
  file: text(
    { beside: true },
    'CSV or JSON lines file (`.jsonl`) beside the scenario file or below it, one identity a row, its columns named in the first line.',
  ),
  rule: text(
    { placeholders: identityPlaceholders },
    'User name of each identity, such as `user-{index}`: a JSON web token is made for each, signed with `key`. `{data.COLUMN}` is a value of the row of `data` with the same number.',
  ),
  key: text(
    { references: true, secret: 'A signing key' },
    'Of a rule: what signs its tokens, as a reference such as `${secret:signing-key}`: a text for HS256, HS384 and HS512, else a private key in PEM form.',
  ),
  keyId: text({}, 'Of a rule: the `kid` in the head of its tokens.'),
  algorithm: choice(
    { choices: tokenAlgorithms, default: 'HS256' },
    'Of a rule: how its tokens are signed.',
  ),
  audience: text({}, 'Of a rule: the claim `aud` of its tokens.'),
  issuer: text({}, 'Of a rule: the claim `iss` of its tokens.'),
  userClaim: text({ default: 'sub' }, 'Of a rule: the claim that has the user name.'),
  claims: values(
    { placeholders: identityPlaceholders },
    'Of a rule: further claims. Texts may hold the placeholders of `rule`; `{identity.NAME}` is the claim of that name.',
  ),
  lifetime: duration(
    {
      range: [10_000, 31_536_000_000],
      default: 3_600_000,
      unitMistake: unitMistakeBelow(1000, 's'),
    },
    'Of a rule: how long its tokens are good for. They are renewed before they expire.',
  ),
  command: list(
    { apart: true },
    'Program and its arguments, as a list with the placeholders of `rule`, called once for each identity before connections open. It prints an access token, or a JSON object with one as `token`, `accessToken` or `access_token` and further values. No shell is involved; it runs in the folder of the scenario file.',
  ),
  env: texts(
    { references: true, placeholders: identityPlaceholders },
    'Of a command: environment variables beside those of this process. Secrets belong here: arguments are seen by other programs.',
  ),
  url: text(
    {
      references: true,
      placeholders: identityPlaceholders,
      pattern: `^(?:${anyCasePattern('http')}[sS]?://|\\$\\{)`,
      says: 'url must be the whole URL of the token endpoint, such as https://….',
    },
    'Token endpoint, called once for each identity before connections open. It answers as a `command` prints.',
  ),
  method: choice({ choices: ['POST', 'GET', 'PUT'], default: 'POST' }, 'Of a token endpoint.'),
  headers: texts(
    { references: true, placeholders: identityPlaceholders },
    'Of a token endpoint: HTTP headers, with the placeholders of `rule`.',
  ),
  body: text(
    { references: true, placeholders: identityPlaceholders },
    'Of a token endpoint: what is sent, with the placeholders of `rule`. It is JSON where it begins with a brace, else a form, unless `headers` name a Content-Type.',
  ),
  count: count(
    { range: [1, 1_000_000], defaultText: 'as many as connections' },
    'How many identities a rule, a command or a token endpoint makes; more connections use them again in turn.',
  ),
  rate: rate(
    { range: [0.1, 1000], default: 20 },
    'Calls of a command or token endpoint that begin in a second.',
  ),
  inFlight: count(
    { range: [1, 100], default: 4 },
    'Calls of a command or token endpoint that go on at the same time.',
  ),
  timeout: duration(
    { range: [100, 120_000], default: 10_000, unitMistake: unitMistakeBelow(100, 's') },
    'Time for one call of a command or token endpoint.',
  ),
};
export const identityKeys = namedSpecs(identitySpecs);

const dataSpecs = {
  file: text(
    { required: true, beside: true },
    'CSV or JSON lines file (`.jsonl`) beside the scenario file or below it, its columns named in the first line.',
  ),
  take: choice(
    { choices: ['connection', 'shared'], default: 'connection' },
    'Who takes a row: each `connection` has one for the whole run, connection i the row i, or the calls have `shared` rows: each takes the next, and a session one for all its calls. After the last row comes the first.',
  ),
};
export const dataKeys = namedSpecs(dataSpecs);
export type DataSpec = Fields<typeof dataSpecs>;

export const identityKinds = {
  file: [],
  rule: [
    ...['key', 'keyId', 'algorithm', 'audience', 'issuer', 'userClaim', 'claims', 'lifetime'],
    'count',
  ],
  command: ['env', 'count', 'rate', 'inFlight', 'timeout'],
  url: ['method', 'headers', 'body', 'count', 'rate', 'inFlight', 'timeout'],
} as const;

type FieldsOfKind<Kind extends keyof typeof identityKinds, Always extends string> = {
  readonly kind: Kind;
} & Fields<
  Pick<
    typeof identitySpecs,
    (Always & keyof typeof identitySpecs) | (typeof identityKinds)[Kind][number]
  >,
  Always
>;

/** Without `count` as many tokens as connections. */
export type TokenRule = FieldsOfKind<'rule', 'rule' | 'key'>;

export type CalledIdentities =
  | (FieldsOfKind<'command', 'env'> & { readonly command: readonly string[] })
  | FieldsOfKind<'url', 'url'>;
