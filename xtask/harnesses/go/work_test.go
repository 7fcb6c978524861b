// Package work has ten benchmarks of the same loop with another length; built with the tag b the fourth makes
// 5 % more steps.
package work

import (
	"fmt"
	"testing"
)

var sink uint64

func steps(number int) int {
	steps := 10000 + 2000*number
	if number == 4 {
		steps += steps / 20 * extra
	}
	return steps
}

func BenchmarkWork(b *testing.B) {
	for number := 1; number <= 10; number++ {
		b.Run(fmt.Sprintf("%02d", number), func(b *testing.B) {
			for i := 0; i < b.N; i++ {
				x := uint64(88172645463325252)
				for left := steps(number); left > 0; left-- {
					x = (x ^ (x >> 12)) * 2685821657736338717
				}
				sink = x
			}
		})
	}
}
