#include "model/run/timeline.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <utility>

#include "model/base/text.h"
#include "model/service/picker.h"

namespace retrystorm {
namespace {

// The greatest number of steps of a ramp, and the shortest step. The limits keep down the number of
// messages to a service in another process.
constexpr Duration::rep kMostSteps = 100;
constexpr Duration kShortestStep = std::chrono::milliseconds(100);

// Removes the first word from the text, with the space around it, and returns it.
std::string_view take_word(std::string_view& text) {
  text = trimmed(text);
  const std::string_view word = text.substr(0, text.find_first_of(" \t"));
  text = trimmed(text.substr(word.size()));
  return word;
}

// Calls `take` with each non-empty part of the text between separators. There must be at least one.
template <typename Take>
void each_part(std::string_view text, std::string_view separators, Take take) {
  bool any = false;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find_first_of(separators), rest.size());
    const std::string_view part = trimmed(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (part.empty()) continue;
    take(part);
    any = true;
  }
  if (!any) refuse(in_quotes(text) + " is empty");
}

// The texts of all, as `each_part` reads them.
template <typename Each>
std::string joined(const std::vector<Each>& all, std::string (*print)(const Each&)) {
  std::string text;
  for (const Each& each : all) text.append(text.empty() ? "" : "; ").append(print(each));
  return text;
}

Action capacity(double factor) {
  return {.kind = Action::Kind::kCapacity, .factor = factor};
}

constexpr std::array<std::string_view, 5> kActions{"set", "capacity", "load", "restart",
                                                   "rolling-restart"};

// Removes the name of a service that stands before the action, and returns it.
std::string take_node(std::string_view& text) {
  const auto is_action = [](std::string_view word) {
    return std::find(kActions.begin(), kActions.end(), word) != kActions.end();
  };
  std::string_view rest = text;
  const std::string_view word = take_word(rest);
  std::string_view after = rest;
  if (is_action(word) || !is_action(take_word(after))) return "";
  text = rest;
  return std::string(word);
}

TimedAction parse_timed_action(std::string_view text, Engine engine) {
  std::string_view rest = text;
  const bool has_time = text.find_first_of("0123456789") < text.find_first_of(" \t");
  const Duration t = has_time ? parse_duration(take_word(rest), Duration::zero()) : Duration();
  const std::string node = engine == Engine::kSimulated ? take_node(rest) : std::string();
  if (rest.empty() || !has_time) {
    refuse(in_quotes(text) + " is not TIME ACTION, for example " +
           in_quotes("60s set shed-above=200"));
  }
  const Action action = parse_action(rest, engine == Engine::kSimulated);
  return {.t = t,
          .action = action,
          .announcement = (node.empty() ? "" : node + ' ') + print_action(action),
          .node = node};
}

Fault parse_fault(std::string_view text, Engine engine) {
  std::string_view rest = text;
  const std::string_view when = take_word(rest);
  std::string what(take_word(rest));
  std::string_view of = take_word(rest);
  if (!of.empty() && of != "of") {  // "load 2", as an action has it
    what.append(":").append(of);
    of = take_word(rest);
  }
  const std::size_t dots = when.find(".."), mark = dots == when.npos ? when.find('-') : dots;
  if (mark == when.npos || what.empty() || (!of.empty() && (of != "of" || rest.empty()))) {
    refuse(in_quotes(text) + " is not FROM..TO KIND or FROM..TO KIND of NAME, for example " +
           in_quotes("40s..60s slow:3 of db"));
  }
  const std::string_view to = when.substr(mark + (dots == when.npos ? 1 : 2));
  const Fault fault{.from = parse_duration(when.substr(0, mark), Duration::zero()),
                    .to = parse_duration(to, Duration::zero()),
                    .what = parse_disturbance(what, engine),
                    .node = std::string(rest)};
  if (fault.to <= fault.from) refuse(in_quotes(text) + ": it ends before it begins");
  if (loses_connections(fault.what)) refuse(in_quotes(text) + ": only --outage can be reconnect");
  return fault;
}

// Adds the steps from one capacity to another.
void add_ramp(std::vector<TimedAction>& schedule, Duration from, Duration to, double before,
              double after) {
  const Duration length = to - from;
  const Duration::rep steps = std::clamp<Duration::rep>(length / kShortestStep, 1, kMostSteps);
  for (Duration::rep i = 0; i < steps; ++i) {
    // Each step begins in the middle of the time it approximates.
    const Duration t =
        from + scale(length, (static_cast<double>(i) + 0.5) / static_cast<double>(steps));
    const double share = static_cast<double>(i + 1) / static_cast<double>(steps);
    schedule.push_back({.t = t, .action = capacity(before + (after - before) * share)});
  }
  // The ramp is announced with its first step, which begins half a step late.
  TimedAction& first = schedule[schedule.size() - static_cast<std::size_t>(steps)];
  first.announcement = "capacity " + print_number(before) + ".." + print_number(after) + " until " +
                       format_duration(to);
}

void add_to_schedule(TimelineOptions& timeline, std::string_view part, Duration& last,
                     double& in_force) {
  std::string_view rest = part;
  const std::string_view when = take_word(rest);
  if (rest.empty()) refuse(in_quotes(part) + " is not TIME FACTOR or FROM..TO FACTOR");
  const double factor = parse_factor(rest, kLeastFactor, kMostFactor);
  const std::size_t dots = when.find("..");
  const Duration from = parse_duration(when.substr(0, dots), Duration::zero());
  const Duration to =
      dots == when.npos ? from : parse_duration(when.substr(dots + 2), Duration::zero());
  if (from < last || to < from) {
    refuse("a schedule cannot go back in time: " + format_duration(to < from ? to : from) +
           " comes after " + format_duration(to < from ? from : last));
  }
  if (to == from) {
    const Action action = capacity(factor);
    timeline.capacity.push_back(
        {.t = from, .action = action, .announcement = print_action(action)});
  } else {
    add_ramp(timeline.capacity, from, to, in_force, factor);
  }
  std::string& text = timeline.capacity_text;
  text.append(text.empty() ? "" : "; ").append(format_duration(from));
  if (to != from) text.append("..").append(format_duration(to));
  text.append(" ").append(print_number(factor));
  last = to;
  in_force = factor;
}

void set_capacity(TimelineOptions& timeline, std::string_view text) {
  TimelineOptions read;
  Duration last{0};
  double in_force = 1;
  each_part(text, ",;",
            [&](std::string_view part) { add_to_schedule(read, part, last, in_force); });
  timeline.capacity = std::move(read.capacity);
  timeline.capacity_text = std::move(read.capacity_text);
}

}  // namespace

