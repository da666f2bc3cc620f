import * as vscode from 'vscode';
import { hasPlace } from './outline/hasPlace';

/** See {@link hasPlace}; others get neither problems nor lenses. */
export const isWorkedOn = ({ uri }: vscode.TextDocument): boolean =>
  hasPlace(
    uri.scheme,
    (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.scheme),
  );
