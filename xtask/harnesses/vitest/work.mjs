// Ten pieces of work: the same loop with another length; with EXTRA = 1 the fourth makes 5 % more steps.
const EXTRA = 0;

export function steps(number) {
  const steps = 10000 + 2000 * number;
  return number === 4 ? steps + (steps / 20) * EXTRA : steps;
}

export function work(steps) {
  let x = 88172645;
  for (let step = 0; step < steps; step++) x = Math.imul(x ^ (x >>> 12), 2685821657);
  return x;
}

export function name(number) {
  return `work_${String(number).padStart(2, '0')}`;
}
