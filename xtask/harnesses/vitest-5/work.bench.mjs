// The ten as benchmarks of vitest 5, where they are inside tests.
import { test } from 'vitest';

import { name, steps, work } from './work.mjs';

let sink = 0;
const brief = { time: 20, warmupTime: 5, warmupIterations: 5 };

for (let number = 1; number <= 10; number++) {
  const length = steps(number);
  test(name(number), async ({ bench }) => {
    await bench(name(number), () => { sink ^= work(length); }).run(brief);
  });
}
