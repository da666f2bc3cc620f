/** Places that load can go to: a list without secrets, and the store of the secrets. */
import { azureServices, services, defaultService, isAzure } from '../../base/serviceTraits';
import type { Translate } from '../../base/text';
import { redacted } from '../../base/secrets';
import { redactUrl } from '../../results/redact';
import type { Override } from '../../scenario/read/overrides';
import type { Scenario } from '../../scenario/scenario';
import { isLoopback } from '../../wire/socket/isLoopback';

/** Somewhere load can go, as the Targets view lists it. No secrets. */
export type TargetNode =
  | { readonly kind: 'local'; readonly service: Scenario['service'] }
  | { readonly kind: 'hub'; readonly url: string }
  | { readonly kind: 'secret'; readonly name: string };

/** Hubs remembered; the oldest goes first. */
const mostHubs = 20;

export function targetNodes(hubs: readonly string[], secrets: readonly string[]): TargetNode[] {
  return [
    ...(['hub', ...azureServices] as const).map((service) => ({ kind: 'local', service }) as const),
    ...hubs.map((url): TargetNode => ({ kind: 'hub', url })),
    ...[...secrets].sort().map((name): TargetNode => ({ kind: 'secret', name })),
  ];
}

/** Whether a scenario of a service can run there. The hub of one without a service may be behind an emulator. */
export function fitsService(node: TargetNode, service: Scenario['service']): boolean {
  if (node.kind === 'hub') return services[service].speaksHub;
  if (node.kind === 'secret') return true;
  return node.service === service || (node.service === defaultService && !isAzure(service));
}

export function targetKeys(node: TargetNode, service: Scenario['service']): Override[] {
  const target = { path: 'config.target', value: targetText(node) };
  const isOther = node.kind === 'local' && node.service !== service;
  return isOther ? [target, { path: 'config.service', value: node.service }] : [target];
}

/** The list with this URL in front. A URL that holds a secret, or held one, is not remembered. */
export function withHub(hubs: readonly string[], url: string): string[] {
  const secret = redactUrl(url) !== url || url.includes(redacted);
  if (secret || url.includes('${') || url.length > 2000) return [...hubs];
  return [url, ...hubs.filter((known) => known !== url)].slice(0, mostHubs);
}

export function targetText(node: TargetNode): string {
  if (node.kind === 'local') return 'local';
  return node.kind === 'hub' ? node.url : `\${secret:${node.name}}`;
}

type TargetLook = Readonly<Record<'label' | 'description' | 'icon', string>>;

export function targetLook(node: TargetNode, t: Translate): TargetLook {
  if (node.kind === 'secret')
    return { label: node.name, description: t('kept secret'), icon: 'key' };
  if (node.kind === 'hub') {
    const description = isOnThisMachine(node.url) ? t('this machine') : '';
    return { label: node.url, description, icon: 'globe' };
  }
  const labels = {
    hub: t('Local hub'),
    signalr: t('Local Azure SignalR emulator'),
    webpubsub: t('Local Web PubSub emulator'),
  };
  const description = t('embedded, started when needed');
  return { label: labels[node.service], description, icon: 'vm' };
}

function isOnThisMachine(url: string): boolean {
  try {
    return isLoopback(url);
  } catch {
    return false;
  }
}

/** The name, or with the first number behind it that makes it free. */
export function freeSecretName(name: string, taken: readonly string[]): string {
  for (let number = 1; ; number++) {
    const free = number === 1 ? name : `${name}${number}`;
    if (!taken.includes(free)) return free;
  }
}
