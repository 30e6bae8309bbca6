package main

import (
	"strings"
	"time"

	"github.com/gofiber/fiber/v3"

	service "loadline.io/services/go-common"
)

// metered counts each request once its answer is known.
func metered(telemetry *service.Telemetry) fiber.Handler {
	return func(c fiber.Ctx) error {
		start := time.Now()
		if err := c.Next(); err != nil {
			// So that the status is that of the error's answer.
			if err := c.App().ErrorHandler(c, err); err != nil {
				return err
			}
		}
		route := ""
		if c.Matched() {
			route = c.FullPath()
		}
		telemetry.Request(c.Context(), strings.Clone(c.Method()), route, c.Response().StatusCode(), start)
		return nil
	}
}
