import assert from 'node:assert/strict';
import { parseScenario } from '../../../src/scenario/parseScenario';

describe('localAddresses', () => {
  const parse = (written: string, overrides: readonly { path: string; value: string }[] = []) => {
    const text = `config:\n  target: local\n  connections: 10\n  localAddresses: ${written}\nscenario:\n  name: echo\n`;
    const { scenario, problems } = parseScenario(text, { overrides });
    const said = problems.filter(({ severity }) => severity === 'error');
    return { addresses: scenario?.localAddresses, said: said.map(({ message }) => message) };
  };

  it('are a list, one text, or nothing', () => {
    const both = { addresses: ['127.0.0.2', '::1'], said: [] };
    assert.deepEqual(parse("[127.0.0.2, '::1']"), both);
    assert.deepEqual(parse("'127.0.0.2, ::1'"), both);
    assert.deepEqual(parse(''), { addresses: undefined, said: [] });
    const value = '127.0.0.2,::1';
    assert.deepEqual(parse('127.0.0.9', [{ path: 'config.localAddresses', value }]), both);
  });

  it('are refused where they are none', () => {
    for (const bad of ['localhost', '256.0.0.1', '1.2.3', '{ a: 1 }', '[[1]]']) {
      const { addresses, said } = parse(bad);
      assert.equal(addresses, undefined, bad);
      assert.match(
        said.join(),
        /in localAddresses is not an IP address; write one of this machine/,
        bad,
      );
    }
  });
});
