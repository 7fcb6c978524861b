/*
 * Takes a CPU away for a known share of the time: disturb CPU PERIOD_US BUSY_US
 *
 * A real-time task that wakes every PERIOD_US on CPU and spins until BUSY_US have passed by the clock.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SECOND 1000000000LL

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

int main(int argc, char **argv)
{
	struct sched_param param = { .sched_priority = 10 };
	long long period, busy, next;
	cpu_set_t cpus;

	if (argc != 4) {
		fprintf(stderr, "usage: disturb CPU PERIOD_US BUSY_US\n");
		return 2;
	}
	CPU_ZERO(&cpus);
	CPU_SET(atoi(argv[1]), &cpus);
	period = atoll(argv[2]) * 1000;
	busy = atoll(argv[3]) * 1000;
	if (sched_setaffinity(0, sizeof(cpus), &cpus) || sched_setscheduler(0, SCHED_FIFO, &param)) {
		perror("disturb");
		return 1;
	}
	for (next = now() + period;; next += period) {
		struct timespec t = { .tv_sec = next / SECOND, .tv_nsec = next % SECOND };

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
		while (now() < next + busy)
			;
	}
}
