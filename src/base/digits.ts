/** Decimal digits of a whole number that is not below 0; allocates nothing. */
export function digitsOf(value: number): number {
  let digits = 1;
  for (let left = value; left >= 10; left = Math.floor(left / 10)) digits += 1;
  return digits;
}
