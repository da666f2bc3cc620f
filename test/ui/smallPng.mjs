// PNG files of few colours: a screenshot as Chromium makes it becomes a palette of at most 256 colours,
// about a third of the size. Only what a screenshot uses is read: 8 bits, RGB or RGBA, no interlacing.
// Chunks, filters and colour types: PNG specification, third edition, 5, 9 and 11.2.
import { crc32, deflateSync, inflateSync } from 'node:zlib';

const signature = Buffer.from('89504e470d0a1a0a', 'hex');
const mostColours = 256;

/** @param {Buffer} png a screenshot @returns {Buffer} the same picture, smaller */
export function smallPng(png) {
  const { width, height, pixels } = readPng(png);
  const palette = paletteOf(pixels);
  const nearest = new Map();
  const rows = Buffer.alloc((width + 1) * height);
  for (let at = 0; at < pixels.length; at++) {
    const colour = pixels[at];
    let index = nearest.get(colour);
    if (index === undefined) nearest.set(colour, (index = nearestOf(palette, colour)));
    rows[at + Math.floor(at / width) + 1] = index;
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8);
  const entries = Buffer.from(palette.flatMap((colour) => channels(colour)));
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('PLTE', entries),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

const channels = (colour) => [colour >> 16, (colour >> 8) & 255, colour & 255];

/** The most frequent colours, each standing for its neighbours in steps of eight. */
function paletteOf(pixels) {
  const families = new Map();
  for (const colour of pixels) {
    const family = colour & 0xf8f8f8;
    const members = families.get(family) ?? new Map();
    families.set(family, members.set(colour, (members.get(colour) ?? 0) + 1));
  }
  const sum = (members) => [...members.values()].reduce((total, count) => total + count, 0);
  return [...families.values()]
    .sort((one, other) => sum(other) - sum(one))
    .slice(0, mostColours)
    .map((members) => [...members].sort((one, other) => other[1] - one[1])[0][0]);
}

function nearestOf(palette, colour) {
  const [red, green, blue] = channels(colour);
  let [best, least] = [0, Infinity];
  for (const [index, other] of palette.entries()) {
    const [r, g, b] = channels(other);
    const distance = (red - r) ** 2 + (green - g) ** 2 + (blue - b) ** 2;
    if (distance < least) [best, least] = [index, distance];
  }
  return best;
}

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

function readPng(png) {
  const parts = [];
  let header;
  for (let at = signature.length; at < png.length;) {
    const length = png.readUInt32BE(at);
    const type = png.toString('latin1', at + 4, at + 8);
    const data = png.subarray(at + 8, at + 8 + length);
    if (type === 'IHDR') header = data;
    if (type === 'IDAT') parts.push(data);
    at += length + 12;
  }
  const [width, height, kind] = [header.readUInt32BE(0), header.readUInt32BE(4), header[9]];
  if (header[8] !== 8 || (kind !== 2 && kind !== 6)) throw new Error('no screenshot of Chromium');
  const size = kind === 2 ? 3 : 4;
  const lines = unfiltered(inflateSync(Buffer.concat(parts)), width * size, height, size);
  const pixels = new Uint32Array(width * height);
  for (let at = 0; at < pixels.length; at++) {
    pixels[at] = lines.readUIntBE(at * size, 3);
  }
  return { width, height, pixels };
}

/** Undoes the filter that the first byte of each line names. */
function unfiltered(bytes, stride, height, size) {
  const lines = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y++) {
    const filter = bytes[y * (stride + 1)];
    for (let x = 0; x < stride; x++) {
      const at = y * stride + x;
      const left = x >= size ? lines[at - size] : 0;
      const up = y > 0 ? lines[at - stride] : 0;
      const corner = x >= size && y > 0 ? lines[at - stride - size] : 0;
      const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter];
      lines[at] = bytes[y * (stride + 1) + 1 + x] + guess;
    }
  }
  return lines;
}

function paeth(left, up, corner) {
  const [a, b, c] = [left, up, corner].map((each) => Math.abs(left + up - corner - each));
  return a <= b && a <= c ? left : b <= c ? up : corner;
}
