# Functions that the scripts share. Source it by its path after `set -euo pipefail`.
# shellcheck shell=bash
# The variables are used by the scripts that source this file.
# shellcheck disable=SC2034

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd)
lib=$root/scripts/lib
results=$root/results
bin=$root/build/bin

# If standard error is closed, messages are dropped.
say() { printf '%s\n' "$*" >&2 || true; }

# Ends the script, with the exit codes of the programs (docs/output.md): `die` for a fault at run time, `refuse` for
# wrong options, `die_unread` for a file that cannot be read. `die_as CODE` passes on that of a program.
die_as() {
  say "${0##*/}: ${*:2}"
  # A program that a signal ended has failed.
  exit "$(($1 < 128 ? $1 : 1))"
}
die() { die_as 1 "$@"; }
die_unread() { die_as 2 "$@"; }
refuse() { die_as 105 "$@"; }

# Prints the script's help: the comment at its head.
show_help() {
  sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
  exit 0
}

# --- building ---------------------------------------------------------------------------------

# build PRESET [TARGET...]: one script at a time in each folder
build() {
  local preset=$1 target lock
  local targets=()
  shift
  for target in "$@"; do targets+=(--target "$target"); done
  (
    cd "$root" && mkdir -p build && exec {lock}>"build/.lock.$preset" || exit
    flock --nonblock "$lock" || {
      say "waiting for another script, which builds"
      flock "$lock"
    }
    cmake --preset "$preset" >/dev/null && cmake --build --preset "$preset" "${targets[@]}" >&2
  ) && return
  [[ -f $root/CMakeLists.txt ]] ||
    die "$root is no clone of retrystorm, so nothing can be built there: run the script of a clone"
  return 1
}

# --- ending -----------------------------------------------------------------------------------

# All processes that a script started end when it ends, in whatever way.
servers=()
declare -A server_logs=() # by process id
clients=()
scratch=

# end_processes PID...: sets $ended_badly to one that ended with a fault of its own
ended_badly=
end_processes() {
  local pid tries code
  for pid in "$@"; do
    kill -TERM "$pid" 2>/dev/null || true
    kill -CONT "$pid" 2>/dev/null || true # a frozen process ends only when it is woken
  done
  for pid in "$@"; do
    for ((tries = 0; tries < 100; ++tries)); do
      # Its number may be another's as soon as it has gone.
      kill -0 "$pid" 2>/dev/null || break
      sleep 0.05
    done
    if ((tries == 100)); then kill -KILL "$pid" 2>/dev/null || true; fi
    code=0
    wait "$pid" 2>/dev/null || code=$?
    if ((code > 0 && code < 127)); then ended_badly=$pid; fi # not by a signal, or no child
  done
}

end_clients() {
  end_processes "${clients[@]}"
  clients=()
}

end_servers() {
  end_processes "${servers[@]}"
  servers=()
}

