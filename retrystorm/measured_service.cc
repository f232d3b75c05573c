#include "retrystorm/measured_service.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "common/output/json_text.h"
#include "common/output/style.h"
#include "model/base/text.h"
#include "policies/policy.h"
#include "policies/tree.h"
#include "retrystorm/known_service.h"
#include "words/words.h"

namespace retrystorm {
namespace {

constexpr double kPoorFit = 0.1, kNoFit = 0.25;
constexpr double kSeen = 1.2;  // the slowest answers by those without other load

Duration time_of(double seconds) {
  return from_seconds(to_digits(seconds, 4));
}

std::string span_words(double value, const FitRange& span) {
  return number_words(value) + " (" + number_words(span.low) + " to " + number_words(span.high) +
         ")";
}

bool of_workers(const MeasuredService& measured) {
  return measured.fit->model.kind == ServiceModel::Kind::kWorkers;
}

// Where it turns requests away before it becomes slower, as many are served as are let in.
double workers_of(const MeasuredService& measured) {
  const double workers = measured.fit->model.workers;
  return workers > 0 ? workers : measured.most_inside;
}

// What was answered a second, on average, while all workers were busy. What passes outside of the workers makes the
// fitted time longer and that of the fitted capacity too small.
std::optional<double> rate_of_busy(const MeasuredService& measured) {
  double sum = 0, count = 0;
  for (const LoadStep& each : measured.steps) {
    if (!of_workers(measured) || each.clients <= 1.25 * workers_of(measured)) continue;
    sum += each.clients / each.time;
    ++count;
  }
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

// The step with the fewest requests in it.
const LoadStep& one_client(const MeasuredService& measured) {
  return *std::ranges::min_element(measured.steps, {}, &LoadStep::clients);
}

// The law of the times of one client. An exponential one has a CV of 1, and a median of ln 2 of its mean.
std::string law_of(const LoadStep& one) {
  constexpr double kFixed = 0.05, kAlike = 0.15;
  if (one.variation < kFixed) return "fixed:";
  const bool exponential = std::fabs(one.variation - 1) < kAlike &&
                           std::fabs(one.p50 / (std::log(2) * one.time) - 1) < kAlike;
  return exponential ? "exponential:" : "lognormal:";
}

// How many are served before older ones: 0 if not known, or hardly any. With three times as many requests as workers
// none takes half the mean time if each waits its turn, and service times hardly differ.
double unfair_share(const MeasuredService& measured) {
  constexpr double kTimes = 2.9, kMostVariation = 0.3, kLeast = 0.05;
  const LoadStep& most = *std::ranges::max_element(measured.steps, {}, &LoadStep::clients);
  const bool known = of_workers(measured) && measured.fit->model.workers > 0 &&
                     most.clients >= kTimes * measured.fit->model.workers &&
                     one_client(measured).variation <= kMostVariation && most.quick >= kLeast;
  return known ? to_digits(most.quick, 2) : 0;
}

void judge_accepts(MeasuredService& measured) {
  if (!measured.accepts.empty() || !of_workers(measured)) return;
  // It accepts what it turns away.
  if (measured.rejects) measured.accepts = "all";
  if (measured.fit->model.workers == 0) return;
  const double workers = measured.fit->model.workers;
  for (const auto& [clients, queued] : measured.queued) {
    const double beyond = static_cast<double>(clients) - workers;
    if (beyond < workers || beyond < 2) continue;
    if (queued > 0.5 * beyond) {
      measured.accepts = "when-free";
    } else if (queued < 0.1 * beyond) {
      measured.accepts = "all";
    }
  }
}

Statement rejects_of(const MeasuredService& measured) {
  Statement rejects = *measured.rejects;
  rejects.values.push_back({"most", measured.most_inside});
  return rejects;
}

}  // namespace

void judge(MeasuredService& measured) {
  const auto find = [&measured](Statement what) { measured.findings.push_back(std::move(what)); };
  if (measured.stopped) {
    measured.headline = *measured.stopped;
    if (!measured.steps.empty()) {
      const LoadStep& last = measured.steps.back();
      find({"measure-so-far",
            {{"clients", last.clients},
             {"rate", number_words(last.rate)},
             {"time", time_of(last.time)}}});
    }
    return;
  }
  if (!measured.fit) {
    measured.headline = {"measure-few-steps", {counted("steps", measured.steps.size())}};
    if (measured.rejects) find(rejects_of(measured));
    return;
  }
  FittedService& fit = *measured.fit;
  const double clients = most_clients(measured.steps);
  // A limit that hardly slowed anything was not seen: what a curve says far beyond it would be invented.
  if (fit.model.time_at(clients) < kSeen * fit.model.time) fit.model = {.time = fit.model.time};
  const double workers = workers_of(measured);
  const bool endless = of_workers(measured) ? workers == 0 : !(fit.model.growth > 0);
  const double least = one_client(measured).clients;
  // With as many requests in it as come, below the limit and above it look alike.
  if (!endless && of_workers(measured) && least > 1 && fit.model.workers > 0 &&
      fit.model.workers <= least) {
    measured.headline = {"measure-all-above", {{"clients", least}}};
    return;
  }
  if (endless) {
    double best = 0;
    for (const LoadStep& each : measured.steps) best = std::max(best, each.rate);
    const bool failed = measured.enough && (measured.enough->id == "measure-backlog" ||
                                            measured.enough->id == "measure-no-answers");
    if (failed) find(*measured.enough);
    measured.headline = {
        failed ? "measure-no-knee-seen" : "measure-no-knee",
        {{"clients", clients}, {"rate", number_words(best)}, {"time", time_of(fit.model.time)}}};
    return;
  }
  if (fit.error > kNoFit) {
    measured.headline = {"measure-no-model",
                         {{"error", ShareOf{fit.error}}, {"other", ShareOf{fit.other_error}}}};
    return;
  }
  measured.known = true;
  judge_accepts(measured);
  if (of_workers(measured)) {
    measured.headline = {"measure-workers",
                         {{"workers", workers},
                          {"time", time_of(fit.model.time)},
                          {"rate", number_words(workers / fit.model.time)}}};
  } else {
    measured.headline = {"measure-curve",
                         {{"time", time_of(fit.model.time)},
                          {"limit", fit.model.limit},
                          {"rate", number_words(fit.model.capacity())},
                          {"clients", std::round(fit.model.best_concurrency())}}};
  }
  if (fit.error > kPoorFit) {
    measured.doubts.push_back({"measure-poor-fit", {{"error", ShareOf{fit.error}}}});
  }
  if (measured.serves_abandoned) {
    find({*measured.serves_abandoned ? "measure-serves-the-dead" : "measure-notices", {}});
  } else {
    measured.doubts.push_back({"measure-abandoned-unknown", {}});
  }
  if (!measured.accepts.empty()) {
    find({measured.accepts == "all" ? "measure-accepts-all" : "measure-accepts-when-free", {}});
  } else if (of_workers(measured)) {
    measured.doubts.push_back({"measure-accepts-unknown", {}});
  }
  if (measured.backlog > 0) find({"measure-listens", {counted("backlog", measured.backlog)}});
  if (const double share = unfair_share(measured); share > 0) {
    find({"measure-unfair", {{"share", ShareOf{share}}}});
  }
  if (measured.rejects) find(rejects_of(measured));
}

NamedOptions settings_of(const MeasuredService& measured) {
  const ServiceModel& model = measured.fit->model;
  NamedOptions settings;
  const std::string time = format_duration(time_of(model.time));
  if (of_workers(measured)) {
    const double workers = workers_of(measured);
    settings["service"] = "workers";
    settings["workers"] = print_number(workers);
    settings["service-time"] = law_of(one_client(measured)) + time;
    if (settings["service-time"].starts_with("lognormal")) {
      settings["service-time"] += ':' + print_spread(to_digits(one_client(measured).variation, 2));
    }
    if (measured.rejects) {
      settings["queue-length"] = print_number(std::max(0.0, measured.most_inside - workers));
    }
    if (!measured.accepts.empty()) settings["accepts"] = measured.accepts;
    if (const double share = unfair_share(measured); share > 0) {
      settings["queue-order"] = "unfair:" + print_number(share);
    }
  } else {
    settings["service"] = "curve";
    settings["base-delay"] = time;
    settings["limit"] = print_number(model.limit);
    settings["curve-factor"] = "2";
    settings["k"] = print_number(to_digits(std::log(2) / model.growth, 4));
  }
  const FitRange& capacity = measured.fit->capacity;
  const double known = measured.fit->model.capacity();
  // Beyond the knee a time that is off by a share says so of the capacity.
  const double within =
      std::max({measured.fit->error, capacity.high / known - 1, 1 - capacity.low / known,
                std::abs(rate_of_busy(measured).value_or(known) / known - 1)});
  if (std::isfinite(known) && within >= 0.005) {
    settings["capacity-within"] = print_number(std::min(to_digits(within, 2), 0.5));
  }
  if (measured.backlog > 0) settings["backlog"] = std::to_string(measured.backlog);
  if (measured.serves_abandoned) {
    settings["abandoned"] = *measured.serves_abandoned ? "serve" : "skip";
  }
  if (measured.timeout > Duration::zero()) settings["timeout"] = format_duration(measured.timeout);
  if (measured.keeps_connections) settings["connections"] = "keep-alive";
  return settings;
}

std::string settings_text(const MeasuredService& measured) {
  const FittedService& fit = *measured.fit;
  const ServiceModel& model = fit.model;
  std::string text;
  const auto say = [&text](const Statement& what) {
    const std::string words = words_of(what);
    for (const std::string_view line : split(words, '\n')) text.append("# ").append(line) += '\n';
  };
  const double most = most_clients(measured.steps);
  double answers = 0;
  for (const LoadStep& each : measured.steps) answers += static_cast<double>(each.answers);
  say({"measured-title",
       {{"by", words_of("measured-by")},
        {"what", printable(measured.url)},
        counted("steps", measured.steps.size()),
        {"clients", std::round(most)},
        {"answers", answers}}});
  say({of_workers(measured) ? "measured-workers" : "measured-curve",
       {{"time", time_of(model.time)},
        {"time_span",
         time_words(time_of(fit.time.low)) + " to " + time_words(time_of(fit.time.high))},
        {"variation", number_words(one_client(measured).variation)},
        {"workers", span_words(workers_of(measured), fit.workers)},
        {"limit", span_words(model.limit, fit.limit)},
        {"rate", span_words(model.capacity(), fit.capacity)},
        {"error", ShareOf{fit.error}},
        {"other", ShareOf{fit.other_error}}}});
  if (measured.enough) {
    say(*measured.enough);
    if (!of_workers(measured)) say({"measured-beyond", {{"clients", most}}});
  }
  if (measured.serves_abandoned) say({"measured-abandoned", {{"clients", measured.hung_up}}});
  for (const Statement& each : measured.doubts) say(each);
  if (measured.kept_for) {
    say({"measured-idle", {{"time", *measured.kept_for}}});
  } else if (measured.kept_at_least) {
    say({"measured-kept", {{"time", *measured.kept_at_least}}});
  }
  const NamedOptions settings = settings_of(measured);
  text += "service = " + settings.at("service") + '\n';
  for (const auto& [name, value] : settings) {
    if (name != "service") text.append(name).append(" = ").append(value) += '\n';
  }
  return text + "# " + words_of("measured-not");
}

namespace {

constexpr std::array<std::string_view, 8> kColumns{"clients",     "ok_per_second", "mean_seconds",
                                                   "p50_seconds", "p95_seconds",   "cv",
                                                   "answers",     "error_share"};

// A request in somebody's file.
struct Recorded {
  double begin = 0, took = 0;  // seconds
  bool ok = false;
  double end() const { return begin + took; }
};

std::vector<LoadStep> steps_of(std::vector<Recorded> all) {
  constexpr std::size_t kWindows = 20, kLeast = 20;
  if (all.size() < kWindows * kLeast) {
    throw BadFile("it has " + std::to_string(all.size()) + " answers: at least 400 are needed");
  }
  double from = std::numeric_limits<double>::infinity(), until = -from;
  for (const Recorded& each : all) {
    from = std::min(from, each.begin);
    until = std::max(until, each.end());
  }
  const double window = (until - from) / static_cast<double>(kWindows);
  struct Sum {
    double inside = 0;
    std::vector<double> times;
    std::size_t failed = 0;
  };
  std::array<Sum, kWindows> sums;
  const auto window_of = [&](double t) {
    return std::min(static_cast<std::size_t>(std::max(0.0, (t - from) / window)), kWindows - 1);
  };
  for (const Recorded& each : all) {
    // How much of it is in each window: the mean concurrency.
    for (std::size_t i = window_of(each.begin); i <= window_of(each.end()); ++i) {
      const double low = from + static_cast<double>(i) * window;
      sums[i].inside +=
          std::max(0.0, std::min(each.end(), low + window) - std::max(each.begin, low));
    }
    Sum& sum = sums[window_of(each.end())];
    if (each.ok) {
      sum.times.push_back(each.took);
    } else {
      ++sum.failed;
    }
  }
  std::vector<LoadStep> steps;
  // The first and the last window are not full.
  for (std::size_t i = 1; i + 1 < kWindows; ++i) {
    Sum& sum = sums[i];
    if (sum.times.size() < kLeast) continue;
    steps.push_back(
        step_of(std::max(1.0, sum.inside / window), std::move(sum.times), sum.failed, window));
  }
  return steps;
}

// Seconds since the epoch of "2026-11-29T01:02:03.123456789Z"; of another zone's time "+01:00".
std::optional<double> time_stamp(std::string text) {
  constexpr std::size_t kSeconds = 19;  // so long without a fraction
  const std::size_t zone = text.find_first_of("Z+-", std::min(kSeconds, text.size()));
  if (zone == text.npos) return std::nullopt;
  const auto fraction =
      zone > kSeconds ? finite_number("0" + text.substr(kSeconds, zone - kSeconds)) : 0.0;
  std::tm time{};
  const char* const end =
      strptime(text.erase(kSeconds, zone - kSeconds).c_str(), "%Y-%m-%dT%H:%M:%S%z", &time);
  if (!fraction || end == nullptr || *end != '\0') return std::nullopt;
  const long offset = time.tm_gmtoff;
  return static_cast<double>(timegm(&time) - offset) + *fraction;
}

// Calls `take` with the JSON of each line, which returns a request if the line has one.
template <typename Take>
std::vector<Recorded> recorded(std::string_view text, Take take) {
  std::vector<Recorded> all;
  each_line(text, [&](std::string_view line, std::size_t number) {
    if (trimmed(line).empty()) return;
    const auto json = nlohmann::json::parse(line, nullptr, false);
    const auto refuse = [number](const std::string& what) {
      throw BadFile("line " + std::to_string(number) + ": " + what);
    };
    if (!json.is_object()) refuse("not a JSON object");
    try {
      if (const auto one = take(json)) all.push_back(*one);
    } catch (const nlohmann::json::exception&) {
      refuse("not such a line");
    }
    if (!all.empty() && !(all.back().took > 0)) refuse("a time that is not above zero");
  });
  return all;
}

double stamp_in(const nlohmann::json& json, const char* name) {
  const auto stamp = time_stamp(json.at(name).get<std::string>());
  if (!stamp) throw BadFile(printable(json.at(name).get<std::string>()) + " is no time stamp");
  return *stamp;
}

}  // namespace

Json measured_json(const MeasuredService& measured) {
  Json json{{"type", "measured"}, {"known", measured.known}};
  json["answer"] = statement_json(measured.headline);
  json["findings"] = statements_json(measured.findings);
  json["doubts"] = statements_json(measured.doubts);
  json["steps"] = Json::array();
  for (const LoadStep& each : measured.steps) {
    json["steps"].push_back({{"clients", each.clients},
                             {"ok_per_second", each.rate},
                             {"mean_seconds", each.time},
                             {"p50_seconds", each.p50},
                             {"p95_seconds", each.p95},
                             {"cv", each.variation},
                             {"answers", each.answers}});
  }
  if (measured.known) json["settings"] = settings_of(measured);
  return json;
}

std::string steps_table(const std::vector<LoadStep>& steps) {
  std::string text;
  for (const std::string_view each : kColumns) text.append(text.empty() ? "" : ",").append(each);
  for (const LoadStep& each : steps) {
    text += '\n' + print_number(each.clients);
    for (const double value : {each.rate, each.time, each.p50, each.p95, each.variation,
                               static_cast<double>(each.answers), each.errors}) {
      text += ',' + print_number(to_digits(value, 6));
    }
  }
  return text;
}

std::vector<LoadStep> steps_of_table(std::string_view text) {
  std::vector<LoadStep> steps;
  std::array<std::optional<std::size_t>, kColumns.size()> at;
  bool head = true;
  each_line(text, [&](std::string_view line, std::size_t number) {
    if (trimmed(line).empty() || line.front() == '#') return;
    const auto cells = split(line, ',');
    if (head) {
      head = false;
      for (std::size_t i = 0; i < kColumns.size(); ++i) {
        for (std::size_t j = 0; j < cells.size(); ++j) {
          if (trimmed(cells[j]) == kColumns[i]) at[i] = j;
        }
        if (i < 3 && !at[i]) throw BadFile("its first line has no column " + shown(kColumns[i]));
      }
      return;
    }
    // Without a CV and a number: the usual ones.
    std::array<double, kColumns.size()> values{0, 0, 0, 0, 0, 0.5, 1'000, 0};
    for (std::size_t i = 0; i < kColumns.size(); ++i) {
      if (!at[i]) continue;
      const auto value =
          *at[i] < cells.size() ? finite_number(trimmed(cells[*at[i]])) : std::nullopt;
      if (!value || *value < 0 || (i < 3 && *value == 0)) {
        throw BadFile("line " + std::to_string(number) + ": " + std::string(kColumns[i]) +
                      " must be a number above zero");
      }
      values[i] = *value;
    }
    constexpr std::size_t kMostSteps = 100;
    if (steps.size() == kMostSteps) throw BadFile("more than 100 steps");
    if (values[0] > 10'000)
      throw BadFile("line " + std::to_string(number) + ": more than 10000 clients");
    steps.push_back({.clients = values[0],
                     .rate = values[1],
                     .time = values[2],
                     .p50 = values[3],
                     .p95 = values[4],
                     .variation = values[5],
                     .answers = static_cast<std::size_t>(values[6]),
                     .errors = values[7]});
  });
  return steps;
}

std::vector<LoadStep> steps_of_k6(std::string_view text) {
  return steps_of(recorded(text, [](const nlohmann::json& json) -> std::optional<Recorded> {
    if (json.value("metric", "") != "http_req_duration" || json.value("type", "") != "Point") {
      return std::nullopt;
    }
    const nlohmann::json& data = json.at("data");
    const double took = data.at("value").get<double>() / 1'000;
    const std::string status = data.at("tags").value("status", "");
    return Recorded{stamp_in(data, "time") - took, took,  // k6 stamps the end
                    !status.empty() && status.front() == '2'};
  }));
}

std::vector<LoadStep> steps_of_vegeta(std::string_view text) {
  return steps_of(recorded(text, [](const nlohmann::json& json) -> std::optional<Recorded> {
    const double begin = stamp_in(json, "timestamp");
    const int code = json.at("code").get<int>();
    return Recorded{begin, json.at("latency").get<double>() / 1e9, code >= 200 && code < 300};
  }));
}

}  // namespace retrystorm
