package service

import (
	"context"
	"strconv"

	"github.com/maypok86/otter/v2"
)

const (
	capacity = 10_000
	warm     = 1_000
)

// Values is the cache behind /hello.
type Values struct {
	cache *otter.Cache[string, string]
}

// NewValues returns a cache that is warm.
func NewValues() Values {
	values := Values{otter.Must(&otter.Options[string, string]{MaximumSize: capacity})}
	for key := range warm {
		key := strconv.Itoa(key)
		values.cache.Set(key, compute(key))
	}
	return values
}

// Get returns the value of a key, which is computed and kept if it is missing.
func (v Values) Get(ctx context.Context, key string) (string, error) {
	return v.cache.Get(ctx, key, otter.LoaderFunc[string, string](func(_ context.Context, key string) (string, error) {
		return compute(key), nil
	}))
}

func compute(key string) string {
	return "value-" + key
}
