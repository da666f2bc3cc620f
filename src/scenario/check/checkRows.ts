/** Checks placeholders of identities and data. */
import {
  connectionPlaceholders,
  identityPlaceholders,
  parsePersonalText,
  type PersonalPart,
  type RowName,
} from '../../base/personalText';
import { rowsUsed, hubRunOf } from '../../usecases/useCase';
import { needsGroups, type ScenarioFile } from '../read/buildScenario';
import { targetRole } from '../target/targetKinds';
import type { Place } from '../text/scenarioReading';
import { didYouMean, didYouMeanText, safeExcerpt } from '../text/words';

type Used = { readonly name: RowName; readonly column: string };

export function checkRows(file: ScenarioFile): void {
  const { scenario, config } = file;
  const { identities, data } = scenario;
  for (const [key, texts] of connectionTexts(file))
    for (const part of texts.flatMap(
      (text) => parsePersonalText(text, connectionPlaceholders).parts,
    )) {
      if (typeof part === 'string') continue;
      const place = config.at(key);
      if (part.name === 'group') {
        const message = `{group} in ${key} needs a use case that sends to groups.`;
        const isKnown = file.entries.some(({ useCase, entry }) => needsGroups(useCase, entry));
        if (!isKnown) file.error('placeholder', place, message);
      } else if ('column' in part) {
        checkColumn(file, part, place);
        if (part.name === 'data' && data?.take === 'shared') reportShared(file, key, place);
      }
    }
  for (const read of file.entries) {
    const run = hubRunOf(read.useCase, read.entry.parameters);
    for (const { key, placeholder } of rowsUsed(run)) {
      const { name, column } = placeholder;
      const place = read.at(key);
      checkColumn(file, placeholder, place);
      const token =
        'The token of a rule is made when its connection opens: it can stand in accessToken, headers and query, not in a message.';
      if (name === 'identity' && column === 'token' && identities?.kind === 'rule')
        file.error('placeholder', place, token);
      const stream = `Streams have no {${name}.${safeExcerpt(column)}}: their items are encoded once for all senders. Use reply: completion, callback or none.`;
      if (run.streams !== undefined) file.error('placeholder', place, stream);
    }
  }
  if (identities === undefined) return;
  for (const part of identityParts(file))
    if (typeof part === 'object' && part.name === 'data') {
      const place = config.at('identities');
      if (data === undefined) checkColumn(file, part, place);
      else if (data.take === 'shared') reportShared(file, 'identities', place);
    }
  if (targetRole(scenario.target) !== 'service') return;
  const message =
    'Clients of a service get in by tokens that its access key signs: identities give values to arguments, headers and query here, and their tokens are not shown to it.';
  file.info('no-effect', config.written.get('identities')?.key, message);
}

function connectionTexts({ scenario }: ScenarioFile): [key: string, texts: readonly string[]][] {
  const { headers, query, accessToken } = scenario;
  return [
    ['headers', Object.values(headers)],
    ['query', Object.values(query)],
    ['accessToken', accessToken === undefined ? [] : [accessToken]],
  ];
}

function identityParts({ scenario: { identities } }: ScenarioFile): PersonalPart[] {
  const texts = ((): string[] => {
    switch (identities?.kind) {
      case 'rule':
        return [identities.rule, ...textsIn(identities.claims)];
      case 'command':
        return [...identities.command, ...Object.values(identities.env)];
      case 'url':
        return [identities.url, identities.body ?? '', ...Object.values(identities.headers)];
      default:
        return [];
    }
  })();
  return texts.flatMap((text) => parsePersonalText(text, identityPlaceholders).parts);
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

function reportShared({ error }: ScenarioFile, key: string, place?: Place): void {
  const message = `${key} are filled once for a connection, which has no row of its own with take: shared. Write take: connection, or use the placeholder in arguments alone.`;
  error('placeholder', place, message);
}

function checkColumn({ error, scenario }: ScenarioFile, { name, column }: Used, place?: Place) {
  const { identities, data } = scenario;
  const holder = name === 'identity' ? identities : data;
  if (holder === undefined) {
    const key = name === 'identity' ? 'identities' : 'data';
    const message = `{${name}.${safeExcerpt(column)}} needs config.${key}, which says where its values come from.`;
    error('placeholder', place, message);
    return;
  }
  const columns = name === 'identity' ? columnsOf(identities) : undefined;
  if (columns === undefined || columns.includes(column)) return;
  const meant = didYouMean(column, columns);
  const message = `identities have no ${safeExcerpt(column)}.${didYouMeanText(meant && `{identity.${meant}}`)} They have ${columns.map(safeExcerpt).join(', ')}.`;
  error('placeholder', place, message);
}

function columnsOf(identities: ScenarioFile['scenario']['identities']): string[] | undefined {
  if (identities?.kind === 'list') return Object.keys(identities.rows[0] ?? {});
  if (identities?.kind !== 'rule') return undefined;
  return [...new Set(['user', 'token', ...Object.keys(identities.claims)])];
}
