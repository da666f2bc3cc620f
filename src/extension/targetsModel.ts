import { redacted, redactUrl } from '../results/redact';
import { isLoopback } from '../wire/isLoopback';
import type { Translate } from './translate';

/** Somewhere load can go, as the Targets view lists it. No secrets. */
export type TargetNode =
  | { readonly kind: 'local' }
  | { readonly kind: 'hub'; readonly url: string }
  | { readonly kind: 'secret'; readonly name: string };

/** Hubs remembered; the oldest goes first. */
const mostHubs = 20;

/** Local hub, hubs used last, then what is kept by name. */
export function targetNodes(hubs: readonly string[], secrets: readonly string[]): TargetNode[] {
  return [
    { kind: 'local' },
    ...hubs.map((url): TargetNode => ({ kind: 'hub', url })),
    ...[...secrets].sort().map((name): TargetNode => ({ kind: 'secret', name })),
  ];
}

/** The list with this URL in front. A URL that holds a secret, or held one, is not remembered. */
export function withHub(hubs: readonly string[], url: string): string[] {
  const secret = redactUrl(url) !== url || url.includes(redacted);
  if (secret || url.includes('${') || url.length > 2000) return [...hubs];
  return [url, ...hubs.filter((known) => known !== url)].slice(0, mostHubs);
}

/** What `config.target` says for it. */
export function targetText(node: TargetNode): string {
  switch (node.kind) {
    case 'local':
      return 'local';
    case 'hub':
      return node.url;
    case 'secret':
      return `\${secret:${node.name}}`;
  }
}

export interface TargetLook {
  readonly label: string;
  readonly description: string;
  readonly icon: string;
}

export function targetLook(node: TargetNode, t: Translate): TargetLook {
  switch (node.kind) {
    case 'local':
      return {
        label: t('Local hub'),
        description: t('embedded, started when needed'),
        icon: 'vm',
      };
    case 'hub':
      return {
        label: node.url,
        description: loopbackOrUndefined(node.url) === true ? t('this machine') : '',
        icon: 'globe',
      };
    case 'secret':
      return { label: node.name, description: t('kept secret'), icon: 'key' };
  }
}

function loopbackOrUndefined(url: string): boolean | undefined {
  try {
    return isLoopback(url);
  } catch {
    return undefined;
  }
}
