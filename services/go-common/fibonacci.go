package service

import (
	"fmt"
	"strconv"
)

const largest = 45

// ParseN returns the N of a request for /cpu; an error is a 400.
func ParseN(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > largest {
		return 0, fmt.Errorf("n must be a whole number from 0 to %d", largest)
	}
	return n, nil
}

// Fibonacci is the work of /cpu.
func Fibonacci(n int) int {
	if n < 2 {
		return n
	}
	return Fibonacci(n-1) + Fibonacci(n-2)
}
