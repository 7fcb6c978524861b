// The ten as benchmarks of vitest, which cannot be told on the command line how long to time each.
import { bench } from 'vitest';

import { name, steps, work } from './work.mjs';

let sink = 0;
const brief = { time: 20, warmupTime: 5, warmupIterations: 5 };

for (let number = 1; number <= 10; number++) {
  const length = steps(number);
  bench(name(number), () => { sink ^= work(length); }, brief);
}
