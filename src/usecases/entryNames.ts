/** Names of the entries of a mix for people: those of their use cases, numbered where one comes again. */
export function entryNames(useCases: readonly string[]): string[] {
  const seen = new Map<string, number>();
  return useCases.map((name) => {
    const number = (seen.get(name) ?? 0) + 1;
    seen.set(name, number);
    const several = useCases.indexOf(name) !== useCases.lastIndexOf(name);
    return several ? `${name} ${number}` : name;
  });
}
