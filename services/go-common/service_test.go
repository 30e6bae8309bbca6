package service

import (
	"context"
	"slices"
	"testing"
	"time"
)

func of(environment map[string]string) (Settings, error) {
	return settingsOf(func(name string) (string, bool) { value, found := environment[name]; return value, found }, []string{"virtual"})
}

func TestSettings(t *testing.T) {
	settings, err := of(map[string]string{})
	if err != nil || settings != (Settings{Port: 8080, Mode: "virtual", Orders: 1000}) {
		t.Errorf("without an environment: %v, %v", settings, err)
	}
	settings, err = of(map[string]string{"ORDERS_DELAY": "1ms..5ms"})
	if err != nil || settings.Delay != (Delay{time.Millisecond, 5 * time.Millisecond}) {
		t.Errorf("with a delay: %v, %v", settings, err)
	}
	for name, value := range map[string]string{"PORT": "0", "MODE": "platform", "ORDERS": "many", "ORDERS_DELAY": "5ms..1ms"} {
		if settings, err := of(map[string]string{name: value}); err == nil {
			t.Errorf("%s=%s became %v", name, value, settings)
		}
	}
}

func TestOrders(t *testing.T) {
	orders := NewOrders(Settings{Orders: 1000}).Fetch()
	if !slices.Equal(orders, NewOrders(Settings{Orders: 1000}).Fetch()) {
		t.Error("the orders of two starts differ")
	}
	for _, order := range orders {
		if order.Total < 10 || order.Total > 1000 {
			t.Errorf("%v", order)
		}
	}
}

func TestValues(t *testing.T) {
	values := NewValues()
	for _, key := range []string{"0", "999", "new"} {
		if value, err := values.Get(context.Background(), key); err != nil || value != "value-"+key {
			t.Errorf("%s: %s, %v", key, value, err)
		}
	}
}

func TestFibonacci(t *testing.T) {
	if Fibonacci(20) != 6765 {
		t.Error(Fibonacci(20))
	}
	for _, text := range []string{"", "-1", "46", "x"} {
		if n, err := ParseN(text); err == nil {
			t.Errorf("%q became %d", text, n)
		}
	}
}