Lasting what_lasts(const Action& action) {
  switch (action.kind) {
    case Action::Kind::kSet:
      return Lasting::kSetting;
    case Action::Kind::kCapacity:
      return action.factor < 1 ? Lasting::kLess : Lasting::kAllOfIt;
    case Action::Kind::kLoad:
      return action.factor > 1 ? Lasting::kLoad : Lasting::kNothing;
    case Action::Kind::kRestart:
      break;
  }
  return Lasting::kNothing;
}

namespace {

// "host 2" or "2 hosts".
RestartedHosts parse_restarted(std::string_view text) {
  std::string_view rest = text;
  const std::string_view first = take_word(rest);
  const bool one = first == "host";
  if (!one && rest != "hosts" && rest != "host") {
    refuse(in_quotes("restart " + std::string(text)) +
           ": write restart, restart host 2 or restart 2 hosts");
  }
  const std::size_t number = parse_count(one ? rest : first, 1, HostSettings::kMostHosts);
  return {.first = one ? number : 1, .last = number};
}

}  // namespace

Action parse_action(std::string_view text, bool hosts) {
  std::string_view rest = text;
  const std::string_view word = take_word(rest);
  if (word == "set") {
    const std::size_t equals = rest.find('=');
    if (equals == 0 || equals == rest.npos) refuse(in_quotes(text) + ": write set NAME=VALUE");
    return {.kind = Action::Kind::kSet,
            .option = std::string(rest.substr(0, equals)),
            .value = std::string(rest.substr(equals + 1))};
  }
  if (word == "restart") {
    if (rest.empty()) return {.kind = Action::Kind::kRestart};
    if (!hosts) refuse(in_quotes(text) + ": restart takes no value");
    return {.kind = Action::Kind::kRestart, .hosts = parse_restarted(rest)};
  }
  if (hosts && word == "rolling-restart") {
    if (!rest.empty()) refuse(in_quotes(text) + ": rolling-restart takes no value");
    return {.kind = Action::Kind::kRestart, .hosts = {.rolling = true}};
  }
  if (word == "capacity" || word == "load") {
    return {.kind = word == "load" ? Action::Kind::kLoad : Action::Kind::kCapacity,
            .factor = parse_factor(rest, kLeastFactor, kMostFactor)};
  }
  refuse(unknown_name(word, {kActions.begin(), kActions.end() - (hosts ? 0 : 1)}));
}

