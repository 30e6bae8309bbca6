// Package service is what the Go services share. A service has its framework's routes, start and end.
package service

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Settings is what the environment says about how the service runs.
type Settings struct {
	Port   int
	Mode   string
	Orders int
	Delay  Delay
}

// Delay is how long a request for orders waits: a time between two.
type Delay struct {
	shortest, longest time.Duration
}

// SettingsFromEnvironment reads the environment of a service that has these modes, the default first; a bad value ends the process with
// its name.
func SettingsFromEnvironment(modes ...string) Settings {
	settings, err := settingsOf(os.LookupEnv, modes)
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(2)
	}
	return settings
}

func settingsOf(lookup func(string) (string, bool), modes []string) (settings Settings, err error) {
	if settings.Port, err = number(lookup, "PORT", 8080, 1, 65_535); err != nil {
		return
	}
	if settings.Orders, err = number(lookup, "ORDERS", 1_000, 0, 1_000_000); err != nil {
		return
	}
	settings.Mode = modes[0]
	if mode, found := lookup("MODE"); found {
		if !slices.Contains(modes, mode) {
			return settings, fmt.Errorf("MODE must be one of %s, not %q", strings.Join(modes, ", "), mode)
		}
		settings.Mode = mode
	}
	if delay, found := lookup("ORDERS_DELAY"); found {
		settings.Delay, err = parseDelay(delay)
	}
	return
}

func number(lookup func(string) (string, bool), name string, missing, least, most int) (int, error) {
	text, found := lookup(name)
	if !found {
		return missing, nil
	}
	if number, err := strconv.Atoi(text); err == nil && number >= least && number <= most {
		return number, nil
	}
	return 0, fmt.Errorf("%s must be a whole number from %d to %d, not %q", name, least, most, text)
}

func parseDelay(text string) (Delay, error) {
	first, second, _ := strings.Cut(text, "..")
	shortest, err := time.ParseDuration(first)
	longest, err2 := time.ParseDuration(second)
	if err != nil || err2 != nil || shortest < 0 || shortest > longest {
		return Delay{}, fmt.Errorf("ORDERS_DELAY must be two times, the shorter first, such as 1ms..5ms, not %q", text)
	}
	return Delay{shortest, longest}, nil
}

// Wait lets the goroutine sleep for one of its times.
func (d Delay) Wait() {
	if d.longest > 0 {
		time.Sleep(d.shortest + rand.N(d.longest-d.shortest+1))
	}
}
