import { createCard } from './card';
import { element } from '../element';
import type { ShownRun } from '../panelState';
import { showTable, tablePlace } from './tableElement';
import { connectionsTable, connectionSentences } from './connectionsTable';
import { entriesTable, errorsTable, generatorTable, stepsTable } from './tables';
import type { StateCard } from '../charts/timeChartCard';

export function createStepsCard({ strings }: ShownRun): StateCard {
  const card = createCard(strings.stepsTable, 'steps');
  const place = tablePlace(strings.stepsTable);
  const reasons = element('ul', { class: 'reasons' });
  card.body.append(place, reasons);
  let told = '';
  return {
    card,
    update(state) {
      const table = stepsTable(state);
      card.show(table.rows.length > 0);
      showTable(place, table, strings.stepsTable);
      const messages = (state.result?.verdict.reasons ?? []).map(({ message }) => message);
      if (messages.join('\n') === told) return;
      told = messages.join('\n');
      reasons.replaceChildren(...messages.slice(0, 20).map((text) => element('li', { text })));
    },
    redraw: () => undefined,
  };
}

/** Only for a mix. */
export function createEntriesCard({ strings }: ShownRun): StateCard {
  const card = createCard(strings.entriesTable, 'entries');
  const place = tablePlace(strings.entriesTable);
  card.body.append(place);
  return {
    card,
    update(state) {
      const table = entriesTable(state);
      card.show(table.rows.length > 0);
      showTable(place, table, strings.entriesTable);
    },
    redraw: () => undefined,
  };
}

export function createConnectionsCard({ strings }: ShownRun): StateCard {
  const card = createCard(strings.connectionsTable, 'connecting');
  const place = tablePlace(strings.connectionsTable);
  const dropped = element('ul', { class: 'reasons' });
  card.body.append(place, dropped);
  return {
    card,
    update(state) {
      const table = connectionsTable(state);
      card.show(table.rows.length > 0);
      showTable(place, table, strings.connectionsTable);
      dropped.replaceChildren(...connectionSentences(state).map((text) => element('li', { text })));
    },
    redraw: () => undefined,
  };
}

export function createErrorsCard({ strings }: ShownRun): StateCard {
  const card = createCard(strings.errorsTable, 'errors');
  const place = tablePlace(strings.errorsTable);
  const nothing = element('p', { class: 'quiet', text: strings.noErrors });
  card.body.append(place, nothing);
  return {
    card,
    update(state) {
      const table = errorsTable(state);
      place.hidden = table.rows.length === 0;
      nothing.hidden = !place.hidden;
      if (!place.hidden) showTable(place, table, strings.errorsTable);
    },
    redraw: () => undefined,
  };
}

export function createGeneratorCard({ strings }: ShownRun): StateCard {
  const card = createCard(strings.generatorHealth, 'generator');
  const place = element('div');
  card.body.append(place);
  return {
    card,
    update: (state) => showTable(place, generatorTable(state), strings.generatorHealth),
    redraw: () => undefined,
  };
}
