#include "words/words.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "model/base/text.h"

namespace retrystorm {
namespace {

struct Row {
  std::string_view id;
  std::string_view
      words;  // {NAME} is the value of this name, {s} an s unless the number before it is 1
};

constexpr Row kRows[] = {
    // What became of a run: model/run/recovery.cc
    Row{"back-at-once", "back at 90 % of {baseline} OK/s at once"},
    Row{"back-after", "back at 90 % of {baseline} OK/s after {after}"},
    Row{"below-baseline", "{ok} of {baseline} OK/s in the last {window}"},
    Row{"below-baseline-without-errors",
        "the errors are gone, but {ok} of {baseline} OK/s in the last {window}"},
    Row{"change-before-outage",
        "nothing to compare with: {what} at {at} was less than 10 s before the outage; let that come "
        "earlier, or the outage later"},
    Row{"cost-little", "the outage cost hardly an answer"},
    Row{"cost-nothing", "the outage cost no answers"},
    Row{"disturbed-after",
        "not watched for 15 s after the outage without {what} at {at}, another disturbance"},
    Row{"down-before", "down before the outage: none of {attempts} attempts was OK"},
    Row{"down-by-itself",
        "without an outage: {ok} of {baseline} OK/s in the last {window}, of {attempts} attempts/s"},
    Row{"ended-in-outage", "the run ended before the outage did"},
    Row{"few-answers-before",
        "too few answers before the outage to compare with: {answers} in {time}"},
    Row{"held-down",
        "Held down by its clients: {requests} requests are in the service, and {most} is the most that can be "
        "answered in {timeout}: nearly all of the {attempts} attempts/s are answered too late"},
    Row{"held-down-waiting",
        "Held down by its clients: {requests} requests wait for a worker, and {most} is the most that can be "
        "answered in {timeout}: nearly all of the {attempts} attempts/s are answered too late"},
    Row{"held-down-slow",
        "Held down by its clients: an answer takes {delay}, and a client waits {timeout}: "
        "nearly all of the {attempts} attempts/s are answered too late"},
    Row{"held-down-endless",
        "Held down by its clients: an answer takes over 10 min, and a client waits {timeout}: "
        "nearly all of the {attempts} attempts/s are answered too late"},
    Row{"held-by-retries", "the outage is over, but {retries} retries a second keep it down"},
    Row{"held-without-retries",
        "the outage is over, but {attempts} requests a second are too many for it"},
    Row{"held-by-probes",
        "the outage is over, but probes kill hosts that are only busy, and {attempts} requests a second are too many for "
        "the others"},
    Row{"kept-down-by-retries", "{retries} retries a second keep it down"},
    Row{"kept-down", "{attempts} requests a second are too many for it"},
    Row{"hosts-out", "at the end {out} of {hosts} hosts are out"},
    Row{"lasts-to-end", "{what} at {at} lasts to the end"},
    Row{"load-above-capacity", "the load is {load}/s of {capacity}/s"},
    Row{"low-again", "below 75 % again after {after}, and {ok} of {baseline} OK/s at the end"},
    Row{"never-well", "it never was well: none of {count} attempts in the last {window} was OK"},
    Row{"no-attempt-at-end", "no attempt in the last {window}: all clients wait or hold back"},
    Row{"no-attempt-before", "nothing to compare with: no attempt before the outage"},
    Row{"none-sent", "no attempt was made"},
    Row{"none-ended", "none of {attempts} attempts has ended"},
    Row{"none-ok-now",
        "in the end none of {attempts} attempts was OK, and it takes 15 s to tell whether it comes back"},
    Row{"none-ok-yet", "none of {attempts} attempts was OK, in less than the 15 s of a verdict"},
    Row{"not-back-before",
        "not yet back before {what} at {at}, which lasts to the end: whether it would have come back "
        "is not known; let that come later, or end the run before it"},
    Row{"not-judged-since", "not judged since {what} at {at}"},
    Row{"not-well-before",
        "the service was not well: before the outage only {share} of the attempts were OK"},
    Row{"outage-too-early", "nothing to compare with: the outage began within the first 5 s"},
    Row{"queue-at-end", "{waiting} requests wait"},
    Row{"queue-drains",
        "{ok} of {baseline} OK/s, but its queue of {waiting} falls by {rate}/s and is empty in {left}"},
    Row{"queue-left", "its queue is not empty: a request waits for {wait} ({before} before)"},
    Row{"service-gone",
        "in the last {window} all {attempts} attempts/s are refused, or reach nothing"},
    Row{"since", "since {what} at {at}"},
    Row{"stays-low", "it stays at {ok} of {baseline} OK/s"},
    Row{"too-short-after", "not watched for 15 s after the outage"},
    Row{"unwell-before", "but before the outage only {share} of the attempts were OK"},
    // Why a service died first: model/run/graph_report.cc
    Row{"died-behind", "{name} is {busy} busy, {nobody} of it for nobody"},
    Row{"died-behind-for-callers", "{name} is {busy} busy, none of it for nobody"},
    Row{"died-behind-for-nobody", "{name} is {busy} busy, all of it for nobody"},
    Row{"died-busy", "it is {busy} busy"},
    Row{"died-queue", "{queue} requests wait in its queue"},
    Row{"died-queue-all-dead",
        "{queue} requests wait in its queue, all of them dead (their callers have given up)"},
    Row{"died-queue-dead",
        "{queue} requests wait in its queue, {dead} of them dead (their callers have given up)"},
    Row{"died-waits", "of its {workers} workers {calling} wait for {called}"},
    Row{"died-works", "it works for {rate} a second, {nobody} of it for nobody"},
    Row{"died-works-for-callers", "it works for {rate} a second, none of it for nobody"},
    Row{"died-works-for-nobody", "it works for {rate} a second, all of it for nobody"},
    // The answer of a run: common/output/answer.cc
    Row{"answer-back-alone", "Comes back after {after}"},
    Row{"answer-back-at-once-alone", "Comes back at once"},
    Row{"answer-back-with-queue", "Comes back, but not quite: {why}"},
    Row{"and-all-answered", "{answer}, and every request of the outage gets its answer"},
    Row{"and-answered", "{answer}; {share} of the requests of the outage got an answer"},
    Row{"but-after", "{answer}, but only {share} of the requests after the outage are answered"},
    Row{"but-before",
        "{answer}, but as it was: before the outage, too, only {share} of the requests were answered"},
    Row{"but-during", "{answer}, but only {share} of the requests of the outage are answered"},
    Row{"but-host",
        "{answer}, but host {list} does not: {share} of its attempts after the outage are answered"},
    Row{"but-hosts",
        "{answer}, but hosts {list} do not: {share} of their attempts after the outage are answered"},
    Row{"but-none-during", "{answer}, but no request of the outage is answered"},
    Row{"answer-down", "Stays down: {why}"},
    Row{"answer-job-open", "The job is not done: {done} of {calls} calls"},
    Row{"answer-no-outage", "No outage: {share} of the requests are answered"},
    Row{"answer-overloaded", "Stays overloaded: {why}"},
    Row{"answer-recovering", "Still coming back: {why}"},
    Row{"answer-relapsed", "Comes back, and goes down again: {why}"},
    Row{"answer-undecided", "Not decided: {why}"},
    Row{"answered", "{share}"},
    Row{"answered-after", "after it {share}"},
    Row{"answered-before", "before {share}"},
    Row{"answered-during", "in the outage {share}"},
    Row{"answered-line", "answered: {list}"},
    Row{"answered-p99", "p99 {list}"},
    Row{"figures-after", "after"},
    Row{"figures-before", "before"},
    Row{"figures-during", "in the outage"},
    Row{"figures-title", "{title}, {callers}, seed {seed}, {time}"},
    Row{"figures-whole", "whole run"},
    Row{"run-hosts", "{hit} of {hosts} hosts got {share} of the attempts of the outage"},
    Row{"run-hosts-ejected",
        "{hit} of {hosts} hosts got {share} of the attempts of the outage: host {host} was the first one out, at {at} "
        "({count} ejection{s} of all hosts)"},
    Row{"run-hosts-killed", "probes killed {hit} of {hosts} hosts, first at {at} ({count} in all)"},
    Row{"run-hosts-killed-busy",
        "probes killed {hit} of {hosts} hosts, first at {at} ({count} in all): {busy} of these worked, but were too busy "
        "for the probe"},
    Row{"run-hosts-scaled", "{first} hosts at first, {most} from {at} on"},
    Row{"run-hosts-scaled-back", "{first} hosts at first, {most} at {at}, {up} at the end"},
    Row{"run-hosts-sinkhole",
        "{hit} of {hosts} hosts got {share} of the attempts of the outage: what fails at once has the fewest under way"},
    Row{"run-died-first", "{node} died first, at {at}: {why}"},
    Row{"run-failed-commands", "{count} of the outage's commands failed"},
    Row{"run-failed-orders", "{count} of the orders to the server were not carried out"},
    Row{"run-first-error", "the first error was: {error}"},
    Row{"run-job-lost",
        "the job was done after {time}, without {lost} of its {calls} calls, which were given up"},
    Row{"run-job-done", "the job was done after {time}"},
    Row{"run-late",
        "{share} of the requests began more than {limit} late, the latest by {latest}: this machine does not keep up, so "
        "that these figures are not the service's alone; a lower --rate, or the client on another machine"},
    Row{"run-no-thread", "{count} requests found no thread"},
    Row{"run-not-reconnected", "{back} of {clients} clients have a connection again"},
    Row{"run-reconnected", "all {clients} clients had a connection again after {after}"},
    Row{"below-client", "one run, seed {seed}"},
    Row{"below-one-run",
        "one run, seed {seed} · defaults that matter: {defaults} · not modelled: networks"},
    Row{"below-one-run-given", "one run, seed {seed} · not modelled: networks"},
    Row{"default-backlog", "backlog {backlog}"},
    Row{"default-connections", "new connections"},
    Row{"default-host-start", "hosts start at once"},
    Row{"default-queue-length", "queues without an end"},
    Row{"default-replicas", "1 host"},
    Row{"default-timeout", "timeout {timeout}"},
    Row{"next-down",
        "how often? --runs=100   what ends it? retrystorm remedies   why? --explain   figures: -v"},
    Row{"next-client", "why? --explain   figures: -v   how often? simulate with --runs=100"},
    Row{"next-one-run", "how often? --runs=100   why? --explain   figures: -v"},
    Row{"seen-back", "Came back: from {from} to {to} OK/s fell to {share} of what they were"},
    Row{"seen-down", "Stays down since {from}: OK/s fell to {share} of what they were"},
    Row{"seen-low",
        "Lower since {from}: OK/s fell to {share} of what they were, and did not rise again"},
    Row{"seen-below",
        "seed {seed} · read from the rates; to have an outage judged: --server-pid=PID --outage-at=30s --outage-for=20s"},
    Row{"strip", "OK/s {first} {marks} {last}"},
    Row{"strip-legend", "a mark is {mark}"},
    Row{"strip-legend-outage", "a mark is {mark}, [ ] the outage"},
    // Before a run: simulate/program.cc
    Row{"before-clients", "{clients} client{s}: {retries}"},
    Row{"before-load", "{service}, load {load}/s ({used})"},
    Row{"before-load-alone", "load {load}/s"},
    Row{"before-load-clients", "load {load}/s of {clients} client{s} that wait for answers"},
    Row{"before-hosts", "{hosts} hosts of {workers} workers do {capacity}/s"},
    Row{"before-hosts-curve", "{hosts} hosts do {capacity}/s"},
    Row{"before-workers", "{workers} workers do {capacity}/s"},
    Row{"before-curve", "service {capacity}/s"},
    Row{"before-unlimited", "service without a limit"},
    Row{"before-calls", "if {name} is dead, up to {calls} calls of it per request: {rate}/s{more}"},
    Row{"before-retries", "{retries}"},
    Row{"before-attempts", "{attempts} attempt{s}: {rate}/s in the long run if all fail{more}"},
    Row{"before-budget", ", once the retry budget is used up"},
    Row{"before-too-many", ", over capacity"},
    Row{"before-outage", "{what} for {length}"},
    Row{"before-outage-lasts", "{what} from then on"},
    Row{"before-outage-hosts", "{hit} of {hosts} hosts: {what} for {length}"},
    Row{"before-recommend",
        "a search among {settings} settings in {faults} faults: some {runs} runs"},
    Row{"before-search", "a search, with up to {runs} run{s} of each value"},
    Row{"before-sweep", "{rows} row{s} of {runs} run{s}"},
    Row{"before-sweep-at-most", "{rows} row{s} of up to {runs} run{s}"},
    Row{"at-clock", "{at} {what}"},
    // What happens to a service: model/run/outlook_figures.cc
    Row{"outage-awake", "awake"},
    Row{"outage-over", "over: {what}"},
    Row{"outage-freeze", "frozen"},
    Row{"outage-drop", "connections reset and refused"},
    Row{"outage-slow", "each request takes {value} times as long"},
    Row{"outage-errors", "{share} of the attempts fail"},
    Row{"outage-capacity", "{value} times the capacity"},
    Row{"outage-throttle", "at most {value} requests/s are admitted"},
    Row{"outage-load", "{value} times the load"},
    Row{"outage-command", "--outage-begin"},
    Row{"outage-restart", "hosts restart"},
    Row{"outage-reconnect", "all clients lose their connection"},
    // The figures of --explain: model/run/outlook_figures.cc
    Row{"wanted_per_s", "load"},
    Row{"attempts_per_request", "attempts of a request, at most"},
    Row{"attempts_per_s_if_all_fail", "attempts if all fail"},
    Row{"attempts_per_s_if_all_err", "attempts if all meet errors"},
    Row{"attempts_per_s_if_all_time_out", "attempts if all time out"},
    Row{"median_waits_s", "wait before a retry (median)"},
    Row{"processes", "processes"},
    Row{"capacity_per_s", "service can do"},
    Row{"used", "used of that"},
    Row{"idle_ms.p50", "an idle service answers in"},
    Row{"idle_ms.p99", "99 of 100 in"},
    Row{"late_from", "answers come too late above (requests)"},
    Row{"can_hold_itself", "retries alone can keep it down"},
    Row{"reconnect_window_s", "clients connect again within"},
    Row{"reconnects_per_s", "connects meanwhile"},
    Row{"figure-per-second", "{value}/s"},
    Row{"figure-percent", "{value} %"},
    Row{"figure-yes", "yes"},
    Row{"figure-no", "no"},
    Row{"figures-assumed", "defaults that matter: {list}"},
    Row{"service-capacity", "can do {capacity}/s, {used} used"},
    Row{"service-unlimited", "can do {capacity}/s"},
    Row{"service-dead", "if it is dead: at most {calls} calls of it for a request, {rate}/s"},
    Row{"service-dead-too-many",
        "if it is dead: up to {calls} calls of it for a request, {rate}/s, too many (--retry-at)"},
    // Warnings before a run: model/run/outlook_warnings.cc
    Row{"above-rate-limit",
        "{clients} clients ask for {load}/s, {limit}/s are admitted: they make some {attempts} attempts/s, "
        "{wasted} for nothing; hold them back (--client-rate={limit}/s, --think-time over {think})"},
    Row{"above-rate-limit-adapting",
        "{clients} clients ask for {load}/s, and {limit}/s are admitted (--rate-limit): hold them back "
        "(--client-rate={limit}/s for all, --think-time over {think})"},
    Row{"above-rate-limit-held",
        "{processes} processes send up to {load}/s in all, and {limit}/s are admitted (--rate-limit): hold them back "
        "(--client-rate={each}/s in each, --think-time over {think})"},
    Row{"base-above-cap",
        "the first wait of {base} is above the cap of {cap}: no wait is longer than the cap (--backoff-base, "
        "--backoff-cap)"},
    Row{"call-client-rate-below-load",
        "calls of {called} by {caller}: {load}/s are wanted, and no more than {through}/s sent; the others wait before any "
        "outage (--client-rate)"},
    Row{"call-concurrency-below-load",
        "calls of {called} by {caller}: {load}/s are wanted, and the concurrency limit lets {through}/s through; the "
        "others are refused before any outage"},
    Row{"call-connections-below-load",
        "calls of {called} by {caller}: {load}/s are wanted, and the connections let {through}/s through; the others wait "
        "before any outage (--pool-size)"},
    Row{"call-half-hedged",
        "calls of {called} by {caller}: half of them take {answer}, and are hedged after {hedge}, before any outage "
        "(--hedge)"},
    Row{"client-rate-below-load",
        "the load is {load}/s, and the clients send no more than {through}/s: the others wait before any outage "
        "(--client-rate, --processes)"},
    Row{"connections-below-load",
        "the load is {load}/s, and the connections let through only {through}/s, {room} attempts of {answer} at a time: "
        "the others wait before any outage (--pool-size, --processes)"},
    Row{"connections-hold-workers",
        "each kept connection keeps a worker (--accepts=when-free), and there are more of them: others wait until one is "
        "closed (--server-idle)"},
    Row{"curve-throttled",
        "this service slows down when many requests are in it. A managed table only turns away what is too much: "
        "--service=workers with many --workers"},
    Row{"deadline-before-timeout",
        "a request ends after {deadline}, before its first attempt's {timeout} are over: what times out is never retried "
        "(--deadline, --timeout)"},
    Row{"deadline-cuts-failures",
        "of {attempts} attempts that fail only {begin} can begin before the deadline of {deadline}: these and their waits "
        "take {take} (--deadline, --max-attempts)"},
    Row{"deadline-cuts-timeouts",
        "of {attempts} attempts that time out after {timeout} only {begin} can begin before the deadline of {deadline}: "
        "these and their waits take {take} (--deadline, --max-attempts)"},
    Row{"ejects-none",
        "{share} of {hosts} hosts is less than one: no host is ever ejected, with {least} one could be (--eject)"},
    Row{"ends-after-outage",
        "the run ends soon after the outage: there will be no verdict; --duration={least} or more has one"},
    Row{"ends-in-outage",
        "the run ends in the outage: there will be no verdict; --duration={least} or more has one"},
    Row{"factor-of-backoff",
        "--factor is the backoff's here; the curve's is --curve-factor (`server --factor`)"},
    Row{"gives-up-first",
        "{caller} > {between}: given up after {timeout}, but {between} goes on with {called} for {longest} (attempts of "
        "{attempt}), for nobody (--timeout, --deadline-propagation)"},
    Row{"gives-up-first-likewise",
        "{caller} > {between}: given up after {timeout}, but {between} goes on with {called} for {longest} (attempts of "
        "{attempt}), for nobody; likewise {more} more (--deadline-propagation)"},
    Row{"half-after-timeout",
        "an idle service takes {answer}, and attempts end after {timeout}: at least half of them can never succeed "
        "(--timeout, --service-time)"},
    Row{"half-hedged",
        "an idle service takes {answer}, and a hedge is sent after {hedge}: at least half of the requests are hedged "
        "before any outage (--hedge)"},
    Row{"hangs-on-rejections",
        "only errors are retried, and this service turns nothing away: its queue has no bound. If yours has one, that "
        "decides (--queue-length, --rejection-cost)"},
    Row{"herd-too-late",
        "up to {attempts} requests pile up in the window of {window}, too many to be answered in time: spread them over "
        "{least}, better {enough} (--reconnect-base, --reconnect-jitter)"},
    Row{"herd-without-room",
        "the load of {load}/s takes all that the service can do, {capacity}/s: clients that lost their connection find no "
        "room (--clients, --think-time)"},
    Row{"probe-kills-slow",
        "the probe waits in the queue, and fails behind more than {waiting} requests: a host that works is restarted after "
        "{failures} failure{s} (--probe=...:port has a port of its own)"},
    Row{"hosts-left",
        "the other {left} of {hosts} hosts do {capacity}/s of the {load}/s: while the outage lasts, their queues grow"},
    Row{"job-in-step",
        "service time and waits are fixed: the job's {workers} workers call in lockstep (--service-time, --jitter)"},
    Row{"no-capacity-left",
        "the load is {load}/s of {capacity}/s: no capacity is left even before an outage"},
    Row{"file-cut",
        "the run ends after {run}, and the last rate of the file begins at {file}: see --outage-at and --observe"},
    Row{"no-capacity-then",
        "from then on the load is {load}/s of {capacity}/s: no capacity is left"},
    Row{"same-without", "the run of seed {seed} is the same without {options}"},
    Row{"no-pause-at-gate",
        "clients that do not think try again at once where a gate stops them: up to {attempts}/s. Give them a think time "
        "(--think-time)"},
    Row{"no-pause-if-refused",
        "clients that do not think try again at once where they are refused: up to {attempts}/s. Give them a think time "
        "(--think-time)"},
    Row{"no-request-gives-up",
        "no request gives up: at the end of the outage its {requests} requests send {attempts}/s, and go on until each is "
        "answered (--max-attempts, --deadline)"},
    Row{"none-retries",
        "--strategy=none, but retries are made: {retries} (--max-retries); leave out one of the two"},
    Row{"optional-call-hangs",
        "{between} may do without {name}, but not where it hangs: {callers} give up after {timeout}, and it may take "
        "{longest}. Give it less: [{between}.{name}] timeout = {less}, max-retries = 0"},
    Row{"processes-in-step",
        "{processes} processes begin together and stay in step (--client-rate): the limit admits {burst} at a time "
        "(--rate-burst). If yours do not, a --think-time of some seconds is nearer to them"},
    Row{"reconnect-waits",
        "--strategy and --backoff-base set the waits of requests. Clients that connect again wait exponentially from "
        "{base}, with full jitter (--reconnect-base)"},
    Row{"refusals-not-retried",
        "attempts meet a refused connection in this outage, which is not retried (--retry-on)"},
    Row{"service-hosts-left",
        "the other {left} of {hosts} hosts of {name} do {capacity}/s of the {load}/s: while the outage lasts, their queues grow"},
    Row{"service-too-slow",
        "{name} can do {capacity}/s of the {load}/s that are wanted, before any outage"},
    Row{"some-after-timeout",
        "an idle service takes {answer} for one request in a hundred, and attempts end after {timeout}: those are retried "
        "without any outage (--timeout, --service-time)"},
    Row{"status-not-retried",
        "attempts meet a {status} in this outage, which is not retried (--retry-on)"},
    Row{"table-not-reached",
        "a request has {retries} retries, and --backoff-table has {numbers} numbers: the last are never reached "
        "(--max-retries)"},
    Row{"throttle-above-limit",
        "the outage admits {rate}/s, and the rate limit {limit}/s at all times: the outage changes nothing (--outage, "
        "--rate-limit)"},
    Row{"throttle-above-load",
        "the outage admits {rate}/s, and the load is {load}/s: it turns hardly anything away (--outage)"},
    Row{"timeouts-not-retried",
        "attempts meet a timeout in this outage, which is not retried (--retry-on)"},
    Row{"turn-after-deadline",
        "a client's turn to send comes once in {turn}, after its deadline of {deadline}: most requests end before they are "
        "sent (--deadline, --client-rate)"},
    Row{"unused-by-open-arrivals",
        "open arrivals do not use {options}: {rate}/s arrive whatever happens to them. Where {clients} clients wait for "
        "their answers instead, the outcome may be another: --clients={clients} --think-time={think} without --rate"},
    Row{"unused-by-open-arrivals-processes",
        "open arrivals do not use {options}: {rate}/s arrive whatever happens to them. Where {clients} clients wait for "
        "their answers instead, the outcome may be another: --clients={clients} --think-time={think} without --rate; for "
        "as many processes that call: --processes={clients}"},
    // The answer of many runs: study/cell_answer.cc
    Row{"and", " and "},
    Row{"at-once", "at once"},
    Row{"below-many", "{below} · {legend} · {seeds} · figures: -v"},
    Row{"below-runs", "{attempts} attempt{s} per request"},
    Row{"below-calls", "{calls} call{s} of {name} for it"},
    Row{"below-calls-during", "in the outage {calls} call{s} of {name} for each new one"},
    Row{"below-runs-down",
        "{share} down (95 %: {low} to {high}) · {attempts} attempt{s} per request"},
    Row{"rows-not-tried",
        "what could turn an answer is tried with {most} rows at most: fewer rows, or --cell=N"},
    Row{"below-rows", "intervals, p99: -v · one row: --cell=N"},
    Row{"below-rows-left-out", "{count} more column{s}, intervals, p99: -v · one row: --cell=N"},
    Row{"below-table", "{count} more column{s}: -v"},
    Row{"block", "back {back} · answered: in the outage {during}, after it {after}"},
    Row{"block-not-back", "answered: in the outage {during}, after it {after}"},
    Row{"block-whole", "answered: {share}"},
    Row{"in-each-row", "In each row: {remark}"},
    Row{"merge-claims", "the claims are in the files of --json: merge those for the exit code"},
    Row{"not-decided", "not decided"},
    Row{"part", "{part}: the rows are in --csv and --json"},
    Row{"of", "{part} of {all}"},
    Row{"only-just", "{answer}, but only just"},
    Row{"remark-alike", "all runs are alike: nothing random changed a figure"},
    Row{"remark-by-itself", "down without an outage, more often in longer runs (--observe)"},
    Row{"remark-calls", "{done} of {calls} calls are done"},
    Row{"remark-cut",
        "{count} of {runs} cut: clients that ask again at once fail without end (--think-time)"},
    Row{"remark-held", "held below its load by the remedy: {what}"},
    Row{"remark-held-back", "{share} never sent: the clients hold them back"},
    Row{"remark-probe-kills", "probes kill hosts {count} times a run: {share} were only busy"},
    Row{"remark-hosts", "the hosts that the outage hits get {share} of its attempts"},
    Row{"remark-in-vain", "back, but only {share} are answered after the outage"},
    Row{"remark-left-out", "{share} not ended at the end, and left out"},
    Row{"remark-not-retried", "nothing was retried: {what} is not retryable here"},
    Row{"remark-own-queue",
        "{share} never sent: the clients' own queue grows (--client-rate, --pool-size)"},
    Row{"remark-queued", "{count} of {runs} back with a queue: a request waits for up to {wait}"},
    Row{"remark-recovering", "{count} of {runs} are still coming back"},
    Row{"remark-recovering-until", "{count} of {runs} are still coming back: --observe={until}"},
    Row{"remark-undecided", "{count} of {runs} not decided: --runs=1 says why"},
    Row{"remark-unserved", "most requests were not answered before the outage either"},
    Row{"job-before-outage", "the job was done before its outage began in {count} of {runs}"},
    Row{"left-out", "{what} is left out: {why}"},
    Row{"remedies-long-backlog",
        "{case} does not come back with --backlog={backlog}, which servers in Go have, by: {remedies}"},
    Row{"remedies-nothing-to-do",
        "{case} comes back in all runs without any remedy: there is nothing to remedy"},
    Row{"strategies-none-down",
        "None stays down after a freeze, so they stand by what is answered. What parts them is more load ({option})."},
    Row{"overriding", "{whose} with {list}"},
    Row{"file-brings", "more than a policy: {list}"},
    Row{"file-has", "{file} has {list}"},
    Row{"file-not-used", "not used, as what you gave holds: {list}"},
    Row{"schedule-end", "{strategy} {end}"},
    Row{"schedule-end-hedged",
        "{strategy} {end}, beside its hedges, which are no retries (--hedge-max)"},
    Row{"schedule-ended", "no more waits, for a request is given up: {list}"},
    Row{"remedies-back-after", "\"back after\" counts from the end of the outage"},
    Row{"remedies-back-after-usual",
        "\"back after\" counts from the end of the outage; each remedy begins 10s after that"},
    Row{"remedies-for-all", "Ends all: {remedies}."},
    Row{"remedies-none", "None of them ends all."},
    Row{"rows-all-back", "All come back"},
    Row{"rows-all-down", "All stay down"},
    Row{"rows-answers-most", "{row} answers most of the outage: {share}"},
    Row{"rows-answer-all", "{rows} answer all of the outage"},
    Row{"rows-down", "{rows} stay down"},
    Row{"rows-fastest",
        "{first} has the shortest request p99: {least}; {last} the longest: {most}"},
    Row{"rows-job-first", "{first} is done first: after {least}; {last} last: after {most}"},
    Row{"rows-many-down", "{down} of {rows} stay down"},
    Row{"rows-one-answers-all", "{rows} answers all of the outage"},
    Row{"rows-one-down", "Only {row} stays down"},
    Row{"rows-sometimes-down", "Down in some runs: {rows}"},
    Row{"runs-all-back", "Comes back in all {runs} run{s}"},
    Row{"runs-all-down", "Stays down in all {runs} run{s}"},
    Row{"runs-all-overloaded", "Stays overloaded in all {runs} run{s}"},
    Row{"runs-back", "Comes back in {back} of {runs} run{s}"},
    Row{"runs-down", "Stays down in {down} of {runs} run{s}"},
    Row{"runs-down-by-themselves", "Goes down without an outage in {down} of {runs} run{s}"},
    Row{"job-best",
        "{strategy} is done soonest of those that give up fewer than one call in 10,000: after {time}, {share} of its "
        "attempts throttled."},
    Row{"job-best-of-case",
        "A worker each {case}: {strategy} is done soonest of those that give up fewer than one call in 10,000, after "
        "{time}, {share} of its attempts throttled."},
    Row{"job-stays", "not given, and as in the job without options: {options}"},
    Row{"runs-job", "The job takes {time}; {share} of its requests are answered"},
    Row{"runs-job-open", "The job is done within {time} in only {done} of {runs} run{s}"},
    Row{"runs-not-back", "Still coming back in {open} of {runs} run{s}"},
    Row{"runs-undecided", "Not decided: none of {runs} run{s} has a verdict"},
    Row{"zero-may-be", "{runs} run{s}: \"0\" may be up to {share}"},
    // A policy: retrystorm/policy_runs.cc
    Row{"check-back",
        "Comes back in all {runs} run{s} (95 %: at most {share} stay down in any fault)"},
    Row{"check-untested", "{answer}, but no outage tests its retries"},
    Row{"check-back-late",
        "Comes back in all {runs} run{s}; {fault}: back after {after} (95 %: at most {share} stay down in any fault)"},
    Row{"check-down", "Stays down in {down} of {runs} run{s}: {fault}"},
    Row{"check-open", "Not back at the end in {down} of {runs} run{s}: {fault}"},
    Row{"check-ask-service",
        "Does your service come back with it? Add --workers=64 --service-time=80ms --rate=400, or --config=FILE as "
        "retrystorm service writes it"},
    Row{"check-counts-open",
        "open: neither down nor back at the end; \"at most\" counts them as down"},
    Row{"check-exit-code", "exit code {code} for line {line} ({rule})"},
    Row{"check-harm", "{found} to change: exit code {code} for line {line} ({rule})"},
    Row{"check-no-harm", "Nothing to change: notes only"},
    Row{"check-no-new-harm", "The change makes nothing wrong that was right: {found} as before"},
    Row{"check-no-worse", "{answer}, as before the change"},
    Row{"check-changed", "changed: {list}"},
    Row{"check-unknown", "Not decided: not all of it is known"},
    Row{"check-multiplexed",
        "gRPC sends all requests of a process over one connection: run with --connections=multiplexed"},
    Row{"check-next", "better settings: {command}"},
    Row{"check-not-retried",
        "no test of the retries, for these failures are not retried: {faults}"},
    Row{"check-not-retried-queue",
        "no test of the retries, for these failures are not retried: {faults}. If your queue is bounded, add "
        "--queue-length"},
    Row{"check-nothing-to-run", "There is no policy to run, or none has changed"},
    Row{"check-nothing-yet", "Not decided: no fault has had its first runs"},
    Row{"check-one-host",
        "The file's {hosts} hosts are run as one service that has the workers you give; with --replicas={hosts} each host "
        "has so many, and they are picked as the file says"},
    Row{"check-own-outage", "Your outage takes the place of the freezes of 1 s, 10 s and 60 s"},
    Row{"check-plan",
        "{claim} holds in a fault if at most {most} of {runs} run{s} are down at the end, and is broken by {least}"},
    Row{"check-plan-of-changes",
        "{claim} holds in a fault if at most {most} of {runs} run{s} are down now and were not before, and is broken by {least}"},
    Row{"check-premises", "run at {load}/s on a service of up to {capacity}/s"},
    Row{"more-notes", "{count} more note{s}: -v   --explain WORD says more of a word in brackets"},
    Row{"of-policy", "{policy}: {answer}"},
    // A policy as a file of another program: policies/export.cc
    Row{"export-differs", "not the same: {what}"},
    Row{"export-internal",
        "INTERNAL stands for the 500 of retry-on, but gRPC gives it for faults that stay, too: keep it only if your "
        "service answers so when a retry may succeed"},
    Row{"export-no-attempt-timeout",
        "no attempt has a timeout of its own in the file (only gRPC for Java knows one), so none is retried after a "
        "timeout"},
    Row{"export-option", "{option} is {here} here, and {there} in the file"},
    Row{"export-refused", "the format cannot hold a policy like this: its reader refuses it"},
    Row{"export-throttle",
        "retryThrottling counts failures, not retries: after {failures} failed attempts more than are made good, nothing "
        "is retried, and it stays so while more than {share} of the attempts fail"},
    // A claim: common/output/expectation.cc
    Row{"claim-after", "{name} {value}"},
    Row{"claim-broken", "{claim} is broken: {details}"},
    Row{"claim-few-answered",
        "only {share} of the requests before the outage were answered in that time, and OK/s are compared with that"},
    Row{"claim-few-answered-calm",
        "without an outage only {share} of the requests were answered: claim success-share"},
    Row{"claim-held-back",
        "the load is {load}/s, and the clients let no more than {through}/s through ({option})"},
    Row{"claim-held-below", "held below its load: it answers {what}"},
    Row{"claim-holds", "{claim} holds: {details}"},
    Row{"claim-holds-alone", "{claim} holds"},
    Row{"claim-late", "however late"},
    Row{"claim-left-out",
        "it leaves out {share} of the requests, which had not ended, or not begun, when the run did"},
    Row{"claim-more-runs", "too few runs to decide, --runs={runs} may do"},
    Row{"claim-no-verdict", "{count} have no verdict, --runs=1 says why"},
    Row{"claim-not-exact", "no number of runs shows exactly that, but {claim} can be shown"},
    Row{"claim-recovering", "{count} are still coming back, a longer --observe may do"},
    Row{"claim-runs", "{runs}"},
    Row{"study-interrupted", "interrupted"},
    Row{"study-out-of-time", "the time of --max-time is over"},
    Row{"study-rows", " after {rows} of {all} rows"},
    Row{"claim-interrupted", "interrupted before it was decided"},
    Row{"claim-stopped", "not looked at further, another claim is broken"},
    Row{"claim-undecided", "{claim} is not decided: {details}"},
    Row{"claim-value", "{value}"},
    Row{"claim-value-interval", "{value} (95 %: {low} to {high})"},
    Row{"claim-value-whole", "{value} of the whole run"},
    Row{"claim-why", "{why}"},
    Row{"never", "never"},
#ifndef __EMSCRIPTEN__  // the explorer's page says none of these
    // A recommendation: retrystorm/recommend.cc
    Row{"not-in-time", "not in time"},
    Row{"recommend-all-down", "all are down too often for {claim}"},
    Row{"recommend-below",
        "certified with fresh seeds: at most {share} down (95 %) · seed {seed} · yours beside it: --start=FILE"},
    Row{"recommend-below-start",
        "certified with fresh seeds: at most {share} down (95 %) · seed {seed}"},
    Row{"recommend-best-so-far",
        "Not decided: interrupted after {count} settings. Best by then, not certified: {what}"},
    Row{"recommend-found",
        "Use {what}: of {count} settings the plainest of those that cost the least"},
    Row{"recommend-changed", "your settings with {options}"},
    Row{"recommend-interrupted", "interrupted: what is unfinished is not certified"},
    Row{"recommend-nearest", "the nearest: {what}"},
    Row{"recommend-none", "None of {count} settings meets all claims: {why}"},
    Row{"recommend-not-certified", "None is certified. {row}: {why}"},
    Row{"recommend-nothing-yet", "Not decided: interrupted before each fault had been tried"},
    Row{"recommend-queue", "your service: bound its queue, --{option}={length}, then search again"},
    Row{"recommend-start", "Use {what} as it is: none of {count} settings is clearly better"},
    Row{"recommend-varied", "also up in {count} variations of your service and its load"},
    Row{"recommend-varied-down", "down where this differs: {list}"},
    Row{"recommend-what-else", "what a service can do: retrystorm remedies"},
    Row{"setting-back", "back in time"},
    Row{"setting-down", "down, or not back in time, in {down} of {runs} ({fault})"},
    Row{"setting-interrupted", "its runs were interrupted"},
    Row{"setting-later", "back {time} later"},
    Row{"setting-less-attempts", "{attempts} fewer attempts per request"},
    Row{"setting-less-failed", "{share} fewer of the requests fail"},
    Row{"setting-misses", "misses {claim} ({fault}): {value}"},
    Row{"setting-more-attempts", "{attempts} more attempts per request"},
    Row{"setting-more-failed", "{share} more of the requests fail"},
    Row{"setting-not-back", "not back in time"},
    Row{"setting-same", "nothing tells them apart"},
    Row{"setting-sooner", "back {time} sooner"},
    // A service in a settings file, of which these are the comments: retrystorm/service.cc
    Row{"service-accepts",
        "- whether it accepts more than it serves: php-fpm does not (accepts = when-free)"},
    Row{"service-backlog",
        "- the backlog: --backlog is {backlog}, {drained} of work; ask what your server listens with"},
    Row{"service-formula",
        "sigma = ln(p99 / p50) / 2.326 = {sigma}; CV = sqrt(e^(sigma^2) - 1) = {variation}\n"
        "mean = p50 e^(sigma^2 / 2) = {mean}"},
    Row{"service-formula-measured",
        "sigma = ln(p99 / p50) / 2.326 = {sigma}; CV = sqrt(e^(sigma^2) - 1) = {variation}\n"
        "mean = sum / count of the histogram = {mean}"},
    Row{"service-guesses", "What stays a guess, and how much it matters:"},
    Row{"service-limited",
        "- what is limited: workers that each take one request. Where all become slower together\n"
        "  (locks, a database), --service=curve is nearer"},
    Row{"service-little",
        "Little: rate x mean = {busy} workers are busy, which are {busy_share} of"},
    Row{"service-one-worker",
        "- the use: a service has at least one worker, which this load keeps {busy_share} busy, not {given}"},
    Row{"service-open", "Requests come whatever the service does."},
    Row{"service-shape",
        "- the shape: times with the same percentiles may be alike but for a few long ones\n"
        "  (bimodal:{p50}:0.02:{p99}); whether hedges pay depends on it"},
    Row{"service-spread",
        "- the spread: with one percentile, times with a CV of 0.5 are taken (p99 = 3 x p50); give\n"
        "  --p50 and --p99"},
    Row{"service-timeout",
        "- the callers' timeout: --timeout is {timeout}; after theirs they give up and retry"},
    Row{"service-title", "A service: {rate}/s, p50 {p50}, p99 {p99}, {used} used"},
    Row{"service-use",
        "- the use: with {less} there would be {less_workers} workers, with {more} {more_workers}.\n"
        "  n attempts a request can hold a storm where more than 1/n is used\n  (n = 3: 33 %)"},
    Row{"service-waits",
        "- the times hold the wait for a worker, too: {waits} of the requests wait (Erlang C)"},
    Row{"service-waits-long",
        "- the times hold the wait for a worker, too: {waits} of the requests wait (Erlang C),\n"
        "  so a worker takes less time than this says"},
    // A service that was measured: retrystorm/measure.cc, measured_service.cc
    Row{"below-load-search", "{values} value{s}, {runs} run{s} of {time} · each of them: -v"},
    Row{"search-errors", "ended early: {share} of the attempts failed"},
    Row{"search-not-calm",
        "Stopped: it does not answer in {time} again, as it did before the search"},
    Row{"within-measured", "{answer} ({low} to {high} with what was not measured)"},
    Row{"if-measured-less", "the least capacity that the measurement allows"},
    Row{"if-measured-more", "the most capacity that the measurement allows"},
    Row{"measure-abandoned-unknown",
        "whether it serves requests whose clients have hung up is not known, and decides most after an outage: "
        "ask simulate with --abandoned=serve and with --abandoned=skip"},
    Row{"measure-accepts-all", "it accepts more than it serves (accepts = all)"},
    Row{"measure-accepts-unknown",
        "whether it accepts more than it serves is not known: say --accepts=when-free for php-fpm, gunicorn with sync "
        "workers and others that docs/server.md names"},
    Row{"measure-accepts-when-free", "it accepts only what it serves (accepts = when-free)"},
    Row{"measure-all-above",
        "Not clear: never fewer than {clients} requests were in it. It needs steps below its limit, of clients that wait "
        "for their answers; not a load at a rate"},
    Row{"measure-backlog",
        "with {clients} at a time {share} get no answer in time: its accept queue of {backlog} is full; try "
        "--keep-connections, or a longer queue"},
    Row{"measure-cached",
        "a cache answers (Age, X-Cache): this is measured, not what is behind it"},
    Row{"measure-client-limit", "beyond {clients} clients this machine is what is slow"},
    Row{"measure-client-slow",
        "this machine cannot keep {clients} requests in it: use a faster one, or measure a slower request"},
    Row{"measure-curve",
        "{time} an answer up to {limit} at a time, slower above: at most {rate} requests a second, at {clients}"},
    Row{"measure-drift",
        "it changed meanwhile: {clients} client{s} {before} at first, {after} at the end"},
    Row{"measure-drift-far",
        "it changed meanwhile: {clients} client{s} {before} at first, {after} at the end: one model is not true of both"},
    Row{"measure-errors", "Stopped: {share} of the answers are {status}"},
    Row{"measure-falls", "OK/s fell twice, at last at {clients} client{s}: no more was tried"},
    Row{"measure-few-steps", "Too few steps to tell: {steps}"},
    Row{"measure-half-timeout",
        "at {clients} client{s} 5 % of the answers took over half the timeout: no more was tried"},
    Row{"measure-interrupted", "Stopped by a signal"},
    Row{"measure-listens", "its accept queue holds {backlog} connection{s} (backlog)"},
    Row{"measure-no-answer", "It does not answer: {why}"},
    Row{"measure-no-answers", "with {clients} at a time {share} get no answer in time"},
    Row{"measure-no-knee",
        "No limit up to {clients} at a time: {rate} requests a second, {time} each. Try more: --up-to"},
    Row{"measure-no-knee-seen",
        "No limit up to {clients} at a time: {rate} requests a second, {time} each"},
    Row{"measure-no-model",
        "Neither workers nor a curve: steps that were held out are off by {error}, and by {other}. Other load at the "
        "same time?"},
    Row{"measure-not-ok",
        "It answers {status}: give a URL that it answers with 200, and --header where it needs one"},
    Row{"measure-notices", "it does not serve requests whose clients have hung up"},
    Row{"measure-plan",
        "Requests to {whom}: 1, 2, 4, ... up to {most} at a time, {step} to {longest} each; then 4 steps around the most "
        "that it serves at once, the third step again, and three times up to five times as many that hang up: {all} at "
        "most. Stops when 1 % of 5 s fail, when 5 % of the answers take over half of {timeout} or over "
        "five times the first ones, when OK/s fall twice, when --health-url is not 200, at Ctrl-C"},
    Row{"measure-poor-fit", "steps that were held out are off by {error}: take it with care"},
    Row{"measure-progress", "{clients} at a time: {rate} OK/s, {time}"},
    Row{"measure-rate-limit",
        "A limit of the rate answers {status} (Retry-After: {hint}) above some {rate} requests a second: what is behind it "
        "cannot be measured; ask for it to be lifted"},
    Row{"measure-redirect",
        "It answers {status} and sends clients to '{to}': give that URL, if it is yours"},
    Row{"measure-rejects",
        "more than {most} at a time are answered {status} (Retry-After: {hint})"},
    Row{"measure-serves-the-dead",
        "it serves requests whose clients have hung up (abandoned = serve)"},
    Row{"measure-slower",
        "at {clients} client{s} 5 % of the answers took over five times as long as at first: no more was tried"},
    Row{"measure-so-far", "so far: {clients} at a time, {rate} OK/s, {time} each"},
    Row{"measure-too-few", "Stopped: too few answers at {clients} client{s}; try a longer --step"},
    Row{"measure-unfair",
        "{share} of the waiting requests are served before older ones (queue-order)"},
    Row{"measure-unhealthy", "Stopped: {url} is not 200"},
    Row{"measure-up-to", "no more than {clients} were allowed (--up-to)"},
    Row{"measure-workers", "{workers} worker{s} of {time}: at most {rate} requests a second"},
    Row{"measure-written", "{file} has the settings: {command}"},
    Row{"measured-abandoned",
        "abandoned: {clients} requests that hung up, then one. base-delay, workers: 95 % of 200 resamples"},
    Row{"measured-beyond",
        "what it does with more than {clients} at a time is taken from the curve, not measured"},
    Row{"measured-by", "By retrystorm measure"},
    Row{"measured-curve",
        "base-delay: {time} ({time_span}); limit: {limit}; at most {rate}/s\n"
        "held-out steps are off by {error}, with workers by {other}"},
    Row{"measured-idle",
        "it closes connections that were idle for {time}: server-idle, with kept connections"},
    Row{"measured-kept", "it keeps connections; one was idle for {time} and still open"},
    Row{"measured-not",
        "Not measured: your clients (--rate or --clients, --timeout, --strategy), the outage, other hosts"},
    Row{"measured-title",
        "{by} of {what}: {steps} steps up to {clients} at a time, {answers} answers"},
    Row{"measured-workers",
        "service-time: {time} ({time_span}), CV {variation} of one client; workers: {workers}\n"
        "held-out steps are off by {error}, with a curve by {other}"},
    // A day and its model: retrystorm/compare.cc
    Row{"below-compare",
        "a mark is a window; those at an outage's edge are left out; inside: 10 % or three standard deviations · all of them: -v"},
    Row{"compare-band", "{mean} ({low} to {high})"},
    Row{"compare-commands", "the outage was made by commands: the model's service was frozen"},
    Row{"compare-explained", "{option} would explain {share} of the difference"},
    Row{"compare-few",
        "Too few windows to tell: {windows}, and {least} are needed without those at an outage's edge: a day that is {longer} "
        "longer"},
    Row{"compare-no-outage", "the day has no outage: this says nothing of one"},
    Row{"compare-holds", "The model holds: {inside} of {windows} windows are as it says"},
    Row{"compare-measured", "measured"},
    Row{"compare-model", "the model, OK/s"},
    Row{"compare-off", "The model does not hold: {figure} differs in {off} of {of} windows"},
    Row{"compare-unexplained", "no one setting of the service explains it"},
    Row{"compare-unfelt",
        "Nothing to compare: the service answered all through the outage, so what was stopped that day is not what answers"},
    Row{"compare-verdict",
        "the day's verdict, {verdict}, is that of {same} of {runs} runs of the model"},
    // A map: retrystorm/map.cc
    Row{"map-back", "comes back everywhere"},
    Row{"map-down", "stays down everywhere"},
    Row{"map-from", "stays down from {option}={from} on"},
    Row{"map-from-to", "stays down from {option}={from} to {to} on"},
    Row{"map-intervals",
        "95 %: a 0 may be up to {most}, a half {low} to {high}; more where runs are still recovering (--runs, --observe)"},
    Row{"map-marks",
        "{option} {first} to {last} · of {runs} · none is down, ░▒▓ some, █ all, ? not decided · figures: -v"},
    Row{"map-marks-ascii",
        "{option} {first} to {last}; a mark is {runs}: . none down, - + * some, # all, ? not decided; figures: -v"},
    Row{"map-some", "stays down in {down} of {cells} place{s}"},
    Row{"map-stripes",
        "Stripes: 1, 2, ... s after a full accept queue dropped them, the clients' kernels repeat their SYNs, all at "
        "once. A timeout just above such a moment has that herd, one below has not (--syn-linear-timeouts)."},
    Row{"map-title",
        "down in % of the runs with a verdict, {runs} each, {up} down, {across} across; +: half or more not decided"},
#endif
    // A search: simulate/value_search.cc
    Row{"below-search", "{values} value{s}, {runs} run{s} · seed {seed} · each of them: -v"},
    Row{"greatest", "greatest"},
    Row{"least", "least"},
    Row{"search-once",
        "one run of each value: with another seed it may be another one (--runs=20)"},
    Row{"search-calm", "in runs with --outage-at={calm}, when the budget is full"},
    Row{"search-found",
        "The {kind} {option} at which {claims} holds: {value} ({beside}: {finding})"},
    Row{"search-found-at-end",
        "The {kind} {option} at which {claims} holds: {value}, the {kind} one tried"},
    Row{"search-longer",
        "{value}: {open} of {runs} run{s} still recovering: from here on --observe={observe}"},
    Row{"search-nearest", "the nearest: {what}"},
    Row{"search-needs", "--runs={runs} decides it"},
    Row{"search-none", "No {option} that was tried is such that {claims} holds: {spans}"},
    Row{"search-several", "No one limit of {option} for {claims}: {spans}; {value} is the nearest"},
    Row{"search-turned",
        "For {claims} there is a limit on the other side: {spans}; {other} finds it"},
    Row{"search-undecided", "Not decided: whether {claims} holds at {option}={beside}"},
    // What could turn it: study/trials.cc
    Row{"if-abandoned", "where the server skips requests whose callers have hung up"},
    Row{"if-accepts", "where it accepts no more than it serves"},
    Row{"if-backlog", "nginx and Node.js have 511, Go 4096, Tomcat 100"},
    Row{"if-balance", "where another rule picks the host"},
    Row{"if-burst", "where the limit admits one call at once, not {calls}"},
    Row{"if-capacity", "a tenth less capacity"},
    Row{"if-connects-cost", "where a connect costs three requests (TLS, a login)"},
    Row{"if-crash", "crashed, not frozen"},
    Row{"if-errors-cost", "where errors cost the service its work"},
    Row{"if-few-workers", "more than you gave it"},
    Row{"if-hedges", "hedges within a budget"},
    Row{"if-inner-timeouts", "shorter inside than outside"},
    Row{"if-linux-new", "clients with Linux 6.5 or later"},
    Row{"if-linux-old", "clients with Linux before 6.5"},
    Row{"if-load", "a tenth more load"},
    Row{"if-load-or-capacity", "a tenth more load, or less capacity"},
    Row{"if-longer", "an outage twice as long"},
    Row{"if-many-workers", "fewer than you gave it"},
    Row{"if-no-jitter", "waits with jitter"},
    Row{"if-one-less", "one host fewer"},
    Row{"if-other-host", "where a retry does not go to the same host"},
    Row{"if-own-connections", "not those of {processes} processes"},
    Row{"if-no-restart", "where a host that fails its probe is not restarted"},
    Row{"if-own-port", "where the probe has a port of its own"},
    Row{"if-peak", "after a peak that has opened all connections of the pools"},
    Row{"if-pool-wait-apart", "where the timeout does not include the wait for a connection"},
    Row{"if-pool-wait-short", "where clients wait less long for a connection"},
    Row{"if-pools", "where pools bound the connections"},
    Row{"if-processes", "not {processes}, each with a budget"},
    Row{"if-queue", "where its queue has an end"},
    Row{"if-saved", "a full retry budget, after a calm longer than {calm}"},
    Row{"if-shorter", "an outage half as long"},
    Row{"if-slow", "slow, not frozen"},
    Row{"if-table-ends", "where the policy ends with its last wait"},
    Row{"if-timeout", "where clients give up at another time"},
    Row{"if-timeout-below-syns", "before their kernels repeat the SYNs that were dropped"},
    Row{"if-timeout-half", "where clients give up sooner"},
    Row{"if-timeouts-retried", "where timeouts are not retried"},
    Row{"if-waiting", "whether a worker waits for the answers of its calls"},
    Row{"inner-timeouts", "timeouts of {timeouts} for the calls inside"},
    Row{"trial-line", "{how} {what}: {note}"},
    Row{"trial-line-edge", "{how} {what}: {note}; it turns at about {edge}"},
    Row{"trial-note", "{note}"},
    Row{"trial-note-edge", "{note}; it turns at about {edge}"},
    Row{"trials-progress", "what could turn it: {done} tried"},
    Row{"try", "try {what}: down in {down} of {runs}"},
    Row{"try-also", "try {what}: down in {down} of {runs}, also {also}"},
    Row{"try-first", "the first that helps"},
    Row{"try-more",
        "the first that helps; the best retry settings: retrystorm recommend, with the same options"},
    Row{"try-served", "try {what}: {share} answered in the outage, not {asked}"},
    Row{"try-price", "price: in the outage {share} answered, not {asked}"},
    Row{"turns-after", "{share} answered after the outage, not {asked}, with"},
    Row{"turns-back", "back in {back} of {runs} run{s} with"},
    Row{"turns-claim", "{claim} is broken with"},
    Row{"turns-down", "down in {down} of {runs} run{s} with"},
    Row{"turns-during", "{share} answered in the outage, not {asked}, with"},
    Row{"turns-not-back", "still coming back in {open} of {runs} run{s} with"},
    Row{"turns-ok", "{ok} OK/s, not {asked}, with"},
    Row{"workers-of", "{workers} workers of {service}"},
    Row{"progress-left", "{done} of {runs} run{s}: {back} back, {down} down · {left} left"},
    // What the engines add
    Row{"begin-failed", "the outage did not happen: --outage-begin failed"},
    Row{"begin-missed", "the outage could not be begun"},
    Row{"cut", "cut at {at}: clients that ask again at once fail without end (--think-time)"},
    Row{"end-failed", "--outage-end failed"},
    Row{"ended-before-outage", "the run ended before the outage"},
    Row{"job-done-before", "the job was done before its outage began"},
    Row{"may-go-on", "or the outage goes on, if --outage-end did not reach what answers"},
    Row{"may-go-on-failed", "the outage may go on: --outage-end failed"},
    Row{"frozen-part",
        "process {pid} may be a part of the server: {parent}, which started it, runs the same program; --server-pid={parent} "
        "freezes all of it"},
    Row{"queue-unknown", "whether its queue empties is not known here (--server-status)"},
    Row{"uneven-arrivals",
        "windows of 5 s in which nothing arrives say nothing about the service: see the lines"},
    Row{"see-reconnect", "the line reconnect tells when all clients are back"},
    Row{"unfelt-commands",
        "the outage was not felt, the service answered all through it as before: did --outage-begin "
        "reach what answers?"},
    Row{"unfelt-signals",
        "the outage was not felt, the service answered all through it as before: is --server-pid the "
        "process that answers?"},
    Row{"watch-longer", "let it run for longer (--duration)"},
    Row{"watch-until", "--observe={until} shows it"},
    // What arithmetic says of a policy: policies/findings.cc
    Row{"budget-empties",
        "while more than {share} of the attempts fail, the retries stop: a failure takes {lost} token{s} of "
        "{tokens}, a success gives {deposit}"},
    Row{"cap-above-deadline", "a wait of the cap of {cap} does not fit in the {all} in all"},
    Row{"cap-below-base",
        "the greatest wait ({cap}) is below the first ({base}): all waits are {cap}"},
    Row{"cap-not-reached", "no wait reaches the cap of {cap}: the last is {last}"},
    Row{"cut-short",
        "where attempts time out, the last of {n} is cut short: {n} x {each} and the waits are more than the {all} "
        "in all"},
    Row{"layers",
        "{host} is retried in more than one place: {parts} = {product} attempts of one request at most; let only one "
        "of them retry"},
    Row{"layers-mesh",
        "the mesh retries before {services} services: where one of them calls another, attempts multiply, up to {one} "
        "x {other} = {product}"},
    Row{"long-tries",
        "nothing limits the time of all attempts: {n} x {each} and the waits are up to {all}"},
    Row{"more-in-all", "{n} x {each} are more than the {all} in all"},
    Row{"never-begins",
        "attempt {next} of {n} never begins where attempts time out: {begun} x {each} and the waits fill the {all} in "
        "all"},
    Row{"never-begins-cut",
        "attempt {next} of {n} never begins where attempts time out: {begun} x {each} and the waits fill the {all} in "
        "all, and attempt {begun} is cut after {last}"},
    Row{"never-ends",
        "nothing ends the retries of a request: neither a number of attempts nor a deadline"},
    Row{"no-attempt-timeout", "a call that hangs takes all of the {all}, and is not retried"},
    Row{"no-budget",
        "nothing limits the retries: a service that fails gets {attempts} times the load; from {use} use on, retries "
        "alone can keep it down"},
    Row{"no-budget-endless", "nothing limits the retries: no budget, no breaker"},
    Row{"no-budget-errors",
        "nothing limits the retries: a service that fails with these errors gets {attempts} times the load; from "
        "{use} use on, retries alone can keep it down"},
    Row{"no-jitter", "waits are not random: requests that failed together are retried together"},
    Row{"no-wait", "retries are sent at once: they come while what failed is still wrong"},
    Row{"not-always-begins",
        "where attempts time out, the last of {n} does not always begin: {n} x {each} and the waits are more than the "
        "{all} in all"},
    Row{"permanent", "{statuses} stay what they are: a retry gets the same answer"},
    Row{"repeats-work",
        "500 (INTERNAL, UNKNOWN) is retried: what the service did before it failed is done again"},
    Row{"retries-success", "{status} says that all is well, and is retried"},
    Row{"room-for-each",
        "there is room for all with {needed} in all, or with {less} for each attempt"},
    Row{"room-in-all", "there is room for all with {needed} in all"},
    Row{"short-timeout", "hardly an answer comes within {limit}: is the unit right?"},
    Row{"timeout-not-retried",
        "503 (UNAVAILABLE) is retried, timeouts are not: what retries do depends on how the service turns requests "
        "away (--queue-length)"},
};

// What people call a figure, where it is not its name in JSON with blanks.
constexpr std::array kFigures{
    Row{"amplification", "attempts per request"},
    Row{"amplification_during", "in the outage"},
    Row{"baseline_ok", "OK/s before the outage"},
    Row{"errors_gone_s", "errors gone after"},
    Row{"gave_up", "given up"},
    Row{"longest_without_ok_s", "longest without an answer"},
    Row{"ok_lost", "answers missing"},
    Row{"ok_per_s", "OK/s"},
    Row{"pauses_s", "time of pauses"},
    Row{"peak_attempts", "attempts/s at most"},
    Row{"success", "answered"},
    Row{"success_share", "answered"},
    Row{"time_to_50_percent_s", "half back after"},
    Row{"time_to_95_percent_s", "95 % back after"},
    Row{"time_to_recovery_s", "back after"},
};

struct ValueInWords {
  std::string operator()(double number) const { return number_words(number); }
  std::string operator()(ShareOf share) const { return share_words(share.share); }
  std::string operator()(Duration time) const { return time_words(time); }
  std::string operator()(const std::string& text) const { return text; }
};

// As an option reads it: "--observe=2min", "--queue-length=1200".
struct ValueOfOption {
  std::string operator()(double number) const { return print_number(to_digits(number, 4)); }
  std::string operator()(ShareOf share) const { return print_number(to_digits(share.share, 4)); }
  std::string operator()(Duration time) const { return brief_duration(time); }
  std::string operator()(const std::string& text) const { return text; }
};

// "of {digits} digits": so that a number near a bound is not rounded to it.
std::string digits_of(double number, int digits) {
  return print_number(to_digits(number, digits));
}

}  // namespace

std::string words_of(const Statement& statement) {
  const auto row = std::find_if(std::begin(kRows), std::end(kRows),
                                [&](const Row& each) { return each.id == statement.id; });
  // A statement without words is a fault of ours, which must not hide what it says.
  std::string text(row == std::end(kRows) ? statement.id : row->words);
  for (const StatementValue& value : statement.values) {
    const std::string place = '{' + std::string(value.name) + '}';
    for (std::size_t at = text.find(place); at != text.npos; at = text.find(place, at)) {
      const bool of_option = at > 0 && text[at - 1] == '=';
      const std::string words =
          of_option ? std::visit(ValueOfOption{}, value.of) : std::visit(ValueInWords{}, value.of);
      text.replace(at, place.size(), words);
      at += words.size();
      const std::size_t plural = text.find("{s}", at);
      if (words == "1" && plural != text.npos && plural == text.find('{', at))
        text.erase(plural, 3);
    }
    if (row == std::end(kRows)) {
      text += ' ' + std::string(value.name) + '=' + std::visit(ValueInWords{}, value.of);
    }
  }
  for (std::size_t at = text.find("{s}"); at != text.npos; at = text.find("{s}", at)) {
    text.replace(at, 3, "s");
  }
  return text;
}

std::string words_of(std::string_view id) {
  return words_of(Statement{.id = id});
}

std::string words_of(const Statements& statements) {
  std::string text;
  for (const Statement& each : statements) text += (text.empty() ? "" : "; ") + words_of(each);
  return text;
}

std::string figure_words(std::string name) {
  for (const Row& each : kFigures) {
    if (each.id == name) return std::string(each.words);
  }
  for (const std::string_view unit : {"_s", "_share"}) {
    if (name.ends_with(unit) && !name.ends_with("per_s")) name.resize(name.size() - unit.size());
  }
  if (const std::size_t at = name.find("_ms"); at != name.npos) name.erase(at, 3);
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

std::string number_words(double number) {
  if (!std::isfinite(number)) return "unlimited";
  // Near one, as attempts per request often are, a third decimal: 1.047, not 1.05.
  const double from_one = std::abs(number - 1);
  if (from_one < 0.1) return print_number(std::round(1e3 * number) / 1e3);
  if (std::abs(number) < 100) return digits_of(number, 3);
  if (std::abs(number) >= 1e15) return print_number(number);
  std::string digits = std::to_string(std::llround(number));
  for (std::size_t i = digits.size(); i > 3 && digits[i - 4] != '-';) {
    i -= 3;
    digits.insert(i, 1, ',');
  }
  return digits;
}

std::string share_words(double share) {
  if (share <= 0) return "0 %";
  if (share >= 1 - 1e-12) return "100 %";  // a mean of ones may be a bit less
  const double percent = 100 * share;
  if (percent >= 99.5) {
    // So many decimals that two digits of what is missing are shown.
    const double missing = 100 * (1 - share);
    const double digit = std::pow(10, std::floor(std::log10(missing)) - 1);
    return print_number(100 - std::ceil(missing / digit - 1e-6) * digit) + " %";
  }
  return digits_of(percent, percent < 10 ? 2 : 3) + " %";
}

std::string time_words(Duration time) {
  if (time > Duration::max() / 2) return "unlimited";
  const double seconds = to_seconds(time);
  if (seconds == 0) return "0 s";
  if (seconds < 1) {
    return seconds < 1e-3 ? digits_of(1e6 * seconds, 3) + " us"
                          : digits_of(1e3 * seconds, 3) + " ms";
  }
  if (to_digits(seconds, 3) < 60) return digits_of(seconds, 3) + " s";
  const auto whole = std::llround(seconds);
  const auto two = [](long long large, const char* of, long long small, const char* rest) {
    return std::to_string(large) + of + (small == 0 ? "" : ' ' + std::to_string(small) + rest);
  };
  if (whole < 3600) return two(whole / 60, " min", whole % 60, " s");
  return two(whole / 3600, " h", whole % 3600 / 60, " min");
}

std::string list_words(const std::vector<std::string>& words, std::string_view between) {
  std::string text;
  for (const std::string& each : words) {
    if (&each != &words.front()) text += between;
    text += each;
  }
  return text;
}

std::string count_words(double count, const std::string& what) {
  return number_words(count) + ' ' + what + (count == 1 ? "" : "s");
}

}  // namespace retrystorm
