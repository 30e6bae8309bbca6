package main

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"time"

	service "loadline.io/services/go-common"
)

func routes(settings service.Settings, telemetry *service.Telemetry) http.Handler {
	values, orders := service.NewValues(), service.NewOrders(settings)

	measured := http.NewServeMux()
	measured.HandleFunc("GET /hello/"+settings.Mode, func(w http.ResponseWriter, r *http.Request) {
		key := r.FormValue("key")
		if key == "" {
			http.Error(w, "key is missing", http.StatusBadRequest)
			return
		}
		value, err := values.Get(r.Context(), key)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		text(w, value)
	})
	measured.HandleFunc("GET /api/orders", func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		all := orders.Fetch()
		telemetry.Fetch(r.Context(), start)
		body, err := json.Marshal(all)
		if err != nil {
			w.Header().Set("X-Error", err.Error())
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Write(body)
	})
	measured.HandleFunc("GET /cpu", func(w http.ResponseWriter, r *http.Request) {
		n, err := service.ParseN(r.FormValue("n"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		text(w, strconv.Itoa(service.Fibonacci(n)))
	})

	all := http.NewServeMux()
	all.Handle("/", metered(measured, telemetry))
	all.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { text(w, "ok") })
	all.Handle("GET /metrics", telemetry.Handler)
	return all
}

func text(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	io.WriteString(w, body)
}
