/** `config.observe`: where metrics of the server are read beside the load. */
import type { ObserveSpec } from '../scenario';
import { referencesIn } from '../target/references';
import type { Reading } from '../text/scenarioReading';
import { readRecords, type ListRecord } from './readRecords';
import type { Section } from './readSection';

const mostPatterns = 20;
const longestPattern = 200;

/** Undefined where it is not written. */
export function readObserve(reading: Reading, config: Section): ObserveSpec[] | undefined {
  const example = '{ prometheus: http://localhost:5000/metrics }';
  return readRecords(reading, config, 'observe', example)?.flatMap(
    (record) => readOne(reading, record) ?? [],
  );
}

function readOne(reading: Reading, { item, section: one }: ListRecord): ObserveSpec | undefined {
  const text = (name: string): string | undefined => {
    const value = one.values.get(name);
    return typeof value === 'string' ? value.trim() : undefined;
  };
  if (one.written.has('eventPipe')) {
    const message =
      'eventPipe is not read: no maintained npm package speaks the diagnostic port of .NET. Give the server an endpoint, by OpenTelemetry.Exporter.Prometheus.AspNetCore or prometheus-net, and write its URL as prometheus.';
    reading.error('event-pipe', one.written.get('eventPipe')?.key, message);
    return undefined;
  }
  const both = one.written.has('prometheus') && one.written.has('azureMonitor');
  if (both || !(one.written.has('prometheus') || one.written.has('azureMonitor'))) {
    const message = both
      ? 'This entry has both prometheus and azureMonitor. Make two entries of it.'
      : 'This entry observes nothing. Write the URL of an endpoint as prometheus, or a resource as azureMonitor.';
    reading.error('observe', item, message);
    return undefined;
  }
  const resource = text('azureMonitor');
  if (resource !== undefined) return azureMonitor(reading, one, resource, text('region'));
  const url = text('prometheus');
  return url === undefined ? undefined : prometheus(reading, one, url, text);
}

function prometheus(
  reading: Reading,
  one: Section,
  url: string,
  text: (name: string) => string | undefined,
): ObserveSpec | undefined {
  // What a reference stands for is looked at when the run begins.
  if (referencesIn(url).length === 0 && !isHttp(url)) {
    const message =
      'This is not a URL of an endpoint. Write the whole of it, such as http://localhost:5000/metrics.';
    reading.error('observe', one.written.get('prometheus')?.place, message);
    return undefined;
  }
  const authorization = text('authorization');
  if (authorization !== undefined && /[\r\n]/.test(authorization)) {
    const message = 'authorization has a line break in its value.';
    reading.error('wrong-type', one.written.get('authorization')?.place, message);
    return undefined;
  }
  const series = (text('series') ?? '')
    .split(',')
    .map((pattern) => pattern.trim())
    .filter((pattern) => pattern !== '');
  const wrong = series.find(
    (pattern) => pattern.length > longestPattern || !/^[A-Za-z0-9_:*]+$/.test(pattern),
  );
  if (wrong !== undefined || series.length > mostPatterns) {
    const message =
      wrong === undefined
        ? `series has at most ${mostPatterns} names.`
        : 'series holds names of metrics with * for any part, separated by commas: letters, digits, _ and :.';
    reading.error('observe', one.written.get('series')?.place, message);
  }
  const kept = wrong === undefined ? series.slice(0, mostPatterns) : [];
  return {
    ...{ kind: 'prometheus', url, series: kept },
    ...(authorization !== undefined && { authorization }),
  };
}

const isHttp = (text: string): boolean => /^https?:\/\/[^\s/?#]+(?:[/?]\S*)?$/i.test(text);

function azureMonitor(
  reading: Reading,
  one: Section,
  resource: string,
  region: string | undefined,
): ObserveSpec | undefined {
  const isResource =
    referencesIn(resource).length > 0 ||
    /^\/subscriptions\/[^/]+\/resourceGroups\/[^/]+\/providers\/Microsoft\.SignalRService\/(SignalR|WebPubSub)\/[^/]+$/i.test(
      resource,
    );
  if (!isResource) {
    const message =
      'This is not a resource of Azure SignalR Service or Azure Web PubSub. Copy its resource id from the portal: /subscriptions/…/providers/Microsoft.SignalRService/SignalR/NAME.';
    reading.error('observe', one.written.get('azureMonitor')?.place, message);
    return undefined;
  }
  if (region === undefined || !/^[a-z0-9]{2,40}$/.test(region)) {
    const message = 'azureMonitor needs the region of the resource, such as region: westeurope.';
    reading.error(
      'observe',
      one.written.get('region')?.place ?? one.written.get('azureMonitor')?.key,
      message,
    );
    return undefined;
  }
  return { kind: 'azureMonitor', resource, region };
}
