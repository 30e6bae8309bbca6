// A service that speaks HTTPS alone, HTTP/1.1 and HTTP/2, to clients with a certificate of its authority; it says what it was asked in,
// and by whom.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
)

func main() {
	certificate, err := tls.X509KeyPair([]byte(os.Getenv("CERTIFICATE")), []byte(os.Getenv("KEY")))
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	authorities := x509.NewCertPool()
	authorities.AppendCertsFromPEM([]byte(os.Getenv("AUTHORITY")))
	server := http.Server{
		Addr: os.Args[1],
		Handler: http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
			fmt.Fprintf(response, "%s to %s", request.Proto, request.TLS.PeerCertificates[0].Subject)
		}),
		TLSConfig: &tls.Config{
			Certificates: []tls.Certificate{certificate},
			ClientCAs:    authorities,
			ClientAuth:   tls.RequireAndVerifyClientCert,
		},
	}
	fmt.Println(server.ListenAndServeTLS("", ""))
	os.Exit(1)
}
