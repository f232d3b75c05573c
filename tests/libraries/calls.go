// Usage: calls LIBRARY URL CALLS SILENT_S
//
// Makes CALLS calls, one a little after the other, with a library of Go that has its default settings, and
// waits for their ends. URL is that of a server that always fails. With SILENT_S > 0 that is how long an
// attempt may take.
package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/cenkalti/backoff"
	"github.com/hashicorp/go-retryablehttp"
)

// The test compares the first waits of cenkalti only, which retries for 15 minutes.
const cenkaltiRetries = 4

func retryable(url string, timeout time.Duration) {
	client := retryablehttp.NewClient()
	client.Logger = nil
	client.HTTPClient.Timeout = timeout
	if answer, err := client.Get(url); err == nil {
		answer.Body.Close()
	}
}

func cenkalti(url string, timeout time.Duration) {
	client := http.Client{Timeout: timeout}
	attempt := func() error {
		answer, err := client.Get(url)
		if err != nil {
			return err
		}
		answer.Body.Close()
		return errors.New(answer.Status)
	}
	_ = backoff.Retry(attempt, backoff.WithMaxRetries(backoff.NewExponentialBackOff(), cenkaltiRetries))
}

func main() {
	call := map[string]func(string, time.Duration){"retryablehttp": retryable, "cenkalti": cenkalti}[os.Args[1]]
	calls, _ := strconv.Atoi(os.Args[3])
	silent, _ := strconv.ParseFloat(os.Args[4], 64)
	var all sync.WaitGroup
	for i := 0; i < calls; i++ {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			call(fmt.Sprintf("%s/%d", os.Args[2], i), time.Duration(silent*float64(time.Second)))
		}(i)
		time.Sleep(20 * time.Millisecond)
	}
	all.Wait()
}