std::string print_action(const Action& action) {
  switch (action.kind) {
    case Action::Kind::kSet:
      return "set " + action.option + '=' + action.value;
    case Action::Kind::kCapacity:
      return "capacity " + print_number(action.factor);
    case Action::Kind::kLoad:
      return "load " + print_number(action.factor);
    case Action::Kind::kRestart:
      break;
  }
  const auto& [first, last, rolling] = action.hosts;
  if (rolling) return "rolling-restart";
  if (last == 0) return "restart";
  const std::string number = std::to_string(last);
  return first == last ? "restart host " + number : "restart " + number + " hosts";
}

std::string print_timed(const TimedAction& action) {
  const std::string node = action.node.empty() ? "" : action.node + ' ';
  return format_duration(action.t) + ' ' + node + print_action(action.action);
}

std::string print_fault(const Fault& fault) {
  return format_duration(fault.from) + '-' + format_duration(fault.to) + ' ' +
         print_disturbance(fault.what) + (fault.node.empty() ? "" : " of " + fault.node);
}

void declare_options(OptionList& options, TimelineOptions& timeline, Engine engine) {
  const bool real = engine == Engine::kReal;
  options
      .text(
          "outage",
          std::string(
              "what happens to the service: freeze, drop (every connection is reset, new ones "
              "are refused), slow:F (F times as long), errors:SHARE[:STATUS], capacity:F (F of its "
              "workers), throttle:R (R requests a second), load:F (F times as many), reconnect "
              "(clients lose theirs)") +
              (real ? ", command" : ""),
          [&timeline, engine](std::string_view text) {
            timeline.outage = parse_disturbance(text, engine);
          },
          [&timeline] { return print_disturbance(timeline.outage); })
      .with_examples({"freeze", "drop", "slow:3", "slow:20", "errors:0.5", "capacity:0.3",
                      "throttle:20", "load:3", "reconnect"})
      .basic = real ? "Outage" : "Run";
  // Those of --at: the faults are beside those of --fault, the ramps are instead of --capacity.
  const auto at_faults = std::make_shared<std::vector<Fault>>();
  const auto at_ramps = std::make_shared<std::string>();
  Option& at =
      options
          .text(
              "at",
              std::string("'TIME ACTION', an action during the run: set NAME=VALUE (an "
                          "option of the service), capacity F, load F, restart; "
                          "'FROM..TO capacity F' is a ramp; ") +
                  (real
                       ? ""
                       : "with --replicas also restart host N, restart N hosts, rolling-restart; with --chain also 'TIME NAME ACTION'; 'FROM..TO KIND' (or KIND of NAME), a "
                         "disturbance besides --outage, of the same kinds, such as slow:5; ") +
                  "may be repeated",
              [&timeline, engine, at_faults, at_ramps](std::string_view text) {
                std::vector<TimedAction> read;
                std::vector<Fault> faults;
                std::string ramps;
                each_part(text, ";", [&](std::string_view part) {
                  std::string_view rest = part;
                  const std::string_view when = take_word(rest);
                  const bool lasts = when.find("..") != when.npos;
                  if (lasts && take_word(rest) == "capacity") {
                    ramps.append(when).append(" ").append(rest) += ';';
                  } else if (lasts && engine == Engine::kSimulated) {
                    faults.push_back(parse_fault(part, engine));
                  } else {
                    read.push_back(parse_timed_action(part, engine));
                  }
                });
                if (!ramps.empty()) set_capacity(timeline, ramps);
                *at_ramps = std::move(ramps);
                if (!faults.empty() || !at_faults->empty()) timeline.faults = faults;
                *at_faults = std::move(faults);
                timeline.at = std::move(read);
              },
              [&timeline] { return joined(timeline.at, print_timed); })
          .with_examples({"60s set shed-above=200", "60s set rate-limit=100", "60s restart",
                          "60s load 0.5", "60s capacity 2"});
  at.separator = ';';
  if (!real) {
    Option& fault =
        options
            .text(
                "fault",
                "'FROM-TO KIND' or with --chain 'FROM-TO KIND of NAME': a disturbance besides --outage, of the same "
                "kinds; may be repeated, and they may overlap: factors multiply, errors are independent, the least "
                "throttle holds. The verdict is about the outage",
                [&timeline, engine, at_faults](std::string_view text) {
                  std::vector<Fault> read = *at_faults;
                  each_part(text, ";", [&](std::string_view part) {
                    read.push_back(parse_fault(part, engine));
                  });
                  timeline.faults = std::move(read);
                },
                [&timeline] { return joined(timeline.faults, print_fault); })
            .with_examples({"40s-60s slow:3", "35s-45s errors:0.5"});
    fault.separator = ';';
  }
  Option& schedule = options
                         .text(
                             "capacity",
                             "the service's capacity over time, in steps and ramps, as multiples "
                             "of the configured one: '0s 1; 60s 0.3; 90s..150s 1'",
                             [&timeline, at_ramps](std::string_view text) {
                               if (!at_ramps->empty())
                                 refuse("--at has a ramp of it: give one of them");
                               set_capacity(timeline, text);
                             },
                             [&timeline] { return timeline.capacity_text; })
                         .with_examples({"50s 0.3; 60s..90s 1"});
  schedule.separator = ';';
}

