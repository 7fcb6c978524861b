/* Switches swap on with a priority, which busybox cannot: swap_on DEVICE PRIORITY */
#include <stdio.h>
#include <stdlib.h>
#include <sys/swap.h>

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: swap_on DEVICE PRIORITY\n");
		return 2;
	}
	if (swapon(argv[1], SWAP_FLAG_PREFER | atoi(argv[2]))) {
		perror(argv[1]);
		return 1;
	}
	return 0;
}
