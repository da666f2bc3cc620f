import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';

const walkthrough = 'media/walkthrough';
const mostBytes = 60 * 1024;

/** Pictures a Markdown file shows, by their paths in the repository, with their alternative texts. */
function picturesOf(file: string): { readonly picture: string; readonly text: string }[] {
  const found = readFileSync(file, 'utf8').matchAll(/!\[([^\]]*)\]\(([^)]+)\)/g);
  return [...found].map(([, text = '', target = '']) => ({
    picture: path.posix.join(path.posix.dirname(file), target),
    text,
  }));
}

describe('pictures', () => {
  const pages = readdirSync(walkthrough)
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${walkthrough}/${name}`);

  const shownOn = ['README.md', 'docs/extension.md', ...pages];

  it('stand in the README and on each page of the walkthrough', () => {
    assert.equal(pages.length, 5);
    for (const page of shownOn) assert.ok(picturesOf(page).length > 0, page);
  });

  it('are there, small, and reported in words too', () => {
    for (const { picture, text } of shownOn.flatMap(picturesOf)) {
      const { size } = statSync(picture);
      assert.ok(size > 500 && size <= mostBytes, `${picture}: ${size} bytes`);
      assert.ok(text.length >= 10, `${picture} without words`);
    }
  });

  it('are all shown somewhere', () => {
    const shown = new Set(shownOn.flatMap(picturesOf).map(({ picture }) => picture));
    const kept = ['media/screenshots', walkthrough].flatMap((folder) =>
      readdirSync(folder)
        .filter((name) => name.endsWith('.png'))
        .map((name) => `${folder}/${name}`),
    );
    assert.deepEqual(kept.sort(), [...shown].sort());
  });
});
