/** More of one client are not kept. */
export const mostOwnHeaders = 10;

/** What browsers, programs, the protocols and this tool send by themselves, and what is kept in another way. */
const usual =
  /^(?::.*|accept(?:-.*)?|authorization|baggage|cache-control|connection|content-.*|cookie2?|date|device-memory|dnt|dpr|downlink|ect|expect|forwarded|host|if-.*|keep-alive|origin|pragma|priority|proxy-.*|purpose|range|referer|request-id|rtt|save-data|sec-.*|te|trace(?:parent|state)|trailer|transfer-encoding|upgrade(?:-insecure-requests)?|user-agent|via|viewport-width|width|x-(?:client-data|correlation-id|forwarded-.*|ms-client-request-id|real-ip|request-id|requested-with|signalr-(?:bench.*|user-agent)))$/i;
const headerName = /^[a-z][\w-]{0,59}$/i;

/** Names of the headers that an application sends of its own, in small letters, each once. */
export const ownHeaders = (names: readonly string[]): string[] =>
  [...new Set(names.map((name) => name.toLowerCase()))]
    .filter((name) => headerName.test(name) && !usual.test(name))
    .slice(0, mostOwnHeaders);
