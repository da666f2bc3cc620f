import assert from 'node:assert/strict';
import { isIP } from 'node:net';
import fc from 'fast-check';
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

  it('are what Node takes for addresses', () => {
    const group = fc.oneof(
      fc.stringMatching(/^[0-9a-f]{0,5}$/),
      fc.constantFrom('', '12', '::', '127.0.0.1', '256.0.0.1', 'g'),
    );
    const address = fc.oneof(
      fc.ipV6(),
      fc.ipV4(),
      fc.array(group, { minLength: 1, maxLength: 9 }).map((groups) => groups.join(':')),
      fc.constantFrom('12:34', '1::2::3', '::ffff:1.2.3.4', '1:2:3:4:5:6:7::', '1.2.3.4::', ':1'),
    );
    const texts = fc.array(
      address.filter((text) => text !== ''),
      { minLength: 20, maxLength: 40 },
    );
    fc.assert(
      fc.property(texts, (all) => {
        const { addresses = [] } = parse(JSON.stringify(all));
        const expected = all.filter((text) => isIP(text) !== 0);
        assert.deepEqual(addresses, expected);
      }),
      { numRuns: 10 },
    );
  });

  it('are refused where they are none', () => {
    for (const bad of ['"12:34"', 'localhost', '256.0.0.1', '1.2.3', '{ a: 1 }', '[[1]]']) {
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
