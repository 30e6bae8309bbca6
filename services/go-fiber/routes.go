package main

import (
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v3"
	"github.com/gofiber/fiber/v3/middleware/adaptor"

	service "loadline.io/services/go-common"
)

func routes(settings service.Settings, telemetry *service.Telemetry) *fiber.App {
	values, orders := service.NewValues(), service.NewOrders(settings)
	app := fiber.New()

	// What comes before the middleware is not counted.
	app.Get("/healthz", func(c fiber.Ctx) error { return c.SendString("ok") })
	app.Get("/metrics", adaptor.HTTPHandler(telemetry.Handler))
	app.Use(metered(telemetry))

	app.Get("/hello/"+settings.Mode, func(c fiber.Ctx) error {
		key := c.Query("key")
		if key == "" {
			return fiber.NewError(fiber.StatusBadRequest, "key is missing")
		}
		// What Fiber hands out is valid until the request ends; the cache keeps it.
		value, err := values.Get(c.Context(), strings.Clone(key))
		if err != nil {
			return err
		}
		return c.SendString(value)
	})
	app.Get("/api/orders", func(c fiber.Ctx) error {
		start := time.Now()
		all := orders.Fetch()
		telemetry.Fetch(c.Context(), start)
		if err := c.JSON(all); err != nil {
			c.Set("X-Error", err.Error())
			return c.SendStatus(fiber.StatusInternalServerError)
		}
		return nil
	})
	app.Get("/cpu", func(c fiber.Ctx) error {
		n, err := service.ParseN(c.Query("n"))
		if err != nil {
			return fiber.NewError(fiber.StatusBadRequest, err.Error())
		}
		return c.SendString(strconv.Itoa(service.Fibonacci(n)))
	})
	return app
}
