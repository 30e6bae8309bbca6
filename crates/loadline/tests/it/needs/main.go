// A service that, for each request, asks all that it needs: the URLs in ASKS.
package main

import (
	"io"
	"net/http"
	"os"
	"strings"
)

func main() {
	http.HandleFunc("/", func(response http.ResponseWriter, _ *http.Request) {
		for _, url := range strings.Fields(os.Getenv("ASKS")) {
			answer, err := http.Get(url)
			if err != nil {
				http.Error(response, err.Error(), http.StatusBadGateway)
				return
			}
			io.Copy(response, answer.Body)
			answer.Body.Close()
		}
	})
	if err := http.ListenAndServe(os.Args[1], nil); err != nil {
		panic(err)
	}
}
