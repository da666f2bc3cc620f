import type { ResultEntry } from './resultEntry';

/** Whether a folder has the name that its run made, with a number where that was taken. */
export function hasOwnName({ name, scenario }: Pick<ResultEntry, 'name' | 'scenario'>): boolean {
  const [, rest] = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-(.*)$/.exec(name) ?? [];
  return rest?.startsWith(scenario) === true && /^(-\d+)?$/.test(rest.slice(scenario.length));
}
