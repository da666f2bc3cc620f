import { ExpectedError } from '../../../base/expectedError';
import { serviceOfHost } from '../../../base/serviceTraits';
import { formatCount } from '../../../base/units';
import { listed } from '../../../scenario/text/words';
import type { ClusterCheck, Finding } from './check';

export const networkPolicyCheck: ClusterCheck = {
  name: 'network policy',
  isForDoctor: true,
  look: (): Promise<readonly Finding[]> =>
    Promise.resolve([
      {
        status: 'note',
        text: 'not known: a cluster does not say whether its network keeps policies. A run makes one, so that only its own pods reach its bus; elsewhere the key of the bus alone keeps others out.',
      },
    ]),
};

/** The bus of a run in a cluster has no TLS. Asks nobody. */
export const openBusCheck: ClusterCheck = {
  name: 'bus',
  look: (_view, { secretFiles = [] }): Promise<readonly Finding[]> =>
    Promise.resolve(
      secretFiles.length === 0
        ? []
        : [
            {
              status: 'warning',
              text: `The bus of the run has no TLS: ${listed(secretFiles)} can be read by whoever listens on the network of the cluster.`,
              advice:
                'Where others may listen there, sign tokens by a rule (identities.rule) with a key from a Secret.',
            },
          ],
    ),
};

/**
 * Ports that a public load balancer gives each machine for one frontend address, by how many machines there are; more
 * addresses give more, up to the first number. Source: Azure Load Balancer, "Source Network Address Translation (SNAT)
 * for outbound connections", heading "Default port allocation table".
 */
const defaultPorts: readonly (readonly [upTo: number, ports: number])[] = [
  ...[[50, 1024] as const, [100, 512] as const, [200, 256] as const],
  ...[[400, 128] as const, [800, 64] as const, [1000, 32] as const],
];

/** Source: Azure Kubernetes Service, "Outbound network and FQDN rules for AKS clusters". */
const aksServer = /^https:\/\/[^/]+\.azmk8s\.io(:\d+)?\/?$/i;

export const outboundPorts = (nodes: number): number =>
  defaultPorts.find(([upTo]) => nodes <= upTo)?.[1] ?? defaultPorts.at(-1)![1];

const advice =
  'Where nodes go out by a load balancer, give them a NAT gateway, or more ports (az aks update --load-balancer-managed-outbound-ip-count --load-balancer-outbound-ports), or the service a private endpoint. Connections that time out in steps of so many are its signature.';

export const outboundCheck: ClusterCheck = {
  name: 'outbound ports',
  async look(view, { agents, connections, hosts = [] }): Promise<readonly Finding[]> {
    const { server = '' } = await view.place();
    const atAks = aksServer.test(server);
    const nodes = await view.nodes().catch((error: unknown) => {
      // Each agent has a node of its own then, at best.
      if (atAks && error instanceof ExpectedError) return [];
      throw error;
    });
    if (!atAks && !nodes.some(({ isAks }) => isAks))
      return [{ status: 'good', text: 'no limit is known: these are not nodes of AKS' }];
    const ports = outboundPorts(nodes.length);
    const perNode = `A node of AKS has ${formatCount(ports)} outbound ports to one public address by default`;
    const isPublic = hosts.some((host) => serviceOfHost(host) !== undefined);
    if (connections === undefined || (hosts.length > 0 && !isPublic))
      return [
        {
          status: 'note',
          text: `${perNode}: so many connections at most from one node to one service of Azure.`,
          advice,
        },
      ];
    const open = nodes.filter(({ isOpen }) => isOpen).length;
    const places = Math.max(1, nodes.length === 0 ? agents : Math.min(agents, open));
    const each = Math.ceil(connections / places);
    if (each <= ports)
      return [
        {
          status: 'good',
          text: `${formatCount(each)} connections from each node, ${formatCount(ports)} ports`,
        },
      ];
    return [
      {
        status: 'warning',
        text: `${perNode}, and ${formatCount(each)} connections would come from each.`,
        advice,
      },
    ];
  },
};

export const imagesCheck: ClusterCheck = {
  name: 'images',
  isForDoctor: true,
  look: ({ words }, { image, busImage }): Promise<readonly Finding[]> =>
    Promise.resolve([
      {
        status: 'note',
        text: `${image} (agents, coordinator) and ${busImage} (bus) will be pulled by the nodes.`,
        advice: `A closed network needs mirrors of both${words.images}.`,
      },
    ]),
};
