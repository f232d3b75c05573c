# The closed forms that scripts/validate holds the simulator against. Rates are per second, times
# seconds; `a` is the offered traffic in Erlangs, rate * service time.

# --- retries ----------------------------------------------------------------------------------

# A request of at most n attempts, each of which fails independently with p: success, attempts.
function retry_success(p, n) { return 1 - p ^ n }
function retry_attempts(p, n) { return (1 - p ^ n) / (1 - p) }

# Requests come at l, a service takes c < l of their attempts and refuses the others at once; each
# request makes up to n, spread in time: each is refused with q, and c/(1-q) come in all.
function refused_share(l, c, n) { return (1 - c / l) ^ (1 / n) }
function retry_load(l, c, n) { return c / (1 - refused_share(l, c, n)) }

# The same from an empty start with retries exactly a second later, second by second: how many are
# refused in the k-th. A burst of b is let in besides.
function refused_in_second(l, c, n, b, k,    load, i, j, all, next_load, refused) {
  for (i = 1; i <= n; ++i) load[i] = 0
  for (j = 1; j <= k; ++j) {
    load[1] = l
    all = 0
    for (i = 1; i <= n; ++i) all += load[i]
    refused = all - c - (j == 1 ? b : 0)
    if (refused < 0) refused = 0
    for (i = n; i > 1; --i) load[i] = load[i - 1] * refused / all
  }
  return refused
}

# SRE's adaptive throttling: clients that want g send no more than k for each one accepted.
function throttled_rate(g, k, c) { return g < k * c ? g : k * c }

# --- budgets ----------------------------------------------------------------------------------

# Retries from a full bucket of t while every attempt fails and costs one token, for as long as more
# than half of it is left after the failure.
function retries_to_half(t,    n) {
  while (t - (n + 1) > t / 2) ++n
  return n + 0
}

# Failures cost 1 and successes pay d: above this share of failures the bucket drains.
function draining_share(d) { return d / (1 + d) }

# Retries from a bucket of t where each costs c.
function retries_for(t, c) { return int(t / c) }

# A quota with refunds, at most 3 attempts: a first success pays 1, a retry costs c, which its
# success gives back. With the share `a` of retries granted, the balance of a request whose attempts
# fail with p is (1-p) - a*c*p^2 - a^2*c*p^3.
function quota_balance(p, c, a) { return (1 - p) - a * c * p ^ 2 - a ^ 2 * c * p ^ 3 }
function quota_draining_share(c,    low, high, i) {
  high = 1
  for (i = 0; i < 60; ++i) {
    if (quota_balance((low + high) / 2, c, 1) > 0) low = (low + high) / 2
    else high = (low + high) / 2
  }
  return low
}
# Retries a request: all that are wanted where the quota lasts, else what it pays for.
function quota_retries(p, c,    low, high, i, a) {
  a = 1
  if (quota_balance(p, c, 1) < 0) {
    high = 1
    for (i = 0; i < 60; ++i) {
      if (quota_balance(p, c, (low + high) / 2) > 0) low = (low + high) / 2
      else high = (low + high) / 2
    }
    a = low
  }
  return a * p + (a * p) ^ 2
}

# --- queues and loss --------------------------------------------------------------------------

# M/G/1 retrial queue with service times of exactly s: requests that wait to retry on average, each
# after an exponential time with the rate nu.
function retrial_orbit(l, s, nu,    r) {
  r = l * s
  return r * r / (2 * (1 - r)) + l * r / (nu * (1 - r))
}

function erlang_b(c, a,    b, k) {
  b = 1
  for (k = 1; k <= c; ++k) b = a * b / (k + a * b)
  return b
}

# Persistent retries after waits that are long and spread: those that come, with their retries, are
# Poisson again, and as many are served as want to be: a_all * (1 - B(c, a_all)) = a. The attempts
# that a request takes.
function slow_retrial_attempts(c, a,    low, high, i, all) {
  low = a
  high = 1000 * a
  for (i = 0; i < 200; ++i) {
    all = (low + high) / 2
    if (all * (1 - erlang_b(c, all)) < a) low = all
    else high = all
  }
  return all / a
}

# Engset: n sources that think for z and hold a server for s; the share of calls that are refused.
function engset(n, c, z, s,    b, k, a) {
  a = s / z
  b = 1
  for (k = 1; k <= c; ++k) b = a * (n - k) * b / (k + a * (n - k) * b)
  return b
}

