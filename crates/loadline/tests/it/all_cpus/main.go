// A service that ends unless it sees as many CPUs as it is told to, and uses all of them for a request to /burn.
package main

import (
	"fmt"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"
)

const burning = 5 * time.Millisecond

func main() {
	address, expected := os.Args[1], os.Args[2]
	if seen := runtime.NumCPU(); strconv.Itoa(seen) != expected {
		fmt.Printf("sees %d CPUs\n", seen)
		os.Exit(1)
	}
	http.HandleFunc("/", func(http.ResponseWriter, *http.Request) {})
	http.HandleFunc("/burn", func(http.ResponseWriter, *http.Request) {
		var all sync.WaitGroup
		for range runtime.NumCPU() {
			all.Go(func() {
				for end := time.Now().Add(burning); time.Now().Before(end); {
				}
			})
		}
		all.Wait()
	})
	fmt.Println(http.ListenAndServe(address, nil))
	os.Exit(1)
}
