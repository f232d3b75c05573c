# From the JSON Lines of a run to what the report holds of it.
include "runs";

# What the report reads of a run's lines is of the right type, or the line is passed over, as one is
# of which a killed program wrote only half. Null is what is not known. No clock and no counter
# comes to the greatest number, and an axis that long could not be drawn.
def is_number: type == "number" and . == . and fabs < 1e15;
def all_numbers($names): . as $line | all($names[]; $line[.] | . == null or is_number);
def none_or_numbers($names): . == null or (type == "object" and all_numbers($names));
def all_times($names): all_numbers($names) and (. as $line | all($names[]; ($line[.] // 0) >= 0));
def is_text: type == "string" and length < 10000;
def well_formed:
  objects
  | select(
      if .type == "start" then
        (.program | is_text) and (.command | is_text)
        and (.strategy | . == null or is_text) and (.seed | . == null or type == "number")
        and all_numbers(["started_at", "clients", "server_pid"])
      elif .type == "interval" then
        (.t | is_number)
        and all_numbers(["ok", "errors", "timed_out", "not_sent", "attempts", "retries",
                         "requests", "thinking", "in_flight", "waiting_to_retry", "concurrency",
                         "last_delay_s", "workers", "busy", "waiting"])
        and (.latency_ms | none_or_numbers(["p50", "p95", "p99"]))
      elif .type == "outage" then
        (.t | is_number) and (.event | is_text) and (.what | . == null or is_text)
      elif .type == "action" then (.t | is_number) and (.what | is_text)
      elif .type == "attempt" then
        ([.t, .request, .attempt] | all(is_number))
        and ([.outcome, .reason] | all(. == null or is_text))
        and all_times(["latency_s", "connect_s", "queue_s", "service_s", "late_s", "wait_s"])
        and all_numbers(["status"])
      elif .type == "request" then
        ([.t, .request] | all(is_number)) and ([.outcome, .reason] | all(. == null or is_text))
        and all_times(["time_s"])
      elif .type == "summary" then
        (.verdict | is_text)
        and ([.latency_ms, .request_time_ms] | all(.[]; none_or_numbers(["p50", "p95", "p99"])))
        and (.gave_up_by | . == null or (type == "object" and all(.[]; is_number)))
        and all_numbers(["elapsed_s", "baseline_ok", "errors_gone_s", "time_to_recovery_s",
                         "amplification", "peak_attempts", "ok_lost", "longest_without_ok_s",
                         "success_share", "failing", "gave_up", "not_sent"])
      else false end);

# A command line without these options, whether written with "=" or with a space.
def without($options):
  reduce $options[] as $option (.;
    gsub("(?<= )('--\($option)=[^']*'|--\($option)(=| +)('[^']*'|[^ ]+))( |$)"; "") | sub(" +$"; ""));

# The program as it is called from the top of a checkout.
def from_the_top:
  if startswith("'") then sub("^'[^']*/(retrystorm-)?(?<program>[a-z]+)'"; "build/bin/\(.program)")
  else sub("^([^ ]*/)?(retrystorm-)?(?<program>[a-z]+)"; "build/bin/\(.program)") end;

def with_seed($start):
  if test("(?<= )--seed[= ]") then . else "\(.) --seed=\($start.seed)" end;

# An outage that was made from the page, as options that make it at the same time.
def with_outage($lines):
  [$lines[] | select(.type == "outage") | .t] as $times
  | if ($times | length) != 2 or test("--outage-at") then .
    else "\(.) --outage-at=\($times[0]) --outage-for=\($times[1] - $times[0] | . * 1000 | round / 1000)"
         + " --duration=\($lines | last.elapsed_s // (map(.t // 0) | max))" end;

def reproduction($server; $lines):
  . as $start
  | if $start.program == "simulate" then
      .command | without(["json", "server-json", "trace"]) | from_the_top | with_seed($start)
    elif $server == null or $server.program != "server" then
      # Whose process it was is over: another one may have its number.
      .command | without(["json", "server-pid", "trace"]) | from_the_top | with_seed($start)
      | if $start.server_pid then "\(.) --server-pid=$(pidof server)" else . end
    else
      # On the standard ports, with the process as the shell knows it.
      ($server.command | without(["json", "port", "admin-port"]) | from_the_top) as $service
      | (.command
         | without(["json", "trace", "url", "server-pid", "dashboard-port", "server-status", "server-admin"])
         | gsub(" --dashboard(?= |$)"; "")
         | from_the_top | with_seed($start) | with_outage($lines)) as $clients
      | "\($service) >server.log & sleep 1; \($clients)"
        + (if $start.server_pid then " --server-pid=$!" else "" end) + "; kill $!"
    end;

# What is the user's own, and nothing that is simulated: it has no place in a link.
def private:
  ["type", "program", "command", "started_at", "url", "json", "server_json", "csv", "markdown", "header", "body",
   "cacert", "admin_token_file", "server_admin", "server_status", "outage_begin", "outage_end", "duration"];

# Options in force, with the value that a start line gives them, as the explorer's link has them.
def link_options($but):
  to_entries[]
  | select((.key | IN($but[]) | not) and (.value | type | IN("string", "number", "null")))
  | "\(.value // "none")" as $value
  | select(($value | length) < 500)
  | "\(.key | gsub("_"; "-") | @uri)=\($value | @uri)";

# The explorer's link to the setting of a run. It passes over what is not simulated. A real run's
# outage is where it was, and it is watched for as long as it was.
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

# The requests that were followed, each with its attempts: as many as a page can show.
def trace:
  (reduce (.[] | select(.type == "attempt")) as $attempt
     ({}; .["\($attempt.request)"] += [$attempt | del(.type, .request, .client)])) as $attempts
  | [.[] | select(.type == "request" and has("request")) | select($attempts["\(.request)"])]
  | {total: length,
     requests: [sort_by(.request)[:50][]
                | {request, t, outcome, reason, time_s,
                   attempts: ($attempts["\(.request)"] | sort_by(.attempt))}]};

# Each run of a client's file, for the page may have started it again; `$server` is text. With
# `$explorer` it has a link to that.
def report_runs($name; $server; $explorer):
  map(well_formed) | . as $all
  | [$server | split("\n")[] | fromjson? | well_formed] as $server_lines
  | [range(length) | select($all[.].type == "start")] as $starts
  | range($starts | length) as $i
  | $all[$starts[$i]:($starts[$i + 1] // ($all | length))] as $lines
  | $lines[0] as $start
  | select(any($lines[]; .type == "interval" and has("ok")))
  # Without the clock on the wall only the first run of a file is on the server's time line.
  | (if $i == 0 or ($start.started_at and $server_lines[0].started_at)
     then $server_lines | on_the_time_of($lines) else [] end) as $its_server
  | {name: (if ($starts | length) > 1 then "\($name) \($i + 1)" else $name end),
     start: ($start | {program, strategy, seed,
                       clients: (if .arrivals == "open" then null else .clients end)}),
     command: $start.command,
     reproduce: ($start | reproduction($server_lines[0]; $lines)),
     explorer: (if $explorer then $start | explorer_link($server_lines[0]; $lines) else null end),
     events: [$lines[] | select(.type == "outage" or .type == "action" or .type == "summary"),
              (select(.type == "interval")
               | {type, t, ok, errors, timed_out, not_sent, attempts, retries, requests, thinking, in_flight,
                  waiting_to_retry, latency_ms})],
     trace: ($lines | trace),
     server: [$its_server[] | select(.type == "interval") | {t, concurrency, last_delay_s, workers, busy, waiting}]};
