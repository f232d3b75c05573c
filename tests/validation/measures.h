// Measures the figures that the formulas predict: which runs are made, and what is read from them.
// Rates are per second, times are in seconds. `attempts` is the most that a request makes. `more`:
// additional options.
#pragma once

#include <cstdint>
#include <functional>

#include "study/named_options.h"

namespace retrystorm::validation {

// Returns the figure of a run with this seed, or NaN if there is none. May be called from several
// threads.
using Measure = std::function<double(std::uint64_t seed)>;

// --- Retries ---

// Attempts fail with probability p: the share of requests that succeed, and the attempts per
// request.
Measure retried_success(double p, int attempts, const NamedOptions& more = {});
Measure retried_attempts(double p, int attempts, const NamedOptions& more = {});
// Attempts per second if requests arrive at rate l, and the service accepts c and refuses the
// others.
Measure retried_load(double l, double c, int attempts, double seconds, double wait);
// The same with retries exactly one second later, and a burst of `burst` more accepted at first:
// how many are refused in this second.
Measure refused_in(int second, double l, double c, int attempts, double burst);
// Attempts per request while everything fails.
Measure all_failing(const NamedOptions& more);
// Attempts per second of clients that want rate g, with SRE's adaptive throttling by k, to a
// service that accepts c.
Measure sent(double g, double k, double c);
// n clients begin at once at a server that serves one at a time: how many attempts are refused
// until all are served, and how long all clients together wait.
Measure contended_refusals(int n, const char* jitter);
Measure contended_waits(int n, const char* jitter);
// How long each further retry waits once the cap is reached.
Measure clamped_wait(const NamedOptions& more);

// --- Budgets ---

// All retries of a run.
Measure retries_in_all(const NamedOptions& more);
// The share of failed attempts that are retried in the long run, if attempts fail with probability
// p.
Measure retried_failures(double p, const NamedOptions& more);
Measure retries_a_second(double rate, const NamedOptions& more);
// The same for clients whose attempts all fail, and whose retries mostly wait.
Measure retries_at_a_time(int clients, const NamedOptions& more);
// Retries per request in the long run, with at most two, if attempts fail with probability p.
Measure retries_a_request(double p, const NamedOptions& more);

// --- Hedges ---

// Requests arrive at rate l at a service that never queues. `times`: its times, as --service-time.
// Hedges for each request (also of clients without a pause, one request each), the mean latency, the latency that a share q does not exceed, and how long a
// request keeps workers busy.
Measure hedges_a_request(double l, const std::string& times, const NamedOptions& more);
Measure hedges_of_clients(int clients, const std::string& times, const NamedOptions& more);
Measure hedged_latency(double l, const std::string& times, const NamedOptions& more);
Measure hedged_latency_at(double q, double l, const std::string& times, const NamedOptions& more);
Measure hedged_work(double l, const std::string& times, const NamedOptions& more);
// The share of fan-outs to n parts of which one takes longer than `slow`.
Measure slow_fan_outs(int n, double slow, double l, const std::string& times,
                      const NamedOptions& more);
// c workers that take an exponential time of mean s: how many are busy, how fast the queue grows, and the mean
// latency.
Measure busy_with_hedges(int c, double l, double s, const NamedOptions& more);
Measure growing_queue(int c, double l, double s, const NamedOptions& more);
Measure latency_with_hedges(int c, double l, double s, const NamedOptions& more);
// Attempts a request if nothing is ever answered.
Measure unanswered_attempts(double l, const NamedOptions& more);
// Hedges a second if all requests would have one.
Measure wanted_hedges(double l, const NamedOptions& more);

// --- Queues and loss ---

// The mean number of requests that wait to retry. A busy server refuses. It takes s, or an
// exponential time with rate mu. Waits are exponential with rate nu.
Measure waiting(double l, double s, double nu);
Measure waiting_for_worker(double l, double mu, double nu);
// The share of time that the server is busy, and the requests that it serves per second.
Measure busy(double l, double s, const NamedOptions& more);
Measure throughput(double l, double s, const NamedOptions& more);
// The share of attempts that c servers refuse.
Measure lost(int c, double l, double s);
// Attempts per request at c servers without a queue, with retries after minutes.
Measure patient_attempts(int c, double l, double s);
// The share of calls that c servers refuse, with n clients that think for z and do not retry.
Measure refused_calls(int n, int c, double z, double s);
// The mean and the variance of the number of requests in a service that is never full.
Measure mean_in_service(double l, double s);
Measure variance_in_service(double l, double s);
// The share of requests that c workers without a queue accept, if a share of the requests hangs.
Measure served_beside_hanging(int c, double l, double usual, double share, double hanging);
// The share of time that all of c workers are busy, and the mean number of requests that wait.
Measure all_busy(int c, double l, double s);
Measure waiting_in_queue(int c, double l, double s, const NamedOptions& more = {});
// A service that never queues, and a process with a pool of c kept connections: the share of attempts
// that fail if none may wait in line, and the mean number of attempts in line.
Measure lost_for_connections(int c, double l, double s, const NamedOptions& more = {});
Measure in_line(int c, double l, double s, const NamedOptions& more = {});
// The share of requests that open a connection, with a pool of one that is closed once it has been
// idle for t.
Measure connecting(double l, double s, double t);
// A pool of c kept connections that many clients use all the time: OK a second.
Measure through_kept_connections(int c, double s);
// A service that never ends: how many attempts are in it.
Measure in_streams(int connections, int streams);
// n clients think for z, and their service of 20 workers takes s. It is frozen for t: what it finds on waking, or of
// this only what is on kept connections.
Measure on_waking(int n, double z, double s, double t, int backlog);
Measure on_waking_in_pools(int n, double z, double s, double t, int processes, int c);
// M/M/1: how long it takes from empty to n requests, and from n to empty. `longest`: the time that
// each repetition gets.
Measure filling_seconds(double l, double mu, int n, int longest);
Measure emptying_seconds(double l, double mu, int n, int longest);
// The smallest --max-connections at which the service stays down after an outage. Searches within a
// tenth of `expected`.
Measure trapping_connections(double l, int attempts, double expected,
                             const NamedOptions& more = {});

// 90 requests per second for ten workers that take 100 ms, and three times as long for 8 s: the
// most that wait, and how long it then takes until fewer than `waiting` do.
Measure stale_backlog();
Measure stale_seconds(int waiting);
// Clients whose connections were all dropped come back once, each at a random time within `wait`:
// the most that wait for a service with this rate, and how long it takes until none does.
Measure herd_backlog(int clients, double rate, double wait);
Measure herd_seconds(int clients, double rate, double wait);
// n requests arrive at once at a worker that takes s for each: when this share is done, how many
// CoDel drops, and the order in which adaptive LIFO serves them, as digits.
Measure lockstep_wait(int n, double s, double share);
Measure dropped_by_codel(int n, double s, double target, double interval);
Measure served_order(int n, int threshold);

// --- Capacity ---

// The capacity of a table that starts at 100 per second and autoscales to a use of 70 %, after so
// many seconds of far more demand.
Measure capacity_after(int seconds);
// How long a limit of c accepts rate l after 300 s without requests.
Measure first_throttled(double c, double l);
// n workers that pace themselves share a capacity of c: the time per attempt outside the service,
// and the share of attempts that are throttled.
Measure paced_pause(int n, double c, double randomization, int from, int to);
Measure paced_throttled(int n, double c, double randomization, int from, int to);

// The quotient of two measures with the same seed.
Measure quotient(Measure over, Measure under);

}  // namespace retrystorm::validation
