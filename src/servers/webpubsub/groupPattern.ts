/**
 * Patterns of group names in roles: `?` is one character and `*` any number of them within a segment, `**`
 * goes across segments, which `.` separates; `\` takes the meaning from the character behind it. Source:
 * Azure Web PubSub, "Wildcard group roles".
 */

/** More of them, those of `**` included, are refused. */
const maxStars = 5;

type Piece = { readonly literal: string } | { readonly many: boolean; readonly crosses: boolean };

/** Whether a group name fits a pattern. */
export type GroupPattern = (group: string) => boolean;

/** The meaning of a pattern, undefined when it has too many stars or ends in the middle of an escape. */
export function groupPattern(pattern: string): GroupPattern | undefined {
  const pieces: Piece[] = [];
  let stars = 0;
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at]!;
    if (character === '\\') {
      const escaped = pattern[++at];
      if (escaped === undefined) return undefined;
      pieces.push({ literal: escaped });
    } else if (character === '*') {
      const crosses = pattern[at + 1] === '*';
      if (crosses) at++;
      stars += crosses ? 2 : 1;
      pieces.push({ many: true, crosses });
    } else {
      pieces.push(character === '?' ? { many: false, crosses: false } : { literal: character });
    }
  }
  return stars > maxStars ? undefined : (group) => matches(pieces, group);
}

/** Goes through the name once, with all places of the pattern it may have come to: never exponential. */
function matches(pieces: readonly Piece[], group: string): boolean {
  let places = reach(pieces, new Set([0]));
  for (const character of group) {
    const next = new Set<number>();
    for (const place of places) {
      const piece = pieces[place];
      if (piece === undefined) continue;
      if ('literal' in piece) {
        if (piece.literal === character) next.add(place + 1);
      } else if (piece.crosses || character !== '.') {
        next.add(piece.many ? place : place + 1);
      }
    }
    if (next.size === 0) return false;
    places = reach(pieces, next);
  }
  return places.has(pieces.length);
}

/** Adds the places behind stars, which may stand for nothing. */
function reach(pieces: readonly Piece[], places: Set<number>): Set<number> {
  // A set that grows is gone through to its new end.
  for (const place of places) {
    const piece = pieces[place];
    if (piece !== undefined && 'many' in piece && piece.many) places.add(place + 1);
  }
  return places;
}
