// The ten as tasks of tinybench. It prints no machine-readable results by itself, so the script does.
import { Bench } from 'tinybench';

import { name, steps, work } from './work.mjs';

let sink = 0;
const bench = new Bench({ time: 20, warmupTime: 5 });
for (let number = 1; number <= 10; number++) {
  const length = steps(number);
  bench.add(name(number), () => { sink ^= work(length); });
}
await bench.run();
console.log(JSON.stringify(bench.tasks.map(({ name, result }) => ({ name, result }))));
