import { request } from 'node:http';
import { emulatorHeader } from '../base/emulatorHeader';
import { isLoopback } from '../wire/socket/isLoopback';

/** An answer from this machine takes a millisecond; one that does not come must not hold up a run. */
const timeoutMs = 1000;

/**
 * Whether the server behind a hub URL is the hub of `serve hub`: only one on this machine is asked, by a GET
 * of `/`, which opens no connection. Whatever goes wrong there is for the run to find out.
 */
export function isEmbeddedHub(hubUrl: string): Promise<boolean> {
  const { protocol, origin } = new URL(hubUrl);
  if (protocol !== 'http:' || !isLoopback(hubUrl)) return Promise.resolve(false);
  return new Promise((resolve) => {
    const asked = request(`${origin}/`, { agent: false, timeout: timeoutMs }, (response) => {
      resolve(response.headers[emulatorHeader.toLowerCase()] !== undefined);
      response.destroy();
    });
    const no = (): void => {
      asked.destroy();
      resolve(false);
    };
    asked.once('timeout', no);
    asked.once('error', no);
    asked.once('upgrade', no);
    asked.end();
  });
}
