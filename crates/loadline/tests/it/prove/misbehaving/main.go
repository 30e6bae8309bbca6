// Services that work on four requests at once, each for 2 ms, and most of which misbehave under overload or as time goes by.
package main

import (
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

const (
	work = 2 * time.Millisecond
	// Requests that a service keeps before it refuses more.
	kept = 16
	// So many at once are an overload, and so few are none.
	many, few = 600, 8
	// A service in its bad state comes back after so many requests in a row that found few others.
	calm = 200
	// After so many requests each takes twice as long as the first did.
	leaked = 50_000
)

var (
	free            = make(chan struct{}, 4)
	here, answered  atomic.Int64
	inBadState      atomic.Bool
	withoutOverload atomic.Int64
)

func takes(behaviour string, others int64) time.Duration {
	switch behaviour {
	case "collapses":
		return work * time.Duration(kept+others) / kept
	case "leaks":
		return work * time.Duration(leaked+answered.Load()) / leaked
	case "stays bad":
		if inBadState.Load() {
			return 2 * work
		}
	}
	return work
}

// Goes into the bad state and comes back.
func change(others int64) {
	switch {
	case others >= many:
		inBadState.Store(true)
		withoutOverload.Store(0)
	case others >= few:
		withoutOverload.Store(0)
	case withoutOverload.Add(1) >= calm:
		inBadState.Store(false)
	}
}

func main() {
	behaviour := os.Args[2]
	http.HandleFunc("/", func(response http.ResponseWriter, request *http.Request) {
		others := here.Add(1) - 1
		defer here.Add(-1)
		change(others)
		if behaviour == "sheds" && others >= kept {
			response.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		select {
		case free <- struct{}{}:
		case <-request.Context().Done(): // Nobody waits for it any more.
			return
		}
		time.Sleep(takes(behaviour, here.Load()-1))
		<-free
		answered.Add(1)
	})
	if err := http.ListenAndServe(os.Args[1], nil); err != nil {
		panic(err)
	}
}
