//go:build go_1_24_line

//go:debug default=go1.24
package main

// With the tag, the program runs as one whose go.mod says `go 1.24` (services/go-1.24-line): among others, GOMAXPROCS is the number of the
// machine's CPUs, whatever the limit of its cgroup. The line itself can't be older than those of the modules it needs.
