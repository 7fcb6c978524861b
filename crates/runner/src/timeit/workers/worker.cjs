// The worker of `becalm timeit` for Node: times the statement that lies beside it.
//
//     worker.cjs calibrate MIN_NANOSECONDS      doubles the loops until a value takes so long
//     worker.cjs run LOOPS WARMUPS VALUES       times values of so many loops
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const { createRequire } = require('node:module');

const MOST_LOOPS = 2 ** 32;
const read = (name) => fs.readFileSync(path.join(__dirname, name), 'utf8');

// What the statement prints must not come between the results, and is thrown away without a system call.
process.stdout.write = () => true;

// The optimiser cannot tell that this is never called with what it looks for.
const sink = { looked_for: Symbol('nothing'), found: 0 };
function becalm_use(value) {
  if (value === sink.looked_for) sink.found++;
}

function compiled() {
  for (const name of ['setup', 'statement', 'teardown']) {
    // Alone first, so that a mistake is shown in the user's own line. Only the syntax is looked at.
    new (require('node:vm').Script)(`(function () {${read(name)}\n})`, { filename: `<${name}>` });
  }
  // One function for all values, so that each finds it as optimised as the one before left it.
  return new Function('becalm_loops', 'becalm_clock', 'becalm_use', 'require', `
    ${read('setup')}
    ;const becalm_start = becalm_clock();
    for (let becalm_each = 0; becalm_each < becalm_loops; becalm_each++) {
${read('statement')}
    ;}
    const becalm_end = becalm_clock();
    ${read('teardown')}
    ;return becalm_end - becalm_start;`);
}

const from_here = createRequire(path.join(process.cwd(), 'becalm'));

function measure(inner, loops) {
  return Number(inner(loops, process.hrtime.bigint, becalm_use, from_here));
}

function calibrate(inner, least) {
  const raw = [];
  for (let loops = 1; ; loops *= 2) {
    const value = measure(inner, loops);
    raw.push([loops, value]);
    if (value >= least || loops >= MOST_LOOPS) {
      return { loops, raw, program: process.execPath, version: `Node ${process.versions.node}` };
    }
  }
}

function run(inner, loops, n_warmups, n_values) {
  const times = (count) => Array.from({ length: count }, () => measure(inner, loops));
  return { loops, warmups: times(n_warmups), values: times(n_values) };
}

try {
  const [what, ...numbers] = process.argv.slice(2);
  const inner = compiled();
  const result = (what === 'calibrate' ? calibrate : run)(inner, ...numbers.map(Number));
  fs.writeSync(1, JSON.stringify(result) + '\n');
} catch (error) {
  const text = String((error && error.stack) || error);
  // The lines about this file and about Node itself help nobody.
  const is_foreign = (line) => line.includes(__filename) || line.includes('(node:internal') || line.includes('at node:internal');
  fs.writeSync(2, text.split('\n').filter((line) => !is_foreign(line)).join('\n') + '\n');
  process.exit(1);
}
