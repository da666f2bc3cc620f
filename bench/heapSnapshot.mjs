// What lies in the heap of a page, added up by constructors as Chromium's developer tools do: one of their heap snapshots over
// the session of a page, and the largest differences between two.

/**
 * @param {import('playwright-core').CDPSession} session with `HeapProfiler` enabled
 * @returns {Promise<Map<string, { count: number, bytes: number }>>} by constructor, or by kind in brackets
 */
export async function heapByConstructor(session) {
  const chunks = [];
  const keep = ({ chunk }) => chunks.push(chunk);
  await session.send('HeapProfiler.collectGarbage');
  session.on('HeapProfiler.addHeapSnapshotChunk', keep);
  // All chunks come before the answer.
  await session.send('HeapProfiler.takeHeapSnapshot', { reportProgress: false });
  session.off('HeapProfiler.addHeapSnapshotChunk', keep);
  const { snapshot, nodes, strings } = JSON.parse(chunks.join(''));
  const { node_fields: fields, node_types: types } = snapshot.meta;
  const [typeAt, nameAt, sizeAt] = ['type', 'name', 'self_size'].map((field) =>
    fields.indexOf(field),
  );
  const sums = new Map();
  for (let at = 0; at < nodes.length; at += fields.length) {
    const type = types[typeAt][nodes[at + typeAt]];
    const name = type === 'object' || type === 'native' ? strings[nodes[at + nameAt]] : `(${type})`;
    const sum = sums.get(name) ?? { count: 0, bytes: 0 };
    sums.set(name, { count: sum.count + 1, bytes: sum.bytes + nodes[at + sizeAt] });
  }
  return sums;
}

/** The largest first; `all` is the sum of all of them, also of those that became less. */
export function growthOf(before, after, most) {
  const none = { count: 0, bytes: 0 };
  const each = [...new Set([...before.keys(), ...after.keys()])].map((name) => {
    const [from, to] = [before, after].map((sums) => sums.get(name) ?? none);
    return { name, count: to.count - from.count, bytes: to.bytes - from.bytes };
  });
  each.sort((a, b) => b.bytes - a.bytes);
  return { all: each.reduce((sum, { bytes }) => sum + bytes, 0), largest: each.slice(0, most) };
}
