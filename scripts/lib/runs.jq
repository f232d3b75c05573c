# Turns the JSON Lines of a run, read as a whole, into the table and the data for gnuplot.

# "1m30s", "100ms" or "20" as a number of seconds. Null if it is not a duration.
def seconds:
  {"h": 3600, "m": 60, "s": 1, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9} as $unit
  | gsub(" "; "") | gsub("hours?"; "h") | gsub("min(utes?)?"; "m") | gsub("sec(onds?)?"; "s")
  | if test("^[0-9.]+$") then tonumber? // null
    elif test("^([0-9.]+(h|ms|m|us|µs|ns|s))+$") then
      [scan("([0-9.]+)(h|ms|m|us|µs|ns|s)") | (.[0] | tonumber? // null) * $unit[.[1]]] | add
    else null end;

def only($type): map(select(.type == $type));
def only($one; $other): map(select(.type == $one or .type == $other));

# The lines of a server during its clients' run, on the clients' time line. Each program counts from its
# start, and the wall clock gives the difference. Without it (in virtual time) both started at once.
def on_the_time_of($client):
  ($client[0].started_at) as $zero | .[0].started_at as $start
  | if $zero == null or $start == null then .
    else ($start - $zero) as $shift | ($client | map(.t // .elapsed_s // 0) | max) as $last
      | [.[] | if has("t") then .t = ((.t + $shift) * 1000 | round / 1000) else . end
         | select((has("t") | not) or (.t >= 0 and .t <= $last + 1))] end;

def fixed($digits):
  pow(10; $digits) as $p
  | (. * $p | round) as $signed
  | ($signed | fabs) as $whole
  | (if $signed < 0 then "-" else "" end) + ($whole / $p | floor | tostring)
    + if $digits > 0 then "." + ($whole % $p + $p | tostring[1:]) else "" end;
def mean: if length == 0 then null else add / length end;
def cell($digits; $unit): if . == null then "-" else "\(fixed($digits))\($unit)" end;

# Mean of OK/s over the last 15 s.
def ok_at_end:
  only("interval") | (last.t - 15 + 0.1) as $from | map(select(.t > $from) | .ok) | mean;

# What became of a run, in the words of the programs.
def outcome:
  {"no outage": "no outage", "recovered": "comes back", "collapsed": "stays down", "relapsed": "goes down again",
   "recovering": "still coming back"}[.] // "not decided";

def table_row($name; $client):
  ($client | only("summary") | last) as $summary
  | [$name,
     ($summary.baseline_ok | cell(1; "")),
     ($client | ok_at_end | cell(1; "")),
     ($summary | if .requests > 0 then (.requests + .retries) / .requests else .amplification end | cell(2; "")),
     ($summary.time_to_recovery_s | cell(0; " s")),
     ($summary.verdict | outcome)];

# The concurrency at which the delay reaches the clients' timeout. Above it, no answer comes in time.
def fatal_concurrency($client; $server):
  ($client[0].timeout // "none" | seconds) as $timeout
  | $server[0] as $curve | ($curve.base_delay | seconds) as $base
  | if $curve.service != "workers" and $base > 0 and $timeout > $base and $curve.factor > 1
    then $curve.limit + $curve.k * (($timeout / $base | log) / ($curve.factor | log))
    else "NaN" end;  # gnuplot's word for no value

# "middle OK errors timed-out not-sent" of each interval
def rates($client; $server):
  $client | only("interval")
  | [0, .[].t] as $times
  | range(length) as $i
  | "\(($times[$i] + $times[$i + 1]) / 2) \(.[$i].ok) \(.[$i].errors) \(.[$i].timed_out) \(.[$i].not_sent // 0)";

# "time concurrency", with a gap while the server was frozen
def concurrency($client; $server):
  ([1, 3 * ($server[0] | .server_report_interval // .report_interval | seconds)] | max) as $gap
  | $server | on_the_time_of($client) | only("interval") | . as $all
  | range(length) as $i
  | (if $i > 0 and $all[$i].t - $all[$i - 1].t > $gap then "" else empty end),
    "\($all[$i].t) \($all[$i].concurrency)";

# "from to" of each outage. If there was none, one outside the picture
def outage($client; $server):
  ($client | only("interval") | last.t) as $last
  | [$client | only("outage") | .[].t]
  | if length == 0 then "-2 -1" else _nwise(2) | "\(.[0]) \(.[1] // $last)" end;

# "time top name" of each action, placed so that names do not overlap. If there was none, one outside
# the picture
def actions_done($client; $server):
  $client | only("action")
  | if length == 0 then "-2 0 -" else to_entries[] | "\(.value.t) \(.key % 4) \"\(.value.what)\"" end;

# The outage in a word or two.
def disturbance: (map(select(.type == "outage") | .what // "freeze") | first // "freeze")
  | if . == "freeze" then "frozen" else "outage: \(.)" end;

# Other values for the picture, as assignments of gnuplot
def facts($client; $server):
  "end = \($client | only("interval") | last.t)",
  "fatal = \(fatal_concurrency($client; $server))",
  "disturbance = \"\($client | disturbance)\"",
  "verdict = \"\($client | only("summary") | last.verdict)\"";

# The windows of both engines, and their differences in % of the baseline. Windows in which the outage
# begins or ends, or an action happens, are marked `edge`, because a tenth of a second matters there.
def windows($real; $simulated):
  ["ok", "errors", "timed_out", "not_sent"] as $columns
  | ($simulated | only("summary") | last.baseline_ok // 1 | [., 1] | max) as $baseline
  | [$real, $simulated | only("outage"; "action") | .[].t] as $edges
  | [$real, $simulated | only("interval")] as [$a, $b]
  | [range([$a, $b | length] | min) as $i
     | [0, $b[].t] as $times
     | {t: $b[$i].t,
        edge: any($edges[]; . >= $times[$i] - 0.1 and . < $times[$i + 1] - 0.1),
        rates: [$columns[] as $column | [$a, $b | .[$i][$column]]]}
     | .apart = [.rates[] | (.[0] - .[1]) / $baseline * 100]];

# The largest difference in each column of `windows`, and its window, with or without edges.
def greatest($edges):
  map(select($edges or (.edge | not))) as $windows
  | [range(4) as $i | $windows | max_by(.apart[$i] | fabs) | {t, apart: (.apart[$i] | fabs)}];

def verdicts($real; $simulated): [$real, $simulated | only("summary") | last.verdict];

# Both engines side by side, as a table.
def compare($real; $simulated):
  def padded($width): tostring | (" " * ($width - length) // "") + .;
  windows($real; $simulated) as $windows
  | ["OK/s", "errors/s", "timeouts/s", "not sent/s"] as $titles
  | "         real and simulated                                              difference in % of the OK/s",
    "   until\($titles | map(padded(16)) | join(""))   before the outage, of each",
    ($windows[]
     | [(.t | fixed(0) + " s" | padded(8)), (.rates[][] | fixed(1) | padded(8)),
        (.apart[] | fixed(1) | padded(7)), if .edge then "  edge" else "" end] | join("")),
    ($windows | greatest(false)
     | "greatest difference, edges apart:          " + (to_entries | map(
         "\($titles[.key]) \(.value.apart | fixed(1)) % (until \(.value.t | fixed(0)) s)") | join(", "))),
    "mean difference, edges apart: \([$windows[] | select(.edge | not) | .apart[] | fabs] | mean | fixed(2)) %",
    (verdicts($real; $simulated) | "verdicts: real \(.[0]), simulated \(.[1])");

# "pushy: 99.85 % of the requests succeeded, 87.21 attempts each; OK/s ...", of the lines of clients of one kind
def kind_line($name; $client):
  ($client | only("summary") | last)
  | "\($name): \(.success_share * 100 | cell(2; " %")) of the requests succeeded, \(.amplification | cell(2; "")) attempts each"
    + if .ok_per_s_during == null then ""
      else "; OK/s \(.ok_per_s_before | cell(1; "")) before the outage, \(.ok_per_s_during | cell(1; "")) in it, \(.ok_per_s_after | cell(1; "")) after it"
      end;

# A line for each service of a run: what was offered to it in the last 5 s, what became of that, and the calls of it for
# each request of the clients, in the whole run and in the outage; then, which service had all its workers taken since the
# outage began, and how many waited at most. $nodes: {node, host, lines}, the one that the clients call first, each host from 1.
def nodes_table($nodes; $client):
  def left($width): . + (" " * ($width - length) // "");
  def right($width): tostring | (" " * ($width - length) // "") + .;
  ($client | only("interval") | last.t) as $last_t
  | ($client | only("summary") | {requests: map(.requests) | add, retries: map(.retries) | add}) as $summary
  | [$client | only("outage") | .[].t] as $outage | ($outage[0] // $last_t) as $from | ($outage[1] // $last_t) as $to
  | [$client | only("interval")[] | select(.t > $from and .t <= $to)] as $during
  | ([$nodes[].node | length, 7] | max) as $width
  | [$nodes[] | .lines |= on_the_time_of($client)] as $nodes
  | ("" | left($width)) + "  calls a request:        at the end, a second:" + ("workers" | right(38)),
    ("service" | left($width)) + ([["run", 9], ["outage", 9], ["offered", 12], ["refused", 10], ["served", 10], ["failed", 10],
                                   ["late", 10], ["busy", 8], ["queue", 8]]
                                  | map(.[1] as $width | .[0] | right($width)) | join("")),
    ($nodes[] | select(.host == 1).node as $node
     | [$nodes[] | select(.node == $node).lines | only("interval") | map(select(.t > $last_t - 5 and .t <= $last_t))] as $last
     | def in_all(f): $last | map(map(f) | mean) | add;
       def waiting: $last | map(last.waiting) | add;
       (if $node == $nodes[0].node then $summary.requests + $summary.retries
        else [$nodes[].lines | only("edge") | group_by(.to)[] | select(.[0].to == $node) | last.attempts_total] | add // 0
        end) as $attempts
     | def until($t): [$nodes[].lines | [only("edge")[] | select(.to == $node and .t <= $t)] | last.attempts_total] | add // 0;
       (if $node == $nodes[0].node then $during | map(.attempts) | mean
        elif $to > $from then (until($to) - until($from)) / ($to - $from) else null end) as $in_outage  # a second
     | ($during | map(.requests) | mean) as $begun
     | ($node | left($width))
       + ($attempts / ([$summary.requests, 1] | max) | cell(2; "") | right(9))
       + (if ($begun // 0) > 0 then $in_outage / $begun else null end | cell(2; "") | right(9))
       + ([in_all(.offered), in_all([.rejected[]] | add), in_all(.served), in_all(.failed),
           in_all([.completed - .served - .failed, 0] | max) | cell(1; "")]
          | [(.[0] | right(12)), (.[1:][] | right(10))] | join(""))
       + (in_all(.busy) | cell(1; "") | right(8)) + (waiting | right(8))),
    ([$nodes[] | (.node + if .host > 1 then ".\(.host)" else "" end) as $node
      | [.lines | only("interval")[] | select(.t > $from and .waiting > 0 and .busy >= .workers)] | select(length > 0)
      | max_by(.waiting) | "\($node) at \(.t | fixed(0)) s (\(.busy) of \(.workers) workers, \(.waiting) waiting)"]
     | select(length > 0) | "full: " + join(", "));

# The calls a second of each service behind the first one, real and simulated, in each window of a simulated run. `apart`:
# the difference in percent of the calls of that window or, if they are more, of those before the outage. $nodes: as above, of
# the real run.
def calls_by_window($nodes; $real; $simulated):
  [$nodes[].lines | [on_the_time_of($real)[] | select(.type == "edge")]] as $counted
  | [$real, $simulated | only("outage") | .[].t] as $edges
  | [$simulated | only("edge") | .[] | select(.from != "clients")]
  | group_by([.from, .to])[]
  | (map(select(.t > 5.1 and .t < ($edges | min) + 0.1) | .attempts_per_s) | mean) as $calm
  | .[] as $each
  | [$counted[] | map(select(.from == $each.from and .to == $each.to))] as $mine
  | def until($t): [$mine[] | map(select(.t <= $t + 0.05) | .attempts_total) | last // 0] | add;
    ((until($each.t) - until($each.t - 5)) / 5) as $rate
  | {from: $each.from, to: $each.to, t: $each.t, real: $rate, simulated: $each.attempts_per_s,
     edge: any($edges[]; . >= $each.t - 5.1 and . < $each.t - 0.1),
     apart: (($rate - $each.attempts_per_s) / ([$calm, $each.attempts_per_s, 0.1] | max) * 100)};
