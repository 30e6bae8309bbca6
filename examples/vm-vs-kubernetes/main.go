// The service of a published benchmark of virtual machines against Kubernetes: plain requests, messages over NATS and back, and a row of a
// database read and written.
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	_ "github.com/go-sql-driver/mysql"
	"github.com/nats-io/nats.go"
)

const (
	subject = "echo"
	rows    = 1000
	// A pool as large as its service's connections would be queues in the database instead.
	databaseConnections = 16
)

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") })
	mux.HandleFunc("GET /plain", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "plain") })
	if address := os.Getenv("NATS"); address != "" {
		connection, err := messages(mux, address)
		if err != nil {
			return err
		}
		defer connection.Close()
	}
	if source := os.Getenv("DATABASE"); source != "" {
		database, err := database(mux, source)
		if err != nil {
			return err
		}
		defer database.Close()
	}
	server := &http.Server{Addr: os.Getenv("HOST") + ":" + os.Getenv("PORT"), Handler: mux}
	return serve(server)
}

// messages answers /message with what comes back over NATS, from a subscriber of this process.
func messages(mux *http.ServeMux, address string) (*nats.Conn, error) {
	connection, err := nats.Connect(address)
	if err != nil {
		return nil, fmt.Errorf("cannot connect to NATS: %w", err)
	}
	echo := func(message *nats.Msg) { _ = message.Respond(message.Data) }
	if _, err := connection.Subscribe(subject, echo); err != nil {
		return nil, err
	}
	mux.HandleFunc("GET /message", func(w http.ResponseWriter, r *http.Request) {
		patience, cancel := context.WithTimeout(r.Context(), 5*time.Second)
		defer cancel()
		answer, err := connection.RequestWithContext(patience, subject, []byte("message"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		w.Write(answer.Data)
	})
	return connection, nil
}

// database answers /row with a row, and stores one that is posted.
func database(mux *http.ServeMux, source string) (*sql.DB, error) {
	database, err := sql.Open("mysql", source)
	if err != nil {
		return nil, err
	}
	database.SetMaxOpenConns(databaseConnections)
	database.SetMaxIdleConns(databaseConnections)
	for _, statement := range []string{
		"CREATE TABLE IF NOT EXISTS item (id INT PRIMARY KEY, count INT NOT NULL)",
		fmt.Sprintf("INSERT IGNORE INTO item SELECT seq, 0 FROM seq_1_to_%d", rows),
	} {
		if _, err := database.Exec(statement); err != nil {
			return nil, fmt.Errorf("cannot prepare the database: %w", err)
		}
	}
	row := func(r *http.Request) (int, error) {
		id, err := strconv.Atoi(r.FormValue("id"))
		if err != nil || id < 1 || id > rows {
			return 0, fmt.Errorf("id is from 1 to %d", rows)
		}
		return id, nil
	}
	mux.HandleFunc("GET /row", func(w http.ResponseWriter, r *http.Request) {
		id, err := row(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		var count int
		if err := database.QueryRowContext(r.Context(), "SELECT count FROM item WHERE id = ?", id).Scan(&count); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprint(w, count)
	})
	mux.HandleFunc("POST /row", func(w http.ResponseWriter, r *http.Request) {
		id, err := row(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if _, err := database.ExecContext(r.Context(), "UPDATE item SET count = count + 1 WHERE id = ?", id); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprint(w, "stored")
	})
	return database, nil
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
