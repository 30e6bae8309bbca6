package main

import (
	"net/http"
	"strings"
	"time"

	service "loadline.io/services/go-common"
)

// metered counts each request once it is answered.
func metered(mux *http.ServeMux, telemetry *service.Telemetry) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		answer := &recorder{w, http.StatusOK}
		r.Pattern = ""
		mux.ServeHTTP(answer, r)
		_, route, _ := strings.Cut(r.Pattern, " ")
		telemetry.Request(r.Context(), r.Method, route, answer.status, start)
	})
}

// recorder remembers the status.
type recorder struct {
	http.ResponseWriter
	status int
}

func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}
