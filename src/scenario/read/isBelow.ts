/** A relative path that does not lead up, on any system. */
export const isBelow = (path: string): boolean =>
  !/^[/\\]|^[a-zA-Z]:/.test(path) && !path.split(/[/\\]/).includes('..');
