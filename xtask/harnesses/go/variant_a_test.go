//go:build !b

package work

var extra = 0
