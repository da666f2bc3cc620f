import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { panelHtml } from '../../../../src/extension/panel/panelSession';

const page = {
  title: '"><script>alert(1)</script>',
  name: 'run' as const,
  language: 'en',
  scriptUri: 'https://file.example/dist/panel.js',
  styleUris: ['https://file.example/media/uPlot.css', 'https://file.example/media/panel.css'],
  cspSource: 'https://*.example',
  nonce: 'abc123',
};

describe('page of the panel', () => {
  const html = panelHtml(page);

  it('allows its one script by nonce, its style sheets by source, and nothing else', () => {
    const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1];
    assert.equal(
      policy,
      "default-src 'none'; script-src 'nonce-abc123'; style-src https://*.example; base-uri 'none'; form-action 'none'",
    );
  });

  it('has no inline script, style or handler', () => {
    assert.equal(html.match(/<script/g)?.length, 1);
    assert.match(html, /<script nonce="abc123" src="[^"]+"><\/script>/);
    assert.doesNotMatch(html, /<style|\sstyle=|\son\w+=|javascript:/i);
  });

  it('takes the title for text', () => {
    assert.ok(!html.includes('alert(1)</script>'));
  });

  it('takes every colour from the theme', () => {
    const css = readFileSync('media/panel.css', 'utf8').replace(/\/\*[^]*?\*\//g, '');
    assert.doesNotMatch(css, /#[0-9a-f]{3,8}\b|\brgba?\(|\bhsla?\(/i);
  });
});
