// Closed forms that the simulator is compared with: plain functions of numbers, for any parameters.
// Rates are per second, times are in seconds. `a` is the offered traffic in Erlangs: rate * service
// time. docs/validation-sources.csv lists the sources.
#pragma once

#include <vector>

namespace retrystorm::validation {

// --- Retries ---

// Requests with at most n attempts, each of which fails independently with probability p: the share
// of requests that succeed, and the attempts per request. Geometric series; Marc Brooker's
// simulator_example (`retry_sim`) uses the same.
double retry_success(double p, int n);
double retry_attempts(double p, int n);

// Requests arrive at rate l > c. A service accepts c attempts per second and refuses the others at
// once. Each request makes up to n attempts, spread in time, so that each is refused with the same
// probability q. The requests that succeed are those that the service accepts: l (1 - q^n) = c. The
// limit of the example in "Site Reliability Engineering" (2016), ch. 22.
double refused_share(double l, double c, int n);
// All attempts per second: c / (1 - q).
double retry_load(double l, double c, int n);

// The same from an empty start, with retries exactly one second later: how many are refused in the
// k-th second. In the first second, a burst of b more is accepted. Same chapter, "Retries".
double refused_in_second(double l, double c, int n, double b, int k);

// Adaptive throttling: clients that want rate g send at most k attempts for each accepted one. Same
// book, ch. 21, equation 21-1.
double throttled_rate(double g, double k, double c);

// --- Budgets ---

// Retries from a full bucket of t tokens while every attempt fails and costs one token. A retry is
// allowed while more than half of the tokens are left after the failure. grpc/proposal A6.
int retries_to_half(double t);

// Failures cost 1 token and successes add d. Above this share of failures the bucket drains.
// Balance of the two: f = (1 - f) d.
double draining_share(double d);

// Retries from a bucket of t tokens if each costs c. botocore, AWS SDKs and Tools Reference Guide.
int retries_for(int t, int c);

// The AWS quota with refunds and at most 3 attempts. A first success adds 1, a retry costs c, and
// its success refunds that. Attempts fail with probability p, and r retries per request are sent.
// Then failed retries cost c p r per request, and first successes add 1 - p. botocore.
//
// The quota drains above this share of failures if all wanted retries are sent, r = p + p^2. The
// guide gives 32 % for c = 5.
double quota_draining_share(double c);
// Retries per request: all that are wanted, or as many as the quota pays for: (1 - p) / (c p).
double quota_retries(double p, double c);

// --- Hedges ---

// Services take an exponential time of mean m, and never queue. One hedge is sent at time d. Memoryless.
// Its share of the requests: e^(-d/m).
double hedged_share(double m, double d);
// The mean latency: m (1 - share / 2), because from d on two are under way.
double hedged_mean(double m, double d);
// The latency that a share q of the requests does not exceed. Below d it is that without hedges. Beyond
// it the rest falls twice as fast.
double hedged_quantile(double m, double d, double q);

// Services take a, but b > a + d with probability p, and one hedge is sent at d, a < d < a + d < b. The mean
// latency; and the share that takes longer than a + d: both are slow.
double hedged_mean_of_two(double a, double b, double p, double d);
double hedged_slow_share(double p);

// The share of fan-outs to n parts that are slow, if each part is with probability p. Jeffrey Dean and
// Luiz Barroso, "The Tail at Scale" (2013).
double fan_out(double p, int n);

// M/M/1, mean time in it. Each request goes to two such hosts in the same order, and the first answer
// cancels the other one in its queue or its service: together they are one host of twice the rate.
double mean_in_system(double l, double mu);
double mean_in_two(double l, double mu);

// Finagle's budget: hedges a second if all requests would have one.
double budgeted_hedges(double l, double share);

// A request of which no attempt is answered within t, with a hedge after each d, at most n attempts.
int vain_attempts(double t, double d, int n);

// --- Queues and loss ---

// M/G/1 retrial queue with constant service time s: the mean number of requests that wait to retry.
// Each waits for an exponential time with rate nu. Falin and Templeton, "Retrial Queues" (1997).
double retrial_orbit(double l, double s, double nu);
// M/M/1 retrial queue with service rate mu. The same book.
double exponential_orbit(double l, double mu, double nu);

// The share of requests that c servers without a queue refuse. Erlang (1917). Holds for any
// distribution of service times.
double erlang_b(int c, double a);

// Retries until success, after long and spread waits. All attempts together are again a Poisson
// stream, with traffic A. All requests are served in the end: A (1 - B(c, A)) = a. Attempts per
// request: A / a. Slow-retrial limit (Cohen 1957; Falin and Templeton).
double slow_retrial_attempts(int c, double a);

// The share of calls that are refused if n sources think for z, call one of c servers for s, and
// think again after a refusal. Engset (1918), as a caller sees it.
double engset(int n, int c, double z, double s);

// The share of requests that must wait for one of c workers, a < c. Erlang (1917).
double erlang_c(int c, double a);
// How many wait on average. Holds for any order of service.
double erlang_queue(int c, double a);

// One kept connection, with a line for it, that is closed once it has been idle for t. The share of
// requests that must open another: those that find nobody (1 - l s), with none in the time t before.
double connecting_share(double l, double s, double t);

// n clients with a kept connection each, which think for z and are served within s, are frozen out for t: the
// attempts that the service finds on waking, besides those that it had begun with. On each connection that was
// idle one, unless its client thought all the time, and what the accept queue holds, one more than its backlog.
double found_on_waking(int n, double z, double s, double t, int backlog);

// M/M/1 with room for n: the mean time from empty to n requests, and from n to empty. Birth and
// death: the sum of the mean times of the single steps.
double filling_time(double l, double mu, int n);
double emptying_time(double l, double mu, int n);

// Fluid approximation: how much waits after time t with arrival rate l and service rate c.
double backlog(double l, double c, double t);

// n requests arrive at once at a worker that takes s for each: the time until this share is done.
double lockstep(int n, double s, double share);

// n requests arrive at once at a worker that takes s for each: how many of them CoDel drops.
// facebook/folly, folly/executors/Codel.cpp.
int codel_drops(int n, double s, double target, double interval);

// n < 10 requests arrive at once: the order in which adaptive LIFO serves them, as the digits of a
// number. The first one finds the worker free. facebook/hhvm, hphp/util/job-queue.h.
int adaptive_order(int n, int threshold);

// --- Services behind services ---

// A row of `hops` services, of which only the last one fails, with p. Every caller makes at most n attempts: calls of
// the last service for a request, and the share of requests that succeed.
double chain_calls(double p, int n, int hops);
double chain_success(double p, int n, int hops);

// Each of them fails by itself with e before it calls: the share of requests that fail at the first service. `retries`:
// whether a caller retries, from the caller of the last service to the clients.
double hops_failing(double e, int n, const std::vector<bool>& retries);

// One service after the other, each with one worker, exponential services and freed workers: the times in them are
// independent and exponential. Burke (1956), Reich (1957). The mean, and the share of two that takes longer than t.
double tandem_mean(double l, const std::vector<double>& mu);
double tandem_longer(double l, double mu_1, double mu_2, double t);

// Requests arrive at rate g, fail with probability p after their service, and come again: the arrival rate with at most
// n attempts, and the mean number in the queue and with the worker. Jackson (1957).
double fed_back(double g, double p, int n);
double in_station(double l, double mu);

// n requests think for z and share one exponential worker that takes s: what it serves. Machine repair, any law of z.
double repaired(int n, double z, double s);

// k calls at once, each of which fails with p after at most n attempts: the share of requests for which `need` succeed.
double fan_out_success(int k, double p, int n, int need);

// Two M/M/1 services called at once: the mean time until both have answered. Flatto and Hahn (1984).
double fork_join(double l, double mu);
// k exponential services of mean s, without a queue, at once: the mean of the longest. s times the k-th harmonic number.
double longest_of(int k, double s);

// Retries that cost a token, of which a success pays d, with room for few: retries a request, if p fail.
double paid_retries(double p, double d);

// --- The service's own curve ---

// With x requests in the service, x above the limit, a request takes d f^((x - limit) / k). Beyond
// its peak, throughput falls with x. Returns the x at which it has fallen to `rate`.
double falling_concurrency(double rate, double d, double f, double limit, double k);

// --- Capacity ---

// The capacity after so many steps of target tracking while all of it is used. Each step is rounded
// up. Amazon DynamoDB Developer Guide.
double tracked_capacity(double c, double target, int steps);

// How long a capacity c < l accepts rate l after it was unused for so many seconds. The same guide.
double saved_seconds(double c, double seconds, double l);

// A failure multiplies a pause by `up`, and every n-th success by `down`. The share of failures f
// at which the mean pause does not change: f ln(up) = (1 - f) / n ln(1 / down).
double paced_failures(double up, double down, int n);

// A pause is multiplied by a factor drawn uniformly from 1 - r to 1 + r, 0 < r < 1: the geometric
// mean of the factor.
double spread(double r);

}  // namespace retrystorm::validation
