import assert from 'node:assert/strict';
import { fillUrlTemplate } from '../../../../src/servers/service/upstreamCalls';

describe('URL of an upstream handler', () => {
  function filled(template: string, event: string): string {
    const url = fillUrlTemplate(template, { hub: 'chat', event });
    return 'failure' in url ? url.failure : url.href;
  }

  it('keeps its segments by names that percent-encoding does not make harmless', () => {
    const refusal = (name: string): string =>
      `The upstream has no URL for the event ${name}: it is not a segment of a path.`;
    const template = 'http://127.0.0.1:1/api/{hub}/{event}';
    assert.equal(filled(template, '..'), refusal("'..'"));
    assert.equal(filled(template, '.'), refusal("'.'"));
    assert.equal(filled(template, ''), refusal('an empty name'));
    assert.equal(filled(`${template}/more?e={event}`, '..'), refusal("'..'"));
    assert.equal(filled('http://127.0.0.1:1/a/.{event}/b', '.'), refusal("'.'"));
    assert.equal(filled('http://127.0.0.1:1/a/%2{event}/b', 'e'), refusal("'e'"));
  });

  it('takes every other name, and these where they stand for themselves', () => {
    const template = 'http://127.0.0.1:1/api/{hub}/{event}';
    const base = 'http://127.0.0.1:1/api/chat/';
    assert.equal(filled(template, '...'), `${base}...`);
    assert.equal(filled(template, '%2e%2e'), `${base}%252e%252e`);
    assert.equal(filled(template, '../x?y#z'), `${base}..%2Fx%3Fy%23z`);
    assert.equal(filled(template, 'a\ud800'), `${base}a%EF%BF%BD`);
    assert.equal(filled('http://127.0.0.1:1/v1.{event}/x', '.'), 'http://127.0.0.1:1/v1../x');
    assert.equal(filled('http://127.0.0.1:1/x?e={event}', '..'), 'http://127.0.0.1:1/x?e=..');
    assert.equal(filled('http://127.0.0.1:1/x/{other}', 'e'), 'http://127.0.0.1:1/x/%7Bother%7D');
  });
});
