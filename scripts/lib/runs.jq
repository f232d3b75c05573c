# From the JSON Lines of a run, read whole, to the table and to what gnuplot draws.

# "1m30s", "100ms" or "20" as a number of seconds; null when it is no duration.
def seconds:
  {"h": 3600, "m": 60, "s": 1, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9} as $unit
  | if test("^[0-9.]+$") then tonumber? // null
    elif test("^([0-9.]+(h|ms|m|us|µs|ns|s))+$") then
      [scan("([0-9.]+)(h|ms|m|us|µs|ns|s)") | (.[0] | tonumber? // null) * $unit[.[1]]] | add
    else null end;

def only($type): map(select(.type == $type));

# The lines of a server on the time line of its clients, and only what belongs to their run: each
# program counts from its own start, and the clock on the wall tells how far these are apart. Without
# it (in virtual time) both started at once.
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

def table_row($name; $client; $server):
  ($client | only("summary") | last) as $summary
  | [$name,
     ($summary.baseline_ok | cell(1; "")),
     ($client | ok_at_end | cell(1; "")),
     ($summary.errors_gone_s | cell(0; " s")),
     ($summary.time_to_recovery_s | cell(0; " s")),
     ($summary | if .requests > 0 then (.requests + .retries) / .requests else .amplification end | cell(2; "")),
     ($server | on_the_time_of($client) | only("interval") | map(.concurrency) | max | cell(0; "")),
     $summary.verdict];

# The concurrency at which the delay reaches the clients' timeout: above it nobody is served.
def fatal_concurrency($client; $server):
  ($client[0].timeout | seconds) as $timeout
  | $server[0] as $curve | ($curve.base_delay | seconds) as $base
  | if $base > 0 and $timeout > $base and $curve.factor > 1
    then $curve.limit + $curve.k * (($timeout / $base | log) / ($curve.factor | log))
    else "NaN" end;  # as gnuplot writes "none"

# "middle OK errors timed-out" of each interval
def rates($client; $server):
  $client | only("interval")
  | [0, .[].t] as $times
  | range(length) as $i
  | "\(($times[$i] + $times[$i + 1]) / 2) \(.[$i].ok) \(.[$i].errors) \(.[$i].timed_out)";

# "time concurrency", a gap where the server was frozen and said nothing
def concurrency($client; $server):
  ([1, 3 * ($server[0] | .server_report_interval // .report_interval | seconds)] | max) as $gap
  | $server | on_the_time_of($client) | only("interval") | . as $all
  | range(length) as $i
  | (if $i > 0 and $all[$i].t - $all[$i - 1].t > $gap then "" else empty end),
    "\($all[$i].t) \($all[$i].concurrency)";

# "from to" of each outage; one that is out of sight when there was none
def outage($client; $server):
  ($client | only("interval") | last.t) as $last
  | [$client | only("outage") | .[].t]
  | if length == 0 then "-2 -1" else _nwise(2) | "\(.[0]) \(.[1] // $last)" end;

# What the picture must know besides, as assignments of gnuplot
def facts($client; $server):
  "end = \($client | only("interval") | last.t)",
  "fatal = \(fatal_concurrency($client; $server))",
  "verdict = \"\($client | only("summary") | last.verdict)\"";

# The rates of both engines window by window, and how far they are apart in % of the baseline. The
# window in which the server is woken stands apart: there a tenth of a second decides.
def compare($real; $simulated):
  def padded($width): tostring | (" " * ($width - length) // "") + .;
  ($real | only("summary") | last) as $real_end
  | ($simulated | only("summary") | last) as $simulated_end
  | ($real_end.baseline_ok // 1) as $baseline
  | ($real | map(select(.type == "outage" and .event == "continue") | .t) | last // -1) as $woken
  | [$real, $simulated | only("interval")] as [$a, $b]
  | [range([$a, $b | length] | min)
     | {t: $b[.].t, waking: ($b[.].t - 5 <= $woken and $woken < $b[.].t),
        ok: [$a[.].ok, $b[.].ok], timed_out: [$a[.].timed_out, $b[.].timed_out]}
     | .difference = ([.ok, .timed_out | (.[0] - .[1]) / $baseline * 100])]
  | "    until       OK/s real  simulated      timeouts/s real  simulated      difference in % of \($baseline | fixed(1))",
    (.[] | [(.t | fixed(0) + " s" | padded(9)), (.ok[] | fixed(2) | padded(15)),
            (.timed_out[] | fixed(2) | padded(15)), (.difference[] | fixed(1) | padded(10)),
            if .waking then "  waking" else "" end] | join("")),
    (map(select(.waking | not) | .difference[] | fabs)
     | "largest difference apart from the waking: \(max | fixed(1)) %; mean: \(add / length | fixed(2)) %"),
    "verdicts: real \($real_end.verdict), simulated \($simulated_end.verdict)";
