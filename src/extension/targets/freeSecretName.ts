/** The name, or with the first number behind it that makes it free. */
export function freeSecretName(name: string, taken: readonly string[]): string {
  for (let number = 1; ; number++) {
    const free = number === 1 ? name : `${name}${number}`;
    if (!taken.includes(free)) return free;
  }
}
