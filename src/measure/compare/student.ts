/** Student's distribution: at 95 %, both sides, from one degree of freedom to five. Source: Student, Biometrika 6 (1908); tables of the t distribution. */
const few = [12.706, 4.303, 3.182, 2.776, 2.571] as const;

/** What a value is beyond, either way, with a probability of 5 %. @param freedom degrees, 1 to 5 */
export function studentAt95(freedom: number): number {
  const value = few[freedom - 1];
  if (value === undefined) throw new Error(`${freedom} degrees of freedom are not in the table`);
  return value;
}
