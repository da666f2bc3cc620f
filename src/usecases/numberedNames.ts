/** For people: the names, numbered where one comes again. */
export function numberedNames(names: readonly string[]): string[] {
  const seen = new Map<string, number>();
  return names.map((name) => {
    const number = (seen.get(name) ?? 0) + 1;
    seen.set(name, number);
    const several = names.indexOf(name) !== names.lastIndexOf(name);
    return several ? `${name} ${number}` : name;
  });
}
