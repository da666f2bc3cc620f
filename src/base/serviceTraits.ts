/** The services of Azure, in the order in which they are tried where nothing says which one it is. */
export const azureServices = ['signalr', 'webpubsub'] as const;
export type AzureService = (typeof azureServices)[number];
/** What a scenario is run against; `hub` is one without a service. */
export type Service = 'hub' | AzureService;

/** Where no hub does it for the client. */
export type ClientPermission = 'joinGroups' | 'sendToGroups';

interface Traits {
  /** For people, as it stands in a sentence. */
  readonly name: string;
  /** With negotiation and callbacks, over any transport; else a Web PubSub subprotocol: WebSockets, bare data. */
  readonly speaksHub: boolean;
  /** Who has the hub methods: app servers that a run starts in default mode, those of the user, or event handlers. */
  readonly appServers: 'ofRun' | 'ofUser' | 'none';
  /** Of one message in a frame of a client, another request of a client, or the body of a REST call; absent: no limit. */
  readonly mostBytes?: Readonly<Partial<Record<'frame' | 'request' | 'body', number>>>;
}

export interface AzureTraits extends Traits {
  /** Of its hosts in any cloud of Azure. Source: "Private link: private DNS zone values". */
  readonly domains: readonly string[];
  /** Variable of the environment that examples take for the connection string. */
  readonly variable: string;
  /** What `serve` calls the emulator. */
  readonly emulator: string;
  /** The name under which the service knows a hub. */
  readonly hubName: (written: string) => string;
  /** Where the clients of a hub come in; their tokens are made out to it. */
  readonly clientPath: (hub: string) => string;
  readonly userClaim: string;
  /** Absent: clients need no role for anything. */
  readonly roles?: Readonly<Record<ClientPermission, string>>;
  /**
   * Stable version with every call that is made here, to which newer ones would add nothing: "REST API
   * reference" of either service. `:generateToken` came with 2022-11-01.
   */
  readonly apiVersion: string;
  /** A user who joins a group stays in it for a year, unless the call says how long. */
  readonly remembersUsers: boolean;
  /** Body with which an emulator is to send the handler what clients send, and nothing else. */
  readonly handlerEvents: Readonly<Record<string, unknown>>;
  /** To who has signed in it lends a key that signs clients' tokens; else it issues them itself. */
  readonly lendsKey: boolean;
  /** Sources: "Authorize access with Microsoft Entra ID" of either service; @azure/web-pubsub. */
  readonly scope: string;
  /** What an identity needs for what it is going to do. */
  readonly identityRoles: Readonly<Record<'appServer' | 'rest', string>>;
}

const megabyte = 1024 * 1024;

/** Everything else asks here and never for a name. */
export const services: Readonly<{ hub: Traits } & Record<AzureService, AzureTraits>> = {
  hub: { name: 'a hub without a service', speaksHub: true, appServers: 'ofUser' },
  signalr: {
    name: 'Azure SignalR Service',
    speaksHub: true,
    appServers: 'ofRun',
    domains: ['service.signalr.net', 'signalr.azure.us', 'signalr.azure.cn'],
    variable: 'AZURE_SIGNALR',
    emulator: 'azure-signalr',
    // Source: "Messages and connections in Azure SignalR Service", heading "Message size".
    mostBytes: { request: megabyte, body: megabyte },
    // What is asked for by another name may not be found.
    hubName: (written) => written.toLowerCase(),
    clientPath: (hub) => `/client/?hub=${hub}`,
    userClaim: 'nameid',
    apiVersion: '2022-11-01',
    remembersUsers: true,
    handlerEvents: {},
    lendsKey: true,
    scope: 'https://signalr.azure.com/.default',
    identityRoles: {
      appServer: 'SignalR App Server (or SignalR Service Owner)',
      // Lets an identity both borrow a key and make REST calls.
      rest: 'SignalR Service Owner',
    },
  },
  webpubsub: {
    name: 'Azure Web PubSub',
    speaksHub: false,
    appServers: 'none',
    domains: ['webpubsub.azure.com', 'webpubsub.azure.us', 'webpubsub.azure.cn'],
    variable: 'AZURE_WEBPUBSUB',
    emulator: 'web-pubsub',
    // Sources: "Azure Web PubSub service internals", headings "Client message limit" and "Terms".
    mostBytes: { frame: megabyte, body: megabyte },
    hubName: (written) => written,
    clientPath: (hub) => `/client/hubs/${hub}`,
    userClaim: 'sub',
    roles: { joinGroups: 'webpubsub.joinLeaveGroup', sendToGroups: 'webpubsub.sendToGroup' },
    apiVersion: '2024-12-01',
    remembersUsers: false,
    handlerEvents: { systemEvents: [] },
    lendsKey: false,
    scope: 'https://webpubsub.azure.com/.default',
    identityRoles: { appServer: 'Web PubSub Service Owner', rest: 'Web PubSub Service Owner' },
  },
};

/** What a connection string leads to where nothing says otherwise, and what a hub without a service counts as. */
export const usualService: AzureService = 'signalr';

export const isAzure = (service: Service): service is AzureService => service !== 'hub';

export const azureServiceOf = (service: Service): AzureService =>
  isAzure(service) ? service : usualService;

/** The service a host belongs to; undefined for a gateway, a domain of somebody's own or an emulator. */
export const serviceOfHost = (host: string): AzureService | undefined =>
  azureServices.find((service) =>
    services[service].domains.some((domain) => host.toLowerCase().endsWith(`.${domain}`)),
  );

/** Size of a resource: a number of Units, or the free tier. */
export type ServiceSize = number | 'free';

const connectionsPerUnit = 1000;
const freeConnections = 20;

/**
 * How many connections a size has, all kinds of them together: in Azure SignalR Service those of app servers
 * count too. Source: "Messages and connections in Azure SignalR Service".
 */
export function connectionLimit(size: ServiceSize | undefined): number {
  if (size === undefined) return Infinity;
  return size === 'free' ? freeConnections : size * connectionsPerUnit;
}

/**
 * From this Unit on, so many new connections per second; Azure/azure-signalr#1282, a maintainer's comment.
 * For Web PubSub nothing is published; it is taken to be the same.
 */
const connectRates: readonly (readonly [unit: number, perSecond: number])[] = [
  [100, 8000],
  [50, 2000],
  [20, 600],
  [0, 400],
];
const freeConnectRate = 20;

/** New connections per second that a size takes. */
export function connectRateLimit(size: ServiceSize | undefined): number {
  if (size === undefined) return Infinity;
  if (size === 'free') return freeConnectRate;
  return connectRates.find(([unit]) => size >= unit)?.[1] ?? Infinity;
}

/**
 * Names of hubs in both services: letters, digits and a few signs, a letter first. Source: validators of
 * Microsoft's emulator, and the REST API specification of Web PubSub.
 */
export const isHubName = (name: string): boolean =>
  /^[A-Za-z][A-Za-z0-9_`,.[\]]{0,127}$/.test(name);
