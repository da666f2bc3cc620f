import { referencesIn } from '../../scenario/target/references';

/** Names that are likely to hold a target or what lets somebody in. */
const likely = /SIGNALR|PUBSUB|CONNECTION|ENDPOINT|URL|HUB|TOKEN|SECRET|KEY|AZURE/i;
/** What a reference understands. */
const understood = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

/** Names of environment variables to propose: those the text refers to, and those that sound like it. */
export function environmentNames(
  environment: Readonly<Record<string, string | undefined>>,
  text: string,
): string[] {
  const written = referencesIn(text)
    .filter(({ kind }) => kind === 'env')
    .map(({ name }) => name);
  const sounding = Object.keys(environment)
    .filter((name) => understood.test(name) && likely.test(name))
    .sort();
  return [...new Set([...written, ...sounding])];
}
