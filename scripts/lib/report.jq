# Turns the JSON Lines of a run into the report's data.
include "runs";

# A line of a run. A seed has 64 bits, more than jq's numbers hold, so it is a text.
def line:
  if contains("\"seed\":") then sub("\"seed\":(?<seed>[0-9]+)"; "\"seed\":\"\(.seed)\"") else . end | fromjson?;

# Checks the types of what the report reads. Other lines are skipped, such as the last one of a killed
# program. Null means not known. Enormous numbers are refused too, because no axis could show them.
def is_number: type == "number" and . == . and fabs < 1e15;
def all_numbers($names): . as $line | all($names[]; $line[.] | . == null or is_number);
def none_or_numbers($names): . == null or (type == "object" and all_numbers($names));
def all_times($names): all_numbers($names) and (. as $line | all($names[]; ($line[.] // 0) >= 0));
def is_text: type == "string" and length < 10000;
def all_of($texts; $numbers):
  . == null or (type == "array" and all(.[]; . as $each | type == "object" and all($texts[]; $each[.] | is_text) and all_numbers($numbers)));
def are_services:
  . == null
  or (type == "object" and ([.died_first, .why] | all(. == null or is_text))
      and (.nodes | all_of(["node"]; ["amplification", "died_at", "back_at"]))
      and (.edges | all_of(["from", "to"]; ["amplification", "share"]))
      and (.clients | all_of(["clients"]; ["requests", "success_share", "ok_per_s_before", "ok_per_s_during", "ok_per_s_after"])));
def well_formed:
  objects
  | select(
      if .type == "start" then
        (.program | is_text) and (.command | is_text)
        and ([.strategy, .title] | all(. == null or is_text)) and (.seed | . == null or is_text or type == "number")
        and all_numbers(["started_at", "clients", "server_pid"])
      elif .type == "interval" then
        (.t | is_number)
        and all_numbers(["ok", "errors", "timed_out", "not_sent", "attempts", "retries",
                         "requests", "thinking", "in_flight", "waiting_to_retry", "concurrency",
                         "last_delay_s", "workers", "busy", "waiting", "accept_queue", "no_room"])
        and (.latency_ms | none_or_numbers(["p50", "p95", "p99"]))
        and (.connections | none_or_numbers(["open", "idle", "in_line", "opened", "accept_queue", "no_room"]))
      elif .type == "outage" then
        (.t | is_number) and (.event | is_text) and (.what | . == null or is_text)
      elif .type == "action" then (.t | is_number) and (.what | is_text)
      elif .type == "attempt" then
        ([.t, .request, .attempt] | all(is_number))
        and ([.outcome, .reason] | all(. == null or is_text))
        and all_times(["latency_s", "pool_s", "connect_s", "queue_s", "service_s", "late_s", "wait_s"])
        and all_numbers(["status"])
      elif .type == "request" then
        ([.t, .request] | all(is_number)) and ([.outcome, .reason] | all(. == null or is_text))
        and all_times(["time_s"])
      elif .type == "node" then
        (.node | is_text)
        and all_numbers(["offered_per_s", "refused_per_s", "in_time_per_s", "worked_per_s", "for_nobody_per_s", "workers", "busy",
                         "held", "queue"])
      elif .type == "summary" then
        (.verdict | is_text) and (.services | are_services) and (.reason | . == null or is_text)
        and ([.latency_ms, .request_time_ms] | all(.[]; none_or_numbers(["p50", "p95", "p99"])))
        and ([.gave_up_by, .errors_by_before, .errors_by_during, .errors_by_after]
             | all(. == null or (type == "object" and all(.[]; is_number))))
        and all_numbers(["elapsed_s", "baseline_ok", "errors_gone_s", "time_to_recovery_s",
                         "amplification", "peak_attempts", "ok_lost", "longest_without_ok_s",
                         "success_share", "failing", "gave_up", "not_sent",
                         (("before", "during", "after")
                          | ("success_", "requests_", "gave_up_", "not_sent_", "attempts_per_s_", "ok_per_s_", "timed_out_", "errors_") + .,
                            ("request_p50_\(.)_ms", "request_p99_\(.)_ms"))])
      else false end);

# A command line without these options, written with "=" or with a space, and without --quiet.
def without($options):
  reduce $options[] as $option (.;
    gsub("(?<= )('--\($option)=[^']*'|--\($option)(=| +)('[^']*'|[^ ]+))( |$)"; "") | sub(" +$"; ""))
  | gsub(" --quiet(?= |$)"; "");

# The program's path from the top of a checkout.
def from_the_top:
  if startswith("'") then sub("^'[^']*/(retrystorm-)?(?<program>[a-z]+)'"; "build/bin/\(.program)")
  else sub("^([^ ]*/)?(retrystorm-)?(?<program>[a-z]+)"; "build/bin/\(.program)") end;

def with_seed($start):
  if test("(?<= )--seed[= ]") then . else "\(.) --seed=\($start.seed)" end;

# Options that repeat an outage from the page at the same time.
def with_outage($lines):
  [$lines[] | select(.type == "outage") | .t] as $times
  | if ($times | length) != 2 or test("--outage-at") then .
    else "\(.) --outage-at=\($times[0]) --outage-for=\($times[1] - $times[0] | . * 1000 | round / 1000)"
         + " --duration=\($lines | last.elapsed_s // (map(.t // 0) | max))" end;

# In this folder, wherever it was.
def with_token: sub("(?<= )--admin-token-file[= ]('[^']*'|[^ ]+)"; "--admin-token-file=token");

def reproduction($server; $lines):
  . as $start
  | if $start.program == "simulate" then
      .command | without(["json", "server-json", "trace"]) | from_the_top | with_seed($start)
    elif $server == null or $server.program != "server" then
      # That process is gone, and another one may have its number.
      .command | without(["json", "server-pid", "trace"]) | from_the_top | with_seed($start)
      | if $start.server_pid then "\(.) --server-pid=$(pidof server)" else . end
    else
      # On the default ports, with the process id that the shell knows.
      ($server.command | without(["json", "port", "admin-port"]) | from_the_top | with_token) as $service
      | (.command
         | without(["json", "trace", "url", "server-pid", "dashboard-port", "server-status", "server-admin"])
         | gsub(" --dashboard(?= |$)"; "")
         | with_token
         | from_the_top | with_seed($start) | with_outage($lines)) as $clients
      | "\($service) >server.log & sleep 1; \($clients)"
        + (if $start.server_pid then " --server-pid=$!" else "" end) + "; kill $!"
    end;

# Options of the user's machine that are not simulated. They do not belong in a link.
def private:
  ["type", "program", "version", "revision", "command", "title", "started_at", "url", "json", "server_json", "csv", "markdown", "header", "body",
   "cacert", "admin_token_file", "server_admin", "server_status", "outage_begin", "outage_end", "duration"];

# The options of a start line in the form of the explorer's link.
def link_options($but):
  to_entries[]
  | select((.key | IN($but[]) | not) and (.value | type | IN("string", "number", "null")))
  | "\(.value // "none")" as $value
  | select(($value | length) < 500)
  | "\(.key | gsub("_"; "-") | @uri)=\($value | @uri)";

# The explorer's link to the setting of a run. Leaves out what is not simulated. The outage of a real
# run has the same time, and the run has the same length.
def explorer_link($server; $lines):
  . as $start
  | [$lines[] | select(.type == "outage") | .t] as $times
  | ($lines | last.elapsed_s // (map(.t // 0) | max)) as $last_s
  | def time($seconds): "\([$seconds, 0] | max * 1000 | round / 1000)s";
    ["v=1", "run=1", ($start | link_options(private + ["outage_at", "outage_for", "observe"]))]
    + (if $server.program == "server" then
         [$server | (if has("factor") then {curve_factor: .factor} else {} end) + . | link_options(private + ["seed", "factor"])]
       else [] end)
    + (if $start.program == "simulate" then [$start | {outage_at, outage_for, observe} | link_options([])]
       elif ($times | length) >= 2 then
         ["outage-at=\(time($times[0]))", "outage-for=\(time($times[1] - $times[0]))",
          "observe=\(time($last_s - $times[1]))"]
       else ["outage-at=0s", "outage-for=0s", "observe=\(time($last_s))"] end)
  | "explorer.html#" + join("&");

# The traced requests, each with its attempts: as many as a page can show.
def trace:
  (reduce (.[] | select(.type == "attempt")) as $attempt
     ({}; .["\($attempt.request)"] += [$attempt | del(.type, .request, .client)])) as $attempts
  | [.[] | select(.type == "request" and has("request")) | select($attempts["\(.request)"])]
  | {total: length,
     requests: [sort_by(.request)[:50][]
                | {request, t, outcome, reason, time_s,
                   attempts: ($attempts["\(.request)"] | sort_by(.attempt))}]};

# With more requests than this in the service, answers come too late. Null if this is not known, or if workers serve
# others first than the oldest, or drop what is too old.
def late_from($lines; $server_lines):
  ($lines[0] | .service == "workers" and
     ([.queue_order // "fifo", .queue_drop // "none", .abandoned // "serve"] != ["fifo", "none", "serve"])) as $any
  | if $any then null else $lines[0].outlook.late_from? // (try fatal_concurrency($lines; $server_lines) catch null) end
  | if type == "number" then . else null end;

# Each run of a client's file, because the page may have started several. `$server` is text. With
# `$explorer`, each run has a link to it.
def report_runs($name; $server; $explorer):
  map(well_formed) | . as $all
  | [$server | split("\n")[] | line | well_formed] as $server_lines
  | [range(length) | select($all[.].type == "start")] as $starts
  | range($starts | length) as $i
  | $all[$starts[$i]:($starts[$i + 1] // ($all | length))] as $lines
  | $lines[0] as $start
  | select(any($lines[]; .type == "interval" and has("ok")))
  # Without wall-clock times, only the first run of a file is on the server's time line.
  | (if $i == 0 or ($start.started_at and $server_lines[0].started_at)
     then $server_lines | on_the_time_of($lines) else [] end) as $its_server
  | {name: (if ($starts | length) > 1 then "\($name) \($i + 1)" else $name end),
     start: ($start | {program, strategy, title, seed,
                       clients: (if .arrivals == "open" then null else .clients end),
                       outlook: {late_from: late_from($lines; $server_lines)}}),
     reproduce: ($start | reproduction($server_lines[0]; $lines)),
     explorer: (if $explorer then $start | explorer_link($server_lines[0]; $lines) else null end),
     events: [$lines[] | select(.type == "outage" or .type == "action" or .type == "summary"),
              (select(.type == "interval")
               | {type, t, ok, errors, timed_out, not_sent, attempts, retries, requests, thinking, in_flight,
                  waiting_to_retry, latency_ms, connections})],
     nodes: (reduce ($lines[] | select(.type == "node")) as $node ({}; .[$node.node] = $node)),
     trace: ($lines | trace),
     server: [$its_server[] | select(.type == "interval") | {t, concurrency, last_delay_s, workers, busy, waiting, accept_queue, no_room}]};
