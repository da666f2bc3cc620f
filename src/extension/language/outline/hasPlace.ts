const ownSchemes = ['file', 'untitled', 'vscode-remote'];

/**
 * Whether a document is one that people work on: a file, a new one, or of a workspace folder. The left
 * side of a comparison and what is only shown, which have schemes of their own, are not.
 *
 * @param folders schemes of the workspace folders
 */
export const hasPlace = (scheme: string, folders: readonly string[]): boolean =>
  ownSchemes.includes(scheme) || folders.includes(scheme);
