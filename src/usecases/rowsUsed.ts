import { ownArguments, rowPlaceholders, type RowPlaceholder } from './ownArguments';
import { argumentsOfStep, callsOf, stepsIn } from './sessionSteps';
import type { HubRun } from './useCase';

/** Values of rows that messages hold, with the parameter that they stand in. */
export function rowsUsed({
  ownCall,
  streams,
  session,
}: HubRun): readonly { readonly key: string; readonly placeholder: RowPlaceholder }[] {
  const lists = { arguments: ownCall?.arguments, streamingItems: streams?.own?.items };
  const ofCalls = session === undefined ? [] : callsOf(stepsIn(session));
  return [
    ...Object.entries(lists).flatMap(([key, json = '[]']) =>
      rowPlaceholders(ownArguments(json)).map((placeholder) => ({ key, placeholder })),
    ),
    ...ofCalls
      .flatMap(({ step }) => rowPlaceholders(argumentsOfStep(step)))
      .map((placeholder) => ({ key: 'steps', placeholder })),
  ];
}
