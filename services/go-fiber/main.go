// The service with Fiber.
package main

import (
	"context"
	"fmt"
	"log"
	"os/signal"
	"syscall"
	"time"

	"github.com/gofiber/fiber/v3"

	service "loadline.io/services/go-common"
)

func main() {
	settings := service.SettingsFromEnvironment("virtual")
	telemetry, err := service.NewTelemetry()
	if err != nil {
		log.Fatal(err)
	}
	if err := serve(routes(settings, telemetry), settings.Port); err != nil {
		log.Fatal(err)
	}
	if err := telemetry.Close(context.Background()); err != nil {
		log.Print(err)
	}
}

// serve returns as soon as all is answered that came before the signal. Listen itself, with a GracefulContext, would return before.
func serve(app *fiber.App, port int) error {
	signalled, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	ended := make(chan error)
	go func() {
		<-signalled.Done()
		ended <- app.ShutdownWithTimeout(10 * time.Second)
	}()
	if err := app.Listen(fmt.Sprintf(":%d", port), fiber.ListenConfig{DisableStartupMessage: true}); err != nil {
		return err
	}
	return <-ended
}
