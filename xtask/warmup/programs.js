// Small programs that warm up, slow down, stay or never settle: `node programs.js PROGRAM ITERATIONS` times
// iterations itself and prints a line of seconds and seconds waited for a CPU for each, after the last.
const fs = require('fs');

const [program, count] = [process.argv[2], Number(process.argv[3])];
const schedstat = fs.openSync('/proc/thread-self/schedstat');
const buffer = Buffer.alloc(100);

function waited() {
  const length = fs.readSync(schedstat, buffer, 0, 100, 0);
  return Number(buffer.toString('latin1', 0, length).split(' ')[1]);
}

function evaluate(depth, x) {
  if (depth === 0) return (x * 31 + 7) | 0;
  const left = evaluate(depth - 1, x + depth);
  const right = evaluate(depth - 1, x ^ depth);
  return depth % 2 === 0 ? (left + right) | 0 : left ^ right;
}

class Square { area(x) { return x * x; } }
class Circle { constructor() { this.pi = 3.14; } area(x) { return this.pi * x * x + 1; } }
class Ring { constructor() { this.a = 1; this.b = 6.28; } area(x) { return this.b * x - x * x; } }
class Cross { constructor() { this.c = 5; this.d = 2; this.e = 0; } area(x) { return this.c * x + this.d; } }
class Line { constructor() { this.f = 1; this.g = 2; this.h = 3; this.i = 4; } area(x) { return this.i * x; } }
const kinds = [Square, Circle, Ring, Cross, Line];
const shapes = (n) => Array.from({ length: 1000 }, (_, i) => new kinds[i % n]());
const [one, mixed] = [shapes(1), shapes(5)];

function sum(list, rounds) {
  let total = 0;
  for (let round = 0; round < rounds; round++) for (const shape of list) total += shape.area(round);
  return total;
}

const words = 'the quick brown fox jumps over the lazy dog and the dog sleeps while the fox runs on and on';
function json(x) {
  let total = 0;
  for (let k = 0; k < 200; k++) {
    const text = JSON.stringify({ x, k, list: words.split(' ').map((word) => ({ word, n: word.length })) });
    total += JSON.parse(text).list.length;
  }
  return total;
}

const grows = [];
const memory = new Map();
const iterate = {
  tree: (i) => evaluate(18, i),
  json: (i) => json(i),
  shapes: (i) => sum(i < 0.3 * count ? one : mixed, 300),
  step: (i) => evaluate(i < 0.4 * count ? 18 : 17, i),
  phases: (i) => evaluate(Math.floor((8 * i) / count) % 2 === 0 ? 18 : 17, i),
  growing: () => {
    for (let k = 0; k < 40; k++) grows.push(grows.length);
    let total = 0;
    for (let k = 0; k < 300; k++) total += grows.indexOf(grows.length - 1 - (k % 40));
    return total;
  },
  // A cache that fills in the first third.
  cache: (i) => {
    let total = 0;
    const fresh = Math.max(0, Math.round(12 * (1 - (3 * i) / count)));
    for (let k = 0; k < 12; k++) {
      const key = k < fresh ? `${i},${k}` : `${k}`;
      if (!memory.has(key)) memory.set(key, evaluate(15, k));
      total += memory.get(key) + evaluate(14, k);
    }
    return total;
  },
}[program];

const times = [];
let sink = 0;
for (let i = 0; i < count; i++) {
  const before = waited();
  const start = process.hrtime.bigint();
  sink += iterate(i);
  const time = Number(process.hrtime.bigint() - start);
  times.push([time / 1e9, (waited() - before) / 1e9]);
}
console.log(times.map((pair) => pair.join(' ')).join('\n'));
console.error(sink);
