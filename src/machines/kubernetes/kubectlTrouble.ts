/** What kubectl says when it fails, as one sentence of what is wrong and one of what to do. */
import { ExpectedError } from '../../base/expectedError';
import { redactText } from '../../results/redact';
import type { ClusterWords } from './clusterWords';

interface Trouble {
  readonly code: string;
  readonly pattern: RegExp;
  readonly words: (...found: string[]) => string;
}

/** Of what it says, where no pattern fits. */
const mostLines = 3;
const mostLength = 500;
/** kubelogin by its device code waits for a person, who cannot answer it here. */
const prompt = /microsoft\.com\/devicelogin|To sign in, use a web browser/;

const signIn =
  'Sign in again (on AKS: az login, then az aks get-credentials), see that kubectl get pods answers, and start again.';

/** The first that fits counts: the same words may stand in the reason of another. Seen of kubectl 1.20 and 1.32. */
const troublesIn = ({ namespace, context }: ClusterWords): readonly Trouble[] => [
  {
    code: 'kubectl-context',
    pattern:
      /context was not found for specified context: (\S+)|context "([^"]+)" does not exist|cannot locate context (\S+)/,
    words: (...found) =>
      `kubectl knows no context ${found.join('')}: kubectl config get-contexts lists those it knows, az aks get-credentials adds one.`,
  },
  {
    code: 'kubectl-context',
    pattern:
      /current-context (?:is not set|must exist)|\/\/localhost:8080\/|server localhost:8080 was/,
    words: () =>
      `kubectl has no cluster to talk to: name one${context}, or add one (on AKS: az aks get-credentials --resource-group GROUP --name CLUSTER).`,
  },
  {
    code: 'kubectl-sign-in',
    pattern: /exec: executable (\S+) not found|exec: "([^"]+)": executable file not found/,
    words: (one, other) =>
      `kubectl signs in by ${one || other}, which is not installed here: install it (az aks install-cli brings kubelogin).`,
  },
  {
    code: 'kubectl-sign-in',
    pattern: prompt,
    words: () => `kubectl asks for a sign-in, which cannot be answered from here. ${signIn}`,
  },
  {
    code: 'kubectl-sign-in',
    pattern:
      /must be logged in to the server|asked for the client to provide credentials|getting credentials|AADSTS\d+|az login|error reading input for Password/,
    words: () => `Your sign-in to the cluster is missing or has expired. ${signIn}`,
  },
  {
    code: 'cluster-quota',
    pattern: /exceeded quota: ([^,\s]+), requested: (\S{1,500}), used: (\S{1,500}), limited: (\S+)/,
    words: (quota, requested, used, limited) =>
      `Quota ${quota} of the namespace has no room: asked for ${requested}, used ${used}, limit ${limited}. Use fewer agents, or ask for a larger quota.`,
  },
  {
    code: 'cluster-security',
    pattern: /violates PodSecurity "([^"]+)": ([^\n]*)/,
    words: (level, what) =>
      `The namespace takes pods of the level ${level} only, and refused one: ${what}.`,
  },
  {
    code: 'cluster-namespace',
    pattern: /namespaces? "([^"]+)" not found/,
    words: (name) =>
      `The cluster has no namespace ${name}: make it (kubectl create namespace ${name}), or name another one${namespace}.`,
  },
  {
    code: 'cluster-rights',
    pattern: /\(Forbidden\): ([^\n]*)/,
    words: (why) =>
      `The cluster refuses it: ${why}. Ask for this right, or name another namespace${namespace}.`,
  },
  {
    code: 'cluster-certificate',
    pattern: /(x509: [^\n]*)/,
    words: (why) =>
      `The certificate of the cluster's server is not trusted (${why}): fetch the credentials of the cluster again, and see whether a proxy stands between.`,
  },
  {
    code: 'cluster-unreachable',
    pattern:
      /Unable to connect to the server: ([^\n]*)|The connection to the server (\S+) was refused|(dial tcp[^\n"]*?(?:refused|timeout|no such host|unreachable|no route to host))|((?:TLS handshake timeout|context deadline exceeded|Client\.Timeout exceeded)[^\n]*)/,
    words: (...why) =>
      `The cluster's server cannot be reached (${why.find((each) => each) ?? ''}). See that the cluster runs, and whether it wants a VPN or another network.`,
  },
];

export const asksForSignIn = (said: string): boolean => prompt.test(said);

/** @param by how the advice is followed there where it is read */
export function kubectlTrouble(
  words: readonly string[],
  said: string,
  by: ClusterWords,
): ExpectedError {
  for (const { code, pattern, words: sentence } of troublesIn(by)) {
    const found = pattern.exec(said);
    if (found !== null)
      return new ExpectedError(code, redactText(sentence(...found.slice(1).map(clean))));
  }
  const lines = said.trim().split('\n').slice(-mostLines).join(' ').slice(0, mostLength);
  return new ExpectedError('kubectl', redactText(`kubectl ${words[0]} failed: ${lines}`));
}

export const kubectlLate = (words: readonly string[], withinMs: number): ExpectedError =>
  new ExpectedError(
    'cluster-unreachable',
    `kubectl ${words[0]} has not answered within ${withinMs / 1000} s. See that the cluster runs, and whether kubectl get pods answers.`,
  );

/** A group that took no part is undefined; sentences go on with a full stop of their own. */
const clean = (found: string | undefined): string =>
  (found ?? '').trim().replace(/\.$/, '').slice(0, mostLength);
