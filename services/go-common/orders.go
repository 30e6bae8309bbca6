package service

import (
	"fmt"
	"math/rand/v2"
)

// Order is one of /api/orders.
type Order struct {
	ID           int     `json:"id"`
	CustomerName string  `json:"customerName"`
	Total        float64 `json:"total"`
	Status       string  `json:"status"`
}

// Orders are the same at each start.
type Orders struct {
	all   []Order
	delay Delay
}

// NewOrders makes as many orders as the settings ask for.
func NewOrders(settings Settings) Orders {
	random := rand.New(rand.NewPCG(42, 0))
	all := make([]Order, settings.Orders)
	for i := range all {
		cents := 10_00 + random.IntN(990_00+1)
		status := []string{"SHIPPED", "PROCESSING"}[random.IntN(2)]
		all[i] = Order{i + 1, fmt.Sprintf("Customer-%d", i+1), float64(cents) / 100, status}
	}
	return Orders{all, settings.Delay}
}

// Fetch waits as long as the settings say, and returns all orders.
func (o Orders) Fetch() []Order {
	o.delay.Wait()
	return o.all
}
