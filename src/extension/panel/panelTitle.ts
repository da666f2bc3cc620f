import * as vscode from 'vscode';
import type { PanelRun } from '../../protocol/panel';
import { shortTime } from '../results/shortTime';

/** Scenario and local time of the start: the tab of the scenario's file has the name alone. */
export function panelTitle({ title, startedAt }: Pick<PanelRun, 'title' | 'startedAt'>): string {
  const startedMs = Date.parse(startedAt);
  return Number.isFinite(startedMs) ? `${title} · ${tabTime(new Date(startedMs))}` : title;
}

/** With seconds: which other tabs there will be, nobody knows. */
function tabTime(time: Date): string {
  return shortTime(time, { now: new Date(), language: vscode.env.language, seconds: true });
}
