// A service that makes garbage and uses CPU time on each request.
package main

import (
	"net/http"
	"os"
	"strconv"
)

var kept []byte

func fibonacci(n int) int {
	if n < 2 {
		return n
	}
	return fibonacci(n-1) + fibonacci(n-2)
}

func main() {
	http.HandleFunc("/", func(response http.ResponseWriter, _ *http.Request) {
		kept = make([]byte, 1<<20)
		response.Write([]byte(strconv.Itoa(fibonacci(20))))
	})
	if err := http.ListenAndServe(os.Args[1], nil); err != nil {
		panic(err)
	}
}
