/** In the order in which they are tried where nothing says which one it is. */
export const azureServices = ['signalr', 'webpubsub'] as const;
export type AzureService = (typeof azureServices)[number];
/** What a scenario is run against; `hub` is one without a service. */
export type Service = 'hub' | AzureService;

/** What a client needs a role for, where no hub does it for the client. */
export type ClientPermission = 'joinGroups' | 'sendToGroups';

interface Traits {
  readonly name: string;
  /** With negotiation and callbacks, over any transport; else a Web PubSub subprotocol: WebSockets, bare data. */
  readonly speaksHub: boolean;
  /** Who has the hub methods: app servers that a run starts, those of the user, or event handlers. */
  readonly appServers: 'ofRun' | 'ofUser' | 'none';
  /** Limit of one message: in a frame of a client, in another request of a client, in the body of a REST call. */
  readonly maxBytes?: Readonly<Partial<Record<'frame' | 'request' | 'body', number>>>;
}

export interface AzureTraits extends Traits {
  /** In any cloud of Azure. Source: "Private link: private DNS zone values". */
  readonly domains: readonly string[];
  /** Environment variable that examples take for the connection string. */
  readonly variable: string;
  readonly emulator: string;
  readonly hubName: (written: string) => string;
  readonly clientPath: (hub: string) => string;
  readonly userClaim: string;
  readonly roles?: Readonly<Record<ClientPermission, string>>;
  /**
   * Oldest stable version with every call that is made here: "REST API reference" of either service. `:generateToken`
   * came with 2022-11-01.
   */
  readonly apiVersion: string;
  /** A user who joins a group stays in it for a year, unless the call says how long. */
  readonly remembersUsers: boolean;
  /** Settings with which an emulator sends the handler only what clients send. */
  readonly handlerEvents: Readonly<Record<string, unknown>>;
  /** Lends a signed-in app a key that signs clients' tokens; else the service issues them itself. */
  readonly lendsKey: boolean;
  /** Sources: "Authorize access with Microsoft Entra ID" of either service; @azure/web-pubsub. */
  readonly scope: string;
  readonly identityRoles: Readonly<Record<'appServer' | 'rest', string>>;
}

const megabyte = 1024 * 1024;

/** The only place that depends on the name of a service. */
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
    maxBytes: { request: megabyte, body: megabyte },
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
    maxBytes: { frame: megabyte, body: megabyte },
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

/** Used where a connection string does not say, and for a hub without a service. */
export const defaultService: AzureService = 'signalr';

export const isAzure = (service: Service): service is AzureService => service !== 'hub';

export const azureServiceOf = (service: Service): AzureService =>
  isAzure(service) ? service : defaultService;

/** Undefined for a gateway, a custom domain or an emulator. */
export const findServiceByHost = (host: string): AzureService | undefined =>
  azureServices.find((service) =>
    services[service].domains.some((domain) => host.toLowerCase().endsWith(`.${domain}`)),
  );

export type ServiceSize = number | 'free';

const connectionsPerUnit = 1000;
const freeConnections = 20;

/**
 * All kinds of connections together: in Azure SignalR Service those of app servers count too. Source: "Messages and
 * connections in Azure SignalR Service".
 */
export function connectionLimit(size: ServiceSize | undefined): number {
  if (size === undefined) return Infinity;
  return size === 'free' ? freeConnections : size * connectionsPerUnit;
}

/**
 * Source: Azure/azure-signalr#1282, a maintainer's comment. For Web PubSub nothing is published; it is taken to be
 * the same.
 */
const connectRates: readonly (readonly [unit: number, perSecond: number])[] = [
  [100, 8000],
  [50, 2000],
  [20, 600],
  [0, 400],
];
const freeConnectRate = 20;

export function connectRateLimit(size: ServiceSize | undefined): number {
  if (size === undefined) return Infinity;
  if (size === 'free') return freeConnectRate;
  return connectRates.find(([unit]) => size >= unit)?.[1] ?? Infinity;
}

/**
 * Letters, digits and a few signs, a letter first. Source: validators of Microsoft's emulator, and the REST API
 * specification of Web PubSub.
 */
export const isHubName = (name: string): boolean =>
  /^[A-Za-z][A-Za-z0-9_`,.[\]]{0,127}$/.test(name);