clean_up() {
  trap '' INT TERM HUP
  end_clients
  end_servers
  if [[ -n $scratch ]]; then rm -rf "$scratch"; fi
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP

# Makes $scratch, a folder for temporary files.
make_scratch() {
  scratch=$(mktemp -d) || die "no folder for temporary files: is TMPDIR (${TMPDIR:-/tmp}) there, and not full?"
}

# --- results ----------------------------------------------------------------------------------

# check_name NAME: refuses it if it cannot be the name of files in results/
check_name() {
  [[ $1 =~ ^[A-Za-z0-9_-][A-Za-z0-9._-]*$ ]] && ((${#1} <= 100)) ||
    refuse "'$1' cannot name files: use at most 100 letters, digits, - _ . and do not begin with a dot"
}

# open_results [NAME]: makes the folder. Locks NAME, so that only one script at a time writes its files.
# The lock ends with this script, however it ends.
declare -A locks=()
open_results() {
  local lock
  mkdir -p "$results" 2>/dev/null && [[ -w $results ]] ||
    die "the folder $results cannot be made or written: is it a file, or a link that leads nowhere?"
  if (($# == 0)) || [[ -n ${locks[$1]-} ]]; then return; fi
  exec {lock}>"$results/.$1.lock"
  flock --nonblock "$lock" ||
    die "another script writes the files of '$1' in $results: wait for it, or choose another name"
  locks[$1]=$lock
}

# --- durations --------------------------------------------------------------------------------

# check_time DURATION...: refuses what the programs do not take for a duration. jq may not be installed yet.
check_time() {
  local number='([0-9]+(\.[0-9]*)?|\.[0-9]+) *' time
  local unit='(hours?|h|msec|ms|minutes?|min|m|us|µs|ns|seconds?|sec|s) *'
  for time in "$@"; do
    [[ $time =~ ^($number|($number$unit)+)$ ]] ||
      refuse "'$time' is not a duration (100ms, 20s, 1m30s)"
  done
}

# seconds_of DURATION, as the programs write durations: 100ms, 1m30s, 20
seconds_of() {
  check_time "$1"
  jq -L "$lib" -nr --arg text "$1" 'include "runs"; $text | seconds'
}

# --- running ----------------------------------------------------------------------------------

# The kernel ends what is started with the script, even if that is killed. (A client that ends wakes
# the server that it has frozen.)
with_parent=()
if command -v setpriv >/dev/null; then with_parent=(setpriv --pdeathsig TERM --); fi

# Sets $port to one of loopback on which nobody listens, for a program that cannot choose one.
free_port() {
  local try
  for ((try = 0; try < 20; ++try)); do
    port=$((20000 + (RANDOM * 32768 + RANDOM) % 12000))
    (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null || return 0
  done
  die 'no port is free'
}

# start_proxy LOG COMMAND...: which listens on $port. Sets $server_pid and $server_url. Fails if it does not begin to.
start_proxy() {
  local log=$1 tries
  shift
  "${with_parent[@]}" "$@" >"$log" 2>&1 </dev/null &
  server_pid=$!
  servers+=("$server_pid")
  server_logs[$server_pid]=$log
  server_url=http://127.0.0.1:$port/api
  for ((tries = 0; tries < 100; ++tries)); do
    kill -0 "$server_pid" 2>/dev/null || return 1
    if (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then return; fi
    sleep 0.05
  done
  return 1
}

# start_server FILES [OPTION...]: on a free port. Writes FILES.server.jsonl and FILES.server.log;
# sets $server_pid, $server_url and $server_port.
start_server() {
  local files=$1 tries code=0
  shift
  : >"$files.server.log"
  "${with_parent[@]}" "$bin/server" "$@" --port 0 --json "$files.server.jsonl" >"$files.server.log" 2>&1 </dev/null &
  server_pid=$!
  servers+=("$server_pid")
  server_logs[$server_pid]=$files.server.log
  for ((tries = 0; tries < 250; ++tries)); do
    server_url=$(sed -n 's/^listening on //p' "$files.server.log")
    if [[ $server_url =~ :([0-9]+)/ ]]; then
      server_port=${BASH_REMATCH[1]}
      return
    fi
    kill -0 "$server_pid" 2>/dev/null || break
    sleep 0.02
  done
  cat "$files.server.log" >&2
  if kill -0 "$server_pid" 2>/dev/null; then die "the server did not start in time"; fi
  wait "$server_pid" || code=$?
  die_as "$((code > 0 ? code : 1))" "the server did not start"
}

# start_client FILES [OPTION...]: against the server started last. Writes FILES.client.jsonl and
# FILES.client.log; sets $client_pid.
start_client() {
  local files=$1
  shift
  "${with_parent[@]}" "$bin/client" "$@" --url "$server_url" --json "$files.client.jsonl" \
    >"$files.client.log" 2>&1 </dev/null &
  client_pid=$!
  clients+=("$client_pid")
}

# How long each part of a run is.
calm=30s
outage=20s
after=60s

# take_time ARGUMENT...: if the first is --calm, --outage or --after, stores its time and sets $taken to
# the number of arguments used. An --outage that is a kind (slow:3) and not a time is the client's.
take_time() {
  if [[ $1 == --outage=[a-z]* || $1 == --outage && ${2-} == [a-z]* ]]; then return 1; fi
  case $1 in
    --calm | --outage | --after)
      (($# >= 2)) || refuse "$1 needs a time"
      declare -g "${1#--}=$2"
      taken=2
      ;;
    --calm=* | --outage=* | --after=*)
      declare -g "${1#--}"
      taken=1
      ;;
    *) return 1 ;;
  esac
  check_time "$calm" "$outage" "$after"
}

# start_run NAME [CLIENT OPTION...] [-- SERVER OPTION...]: a server (--replicas=N: so many) and its clients, with an outage
# unless it lasts 0s. $in_front, if set, is run once there is the server: a function that starts another one before it, and
# sets $server_url and $server_pid to that.
start_run() {
  local name=$1 calm_s outage_s after_s duration kind=freeze order files admin i replicas=1 ordered=
  local client_options=() outage_options=() control=() of_host=()
  shift
  while (($# > 0)) && [[ $1 != -- ]]; do
    case $1 in
      --replicas=*) replicas=${1#*=} ;;
      --replicas) replicas=${2-} ;;
      *) client_options+=("$1") ;;
    esac
    if [[ $1 == --replicas ]]; then shift; fi
    order=
    case $1 in
      --outage) kind=${2-} ;;
      --outage=*) kind=${1#*=} ;;
      --at=* | --capacity=*) order=${1#*=} ;;
      --at | --capacity) order=${2-} ;;
    esac
    # The clients change the load without the server.
    if [[ -n $order && $order != *" load "* ]]; then ordered=yes; fi
    shift
  done
  [[ $replicas =~ ^[1-9][0-9]?$ ]] || refuse "--replicas: '$replicas' is no number of servers from 1 to 99"
  case $kind in drop | slow:* | errors:* | capacity:* | throttle:*) ordered=yes ;; esac
  calm_s=$(seconds_of "$calm")
  outage_s=$(seconds_of "$outage")
  after_s=$(seconds_of "$after")
  duration=$(jq -n "$calm_s + $outage_s + $after_s")
  [[ $(jq -n "$duration >= 1") == true ]] ||
    refuse "a run of ${duration}s: --calm, --outage and --after are 1s in all at least"
  open_results "$name"
  rm -f "$results/$name".{client,server,host*.server}.{jsonl,log}
  if [[ $outage_s != 0 ]]; then outage_options=(--outage-at "$calm" --outage-for "$outage"); fi
  for ((i = 1; i <= replicas; ++i)); do
    files=$results/$name
    if ((i > 1)); then files+=.host$i; fi
    of_host=("${@:2}")
    if [[ -n $ordered ]]; then of_host+=(--admin-token-file "$files.token"); fi
    if [[ -n $ordered ]] || ((replicas > 1)); then of_host+=(--admin-port any); fi
    # The peak after waking lasts for some tenths of a second.
    start_server "$files" --report-interval 100ms "${of_host[@]}"
    ${in_front-}
    admin=$(sed -n 's|^metrics on \(.*\)/metrics$|\1|p' "$files.server.log")
    if [[ -n $ordered ]]; then control+=(--admin-token-file "$files.token" --server-admin "$admin"); fi
    if ((replicas > 1)); then control+=(--server-status "$admin/status"); fi
    if [[ $outage_s != 0 && $kind == freeze ]]; then outage_options+=(--server-pid "$server_pid"); fi
    # The last one is that of `start_client`.
    if ((i < replicas)); then control+=(--url "$server_url"); fi
  done
  start_client "$results/$name" --report-interval 1s "${outage_options[@]}" "${control[@]}" \
    --duration "${duration}s" "${client_options[@]}"
}

# start_topology NAME [OPTION OF simulate...]: a server for each host of each service of --chain or --topology, those first
# that call nobody, and the clients of the first one, with the outage of the service that --outage-of names. Sets $services,
# the one first that the clients call, $hosts of each, and $kinds, the clients' files: NAME, or NAME.KIND for each kind.
start_topology() {
  local name=$1 plan service kind files admin front control=() outage_options=() arguments=() at_outage=() urls_of=() i j
  local -A urls=() admins=() pids=()
  declare -gA hosts=()
  shift
  open_results "$name"
  plan=$results/$name.processes.json
  rm -f "$results/$name".{client,*.client,processes,*.server}.{json,jsonl,log,token}
  "$bin/simulate" --report-interval 1s "$@" --outage-at "$calm" --outage-for "$outage" --observe "$after" \
    --print-processes >"$plan" || exit "$?"
  ask_plan() { jq -r "$1" "$plan"; }
  if [[ $(ask_plan .ordered) == true ]]; then control=(--admin-token-file "$results/$name.token"); fi
  services=()
  for ((i = 0; i < $(ask_plan '.services | length'); ++i)); do
    service=$(ask_plan ".services[$i].name")
    mapfile -t arguments < <(ask_plan ".services[$i].arguments[]")
    for j in "${!urls[@]}"; do arguments=("${arguments[@]//"@$j@"/${urls[$j]}}"); done
    at_outage=()
    if [[ $service == "$(ask_plan .outage_of)" ]]; then at_outage=("${control[@]}"); fi
    hosts[$service]=$(ask_plan ".services[$i].hosts")
    for ((j = 1; j <= hosts[$service]; ++j)); do
      files=$(host_files "$name" "$service" "$j")
      start_server "$files" --report-interval 100ms --admin-port any "${at_outage[@]}" "${arguments[@]}"
      urls[$service]+=${urls[$service]:+|}$server_url
      pids[$service]+=${pids[$service]:+ }$server_pid
      admins[$service]+="$(sed -n 's|^metrics on \(.*\)/metrics$|\1|p' "$files.server.log") "
    done
    services=("$service" "${services[@]}")
  done
  front=${services[0]}
  service=$(ask_plan .outage_of)
  mapfile -t urls_of < <(tr '|' '\n' <<<"${urls[$front]}")
  server_url=${urls_of[-1]} # the last one of `start_client`, after the others
  if ((${#control[@]} > 0)); then
    arguments=("${control[@]}")
    control=()
    for admin in ${admins[$service]}; do control+=("${arguments[@]}" --server-admin "$admin"); done
  fi
  if [[ $(seconds_of "$outage") != 0 ]]; then
    outage_options=(--outage-at "$calm" --outage-for "$outage")
    for admin in ${admins[$front]}; do outage_options+=(--server-status "$admin/status"); done
    # shellcheck disable=SC2206 # one word for each
    arguments=(${pids[$service]})
    arguments=("${arguments[@]:0:$(ask_plan .outage_hosts)}")
    if [[ $(ask_plan .outage) != freeze ]]; then
      :
    elif [[ $service == "$front" ]] || ((${#arguments[@]} == 1 && hosts[$front] == 1)); then
      outage_options+=("${arguments[@]/#/--server-pid=}")
    else # of several hosts, the client freezes those that it calls
      outage_options+=(--outage=command --outage-begin="kill -STOP ${arguments[*]}" --outage-end="kill -CONT ${arguments[*]}")
    fi
  fi
  urls_of=("${urls_of[@]/#/--url=}")
  kinds=()
  for ((i = 0; i < $(ask_plan '.clients | length'); ++i)); do
    kind=$(ask_plan ".clients[$i].name")
    kinds+=("$name${kind:+.$kind}")
    mapfile -t arguments < <(ask_plan ".clients[$i].arguments[]")
    start_client "$results/${kinds[i]}" "${outage_options[@]}" "${control[@]}" --duration "$(ask_plan .duration)" \
      "${arguments[@]}" "${urls_of[@]::${#urls_of[@]}-1}"
    # One of them makes the outage: see simulate/processes.cc.
    if [[ $(seconds_of "$outage") != 0 ]]; then outage_options=(--outage-at "$calm" --outage-for "$outage"); fi
    control=()
  done
}

# The name of the files of a service's host, from 1.
host_files() { printf '%s' "$results/$1.$2"; if (($3 > 1)); then printf '%s' ".host$3"; fi; }

# ask_services NAME FILTER [JQ OPTION...]: applies it to $nodes, the lines of the services of a run with
# `start_topology`, and $client, those of its clients, of all kinds
ask_services() {
  local name=$1 filter=$2 service host clients_lines=("${kinds[@]/%/.client.jsonl}")
  shift 2
  for service in "${services[@]}"; do
    for ((host = 1; host <= hosts[$service]; ++host)); do
      jq -n --arg node "$service" --argjson host "$host" '{node: $node, host: $host, lines: [inputs]}' \
        "$(host_files "$name" "$service" "$host").server.jsonl"
    done
  done | jq -L "$lib" -rn --slurpfile client <(cd "$results" && cat "${clients_lines[@]}") "$@" \
    "include \"runs\"; [inputs] as \$nodes | $filter"
}

# simulate_run NAME [CLIENT OPTION...] [-- SERVER OPTION...]: the same run as `start_run` in virtual
# time. Allows as many connections as a server on this machine, and repeats SYNs as this kernel does.
simulate_run() {
  local name=$1 option connections
  local options=()
  connections=$(($(ulimit -Hn) - 64))
  # More would be refused, and makes no difference.
  if ((connections > 1000000000)); then connections=1000000000; fi
  if [[ $* != *multiplexed* ]]; then options+=(--max-connections "$connections"); fi # of no effect there
  options+=(--syn-linear-timeouts "$(cat /proc/sys/net/ipv4/tcp_syn_linear_timeouts 2>/dev/null || echo 0)")
  shift
  while (($# > 0)) && [[ $1 != -- ]]; do
    options+=("$1")
    shift
  done
  # `simulate` has the options of both programs, so the server's --factor has another name there.
  for option in "${@:2}"; do options+=("${option/#--factor/--curve-factor}"); done
  open_results "$name"
  "$bin/simulate" --quiet --report-interval 1s --server-report-interval 100ms --outage-at "$calm" \
    --outage-for "$outage" --observe "$after" "${options[@]}" --json "$results/$name.client.jsonl" \
    --server-json "$results/$name.server.jsonl" >"$results/$name.client.log"
}

# simulate_into NAME OPTION...: makes a simulated run with these options. Its lines go into results/NAME. An --expect
# is that of the study, which has judged it.
simulate_into() {
  local name=$1 options=()
  while shift && (($# > 0)); do
    case $1 in
      --expect) shift ;;
      --expect=*) ;;
      *) options+=("$1") ;;
    esac
  done
  "$bin/simulate" --quiet "${options[@]}" --json "$results/$name.client.jsonl" \
    --server-json "$results/$name.server.jsonl" >/dev/null
}

# simulate_listed NAME FILE: makes the runs that a study lists in FILE. Each line has a suffix for NAME and
# the options, separated by tabs. Sets $listed to the names of the runs.
simulate_listed() {
  local words run
  listed=()
  while IFS=$'\t' read -ra words; do
    run=$1-${words[0]}
    # An option that has an effect in other cells may have none in this one, and would be refused.
    if simulate_into "$run" "${words[@]:1}" --report-interval 1s --server-report-interval 100ms; then
      listed+=("$run")
    else
      say "so there is no run $run"
    fi
  done <"$2"
}

# The last OK/s that a run has written.
latest_ok() {
  { grep -s '"type":"interval"' "$results/$1.client.jsonl" || true; } | tail -n 2 |
    jq -Rr 'fromjson? | .ok | round' | tail -n 1
}

# wait_for_runs NAME...: shows the progress until all clients have ended, then ends the servers. Dies if
# a client failed, with its exit code. Sets $judged to the exit code of --expect: 0, 3 (broken) or 4 (not decided).
wait_for_runs() {
  judged=0
  local names=("$@") begin=$SECONDS said=0 total line name i
  total=$(jq -L "$lib" -rn 'include "runs"; first(inputs) | .duration | seconds | ceil' \
    "$results/$1.client.jsonl" 2>/dev/null) || total=
  while sleep 1 && any_alive "${clients[@]}"; do
    for i in "${servers[@]}"; do
      kill -0 "$i" 2>/dev/null && continue
      tail -n 3 "${server_logs[$i]}" >&2
      die "a server has ended before its clients: ${server_logs[$i]##*/}"
    done
    line="$((SECONDS - begin)) s${total:+ of $total s}, OK/s:"
    for name in "${names[@]}"; do line+=" $name $(latest_ok "$name"),"; done
    if [[ -t 2 ]]; then
      printf '\r\033[K%s' "${line%,}" >&2
    elif ((SECONDS - begin >= said + 10)); then
      said=$((SECONDS - begin))
      say "${line%,}"
    fi
  done
  if [[ -t 2 ]]; then printf '\r\033[K' >&2; fi
  for i in "${!clients[@]}"; do
    local code=0
    wait "${clients[i]}" || code=$?
    case $code in
      0) ;;
      3) judged=3 ;;
      4) if ((judged == 0)); then judged=4; fi ;;
      *)
        cat "$results/${names[i]}.client.log" >&2
        die_as "$code" "the clients of '${names[i]}' failed"
        ;;
    esac
  done
  clients=()
  end_servers
  if [[ -n $ended_badly ]]; then
    tail -n 3 "${server_logs[$ended_badly]}" >&2
    die "a server has failed: ${server_logs[$ended_badly]##*/}"
  fi
}

# judge COMMAND...: a study that may have an --expect. Sets $judged as above; ends the script if it failed.
judge() {
  judged=0
  "$@" || judged=$?
  case $judged in 0 | 3 | 4) ;; *) exit "$judged" ;; esac
}

# any_alive PID...
any_alive() {
  local pid
  for pid in "$@"; do
    if kill -0 "$pid" 2>/dev/null; then return 0; fi
  done
  return 1
}

# --- measuring --------------------------------------------------------------------------------

# cpu_seconds PID: user and system time so far
cpu_seconds() {
  # The fields are counted from the end of the name, which may hold anything.
  sed 's/.*) //' "/proc/$1/stat" | awk -v ticks="$(getconf CLK_TCK)" '{print ($12 + $13) / ticks}'
}

# compute EXPRESSION: prints the value of an awk expression
compute() { awk "BEGIN {print ($1)}"; }

# --- showing ----------------------------------------------------------------------------------

# print_table [TITLE=]NAME...
print_table() {
  local name title width=14
  for name in "$@"; do
    title=${name%=*}
    if ((${#title} > width)); then width=${#title}; fi
  done
  local format="%-${width}s %12s %11s %21s %11s  %s\\n"
  # shellcheck disable=SC2059
  printf "$format" '' 'OK/s before' 'at the end' 'attempts per request' 'back after' ''
  for name in "$@"; do
    title=${name%=*}
    name=${name#*=}
    # shellcheck disable=SC2059
    jq -L "$lib" -nr --arg name "$title" --slurpfile client "$results/$name.client.jsonl" \
      'include "runs"; table_row($name; $client) | .[]' |
      { mapfile -t cells && printf "$format" "${cells[@]}"; }
  done
}

# write_part DOCUMENT NAME: replaces the text between the document's lines <!-- NAME --> and
# <!-- end of NAME --> with standard input
write_part() {
  local document=$1 begin="<!-- $2 -->" end="<!-- end of $2 -->"
  grep -qxF -- "$begin" "$document" && grep -qxF -- "$end" "$document" ||
    die "$document has no lines '$begin' and '$end'"
  awk -v begin="$begin" -v end="$end" '
    NR == FNR { part = part $0 "\n"; next }
    $0 == end { inside = 0 }
    !inside { print }
    $0 == begin { inside = 1; printf "\n%s\n", part }' - "$document" >"$document.new"
  mv "$document.new" "$document"
}

# draw PICTURE SCRIPT DATA_FOLDER [NAME...]: with gnuplot, as PICTURE.png and PICTURE.svg
draw() {
  local picture=$1 script=$2 kind
  shift 2
  for kind in png svg; do
    gnuplot -c "$lib/$script" "$kind" "$picture.$kind" "$@"
    # It does not notice when the disk is full.
    tail -c 20 "$picture.$kind" | grep -qaE 'IEND|</svg>' ||
      die "$picture.$kind is not whole: is there room on the disk?"
  done
}

# draw_runs PICTURE NAME...: runs side by side on the same axes
draw_runs() {
  local picture=$1 part name
  shift
  if [[ -z $scratch ]]; then make_scratch; fi
  for name in "$@"; do
    for part in rates concurrency outage actions_done facts; do
      jq -L "$lib" -nr --arg name "$name" --slurpfile client "$results/$name.client.jsonl" \
        --slurpfile server "$results/$name.server.jsonl" \
        "include \"runs\"; $part(\$client; \$server)" >"$scratch/$name.$part"
    done
  done
  draw "$picture" runs.gp "$scratch" "$*"
}