# --- the trap ---------------------------------------------------------------------------------

# The service takes d * f^((x-limit)/k) with x in it (x above the limit). Above its peak throughput
# falls with x: where it is down to `rate`.
function falling_concurrency(rate, d, f, limit, k,    low, high, x, i) {
  low = k / log(f) > limit ? k / log(f) : limit # the peak
  high = 1000 * low
  for (i = 0; i < 200; ++i) {
    x = (low + high) / 2
    if (x / (d * exp(log(f) * (x - limit) / k)) > rate) low = x
    else high = x
  }
  return x
}

# --- jitter -----------------------------------------------------------------------------------

# The sum of the first n waits that double from b to at most m.
function doubling_waits(b, m, n,    i, sum) {
  for (i = 0; i < n; ++i) sum += (b * 2 ^ i < m) ? b * 2 ^ i : m
  return sum
}

# --- workers and queues -----------------------------------------------------------------------

# M/M/1 retrial queue: requests that wait to retry on average; arrivals l, services mu, retries nu.
function exponential_orbit(l, mu, nu,    r) { r = l / mu; return r / (1 - r) * (r + l / nu) }

# The share that must wait for one of c workers, who are offered `a`.
function erlang_c(c, a,    b) { b = erlang_b(c, a); return b / (1 - a / c * (1 - b)) }
# ... and how many wait.
function erlang_queue(c, a) { return erlang_c(c, a) * a / (c - a) }

# M/M/1: mean time from empty until n are there, and from n until it is empty where no more than n
# have room.
function filling_time(l, mu, n,    step, sum, i) {
  for (i = 0; i < n; ++i) {
    step = i == 0 ? 1 / l : 1 / l + mu / l * step
    sum += step
  }
  return sum
}
function emptying_time(l, mu, n,    step, sum, i) {
  for (i = n; i > 0; --i) {
    step = i == n ? 1 / mu : 1 / mu + l / mu * step
    sum += step
  }
  return sum
}

# As a fluid: what waits when l came for t to a service that took c.
function backlog(l, c, t) { return (l - c) * t }

# How many of n that come at one moment CoDel drops before one worker who takes s for each.
function codel_drops(n, s, target, interval,    now, i, end, first, least, standing, drops, over) {
  first = 1
  for (i = 0; i < n; ++i) {
    if (now > end && !first) {
      first = 1
      end = now + interval
      standing = least > target
    }
    over = 0
    if (first) {
      first = 0
      least = now
    } else {
      if (now < least) least = now
      over = standing && now > 2 * target
    }
    if (over) ++drops
    else now += s
  }
  return drops + 0
}

# The order, as digits, in which adaptive LIFO serves n < 10 that come at one moment, first the one
# that finds the worker free.
function adaptive_order(n, threshold,    order, low, high) {
  order = "1"
  low = 2
  high = n
  while (low <= high) order = order (high - low >= threshold ? high-- : low++)
  return order
}

# --- capacity ---------------------------------------------------------------------------------

# What target tracking makes of a capacity in so many steps while all of it is used: rounded up.
function tracked_capacity(c, target, steps,    i, next_one) {
  for (i = 0; i < steps; ++i) {
    next_one = int(c / target)
    c = next_one < c / target - 1e-9 ? next_one + 1 : next_one
  }
  return c
}

# For how long l a second are let in by c < l and what c was in so many seconds before, unused.
function saved_seconds(c, seconds, l) { return c * seconds / (l - c) }

# A pause that a failure multiplies by up, and every n-th success by down, stays as it is when
# f ln(up) = (1 - f)/n ln(1/down): the share f of failures.
function paced_failures(up, down, n,    a) { a = -log(down) / n; return a / (a + log(up)) }

# By what a pause that is drawn uniformly from 1 -+ r around itself is multiplied in the geometric
# mean.
function spread(r) { return exp(((1 + r) * log(1 + r) - (1 - r) * log(1 - r)) / (2 * r) - 1) }

# So many seconds after n requests have all come at one moment to one worker that takes s for each,
# this share of them is done.
function lockstep(n, s, share,    k) { k = int(n * share); return s * (k < n * share ? k + 1 : k) }