void find_unused_load(UnusedOptions& unused, const TimelineOptions& timeline,
                      const std::string& why) {
  if (timeline.outage.kind == Disturbance::Kind::kLoad) {
    unused.emplace("outage",
                   "outage " + print_disturbance(timeline.outage) + " has no effect " + why);
  }
  for (const TimedAction& each : timeline.at) {
    if (is_of_service(each.action)) continue;
    unused.emplace("at", "at " + in_quotes(print_timed(each)) + " has no effect " + why);
  }
}

void find_unused_disturbances(UnusedOptions& unused, const TimelineOptions& timeline,
                              bool has_outage) {
  const auto add = [&](const char* name, const std::string& text, const Disturbance& what) {
    if (!does_nothing(what)) return;
    unused.emplace(name, name + (' ' + text) + " has no effect: it leaves all as it is");
  };
  if (has_outage) add("outage", print_disturbance(timeline.outage), timeline.outage);
  for (const Fault& each : timeline.faults) add("fault", in_quotes(print_fault(each)), each.what);
}

void find_unused_after(UnusedOptions& unused, const TimelineOptions& timeline, Duration end,
                       const std::string& set_by) {
  const auto add = [&](const char* name, const std::string& what, Duration from) {
    if (from < end) return;
    unused.emplace(name, name + (' ' + in_quotes(what)) + " has no effect: the run ends after " +
                             format_duration(end) + " (" + set_by + ')');
  };
  for (const TimedAction& each : timeline.at) add("at", print_timed(each), each.t);
  for (const Fault& each : timeline.faults) add("fault", print_fault(each), each.from);
  // A ramp may go on beyond the end.
  const auto next = std::find_if(timeline.capacity.begin(), timeline.capacity.end(),
                                 [](const TimedAction& each) { return each.t > Duration::zero(); });
  if (next != timeline.capacity.end()) add("capacity", timeline.capacity_text, next->t);
}

std::vector<TimedAction> actions(const TimelineOptions& timeline) {
  std::vector<TimedAction> all = timeline.capacity;
  all.insert(all.end(), timeline.at.begin(), timeline.at.end());
  std::stable_sort(all.begin(), all.end(),
                   [](const TimedAction& a, const TimedAction& b) { return a.t < b.t; });
  return all;
}

bool acts_on_service(const TimelineOptions& timeline) {
  const std::vector<TimedAction> all = actions(timeline);
  const auto is_one = [](const TimedAction& each) { return is_of_service(each.action); };
  return std::any_of(all.begin(), all.end(), is_one);
}

}  // namespace retrystorm
