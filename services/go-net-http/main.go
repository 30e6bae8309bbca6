// The service with net/http alone.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os/signal"
	"syscall"
	"time"

	service "loadline.io/services/go-common"
)

func main() {
	settings := service.SettingsFromEnvironment("virtual")
	telemetry, err := service.NewTelemetry()
	if err != nil {
		log.Fatal(err)
	}
	server := &http.Server{Addr: fmt.Sprintf(":%d", settings.Port), Handler: routes(settings, telemetry)}
	if err := serve(server); err != nil {
		log.Fatal(err)
	}
	if err := telemetry.Close(context.Background()); err != nil {
		log.Print(err)
	}
}

// serve returns as soon as all is answered that came before the signal.
func serve(server *http.Server) error {
	signalled, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	ended := make(chan error)
	go func() {
		<-signalled.Done()
		patience, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		ended <- server.Shutdown(patience)
	}()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-ended
}
