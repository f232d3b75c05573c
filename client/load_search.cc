#include "client/load_search.h"

#include <unistd.h>

#include <algorithm>
#include <deque>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "common/output/answer.h"
#include "common/output/expectation.h"
#include "common/output/json_text.h"
#include "model/base/text.h"
#include "study/limit_value.h"
#include "words/words.h"

namespace retrystorm {
namespace {

using namespace std::chrono_literals;

// The rules of `retrystorm measure`, as far as the claims are not about the same.
constexpr double kMostErrors = 0.01;       // of the attempts of five intervals of a second
constexpr std::uint64_t kLeastErrors = 3;  // one failure in a hundred answers is chance
constexpr std::size_t kErrorIntervals = 5;
constexpr double kCalm = 1.5;  // the time of a single answer by that before the search
// A claim that is broken by chance is not broken again and again.
constexpr std::size_t kAgree = 2;  // runs, unless the first one holds

// Do failures end a run? Not where they are what is asked about, or are made.
bool errors_stop(const ClientOptions& options) {
  return !options.outage_at &&
         std::ranges::none_of(options.expectations, [](const Expectation& each) {
           constexpr const char* kOfFailures[] = {"success", "error", "timeout", "gave"};
           return each.verdict || std::ranges::any_of(kOfFailures, [&each](const char* name) {
                    return each.figure.find(name) != std::string::npos;
                  });
         });
}

// Judges a run, and sees when it must end.
class RunWatch final : public RunObserver {
 public:
  RunWatch(const LoadSearchPlan& plan, const LoadRequest* health, std::ostream& out)
      : options_(plan.options), health_(health), judge_(options_.expectations, out, plan.json) {}

  void on_interval(const RunInterval& interval) override {
    totals_.push_back(interval.totals);
    if (totals_.size() > kErrorIntervals + 1) totals_.pop_front();
    const auto attempts = totals_.back().finished() - totals_.front().finished();
    const auto failed = attempts - (totals_.back().ok - totals_.front().ok);
    const double share =
        static_cast<double>(failed) / static_cast<double>(std::max<std::uint64_t>(attempts, 1));
    if (errors_stop_ && failed >= kLeastErrors && share > kMostErrors) {
      errors_ = Statement{"search-errors", {{"share", ShareOf{share}}}};
    }
    if (health_ != nullptr && ask(*health_).status != 200) unhealthy_ = true;
  }
  void on_summary(const Summary& summary) override { judge_.on_summary(summary); }

  bool must_end() const { return errors_ || unhealthy_; }
  const std::optional<Statement>& errors() const { return errors_; }
  bool unhealthy() const { return unhealthy_; }
  const std::vector<Judgement>& judgements() const { return judge_.judgements(); }
  bool holds() const { return !errors_ && judge_.exit_code() == kExitHolds; }

 private:
  const ClientOptions& options_;
  const LoadRequest* const health_;
  const bool errors_stop_ = errors_stop(options_);
  RunJudge judge_;
  std::deque<Counts> totals_{Counts()};
  std::optional<Statement> errors_;
  bool unhealthy_ = false;
};

class LoadSearch {
 public:
  explicit LoadSearch(const LoadSearchPlan& plan)
      : plan_(plan),
        options_(plan.options),
        least_(!options_.least.empty()),
        text_(least_ ? options_.least : options_.most),
        style_(style_of(STDOUT_FILENO, options_.look.color)),
        load_{.request = plan.request, .timeout = options_.workload.timeout},
        health_(health_request(options_.health_url, options_.request, options_.workload.timeout)) {
    check_consent(plan.request.url, options_.consent);
    any_ = options_.workload;
    declare_options(list_, any_);
    try {
      scale_ = parse_scale(list_, text_);
    } catch (const std::invalid_argument& error) {
      refuse(std::string(least_ ? "--least: " : "--most: ") + error.what());
    }
    // Whatever cannot be run is said before anything is sent.
    for (const std::string& end : {scale_.values.front(), scale_.values.back()}) options_with(end);
  }

  ExitCode run() {
    if (const auto time = calm_time(load_)) {
      calm_ = *time;
    } else {
      throw std::runtime_error("the service does not answer as it should before the search");
    }
    const auto limit = find_limit(
        scale_, least_, [this](const std::string& value) { return judged(value); },
        SearchWay::kRising);
    if (!limit) {
      print_headline(std::cout, {Tone::kDoubt, stopped_}, style_);
      return kExitFault;
    }
    const LimitQuestion question{*list_.find(scale_.name), text_, least_, options_.expectations};
    print_headline(std::cout, answer_of(*limit, question), style_);
    print_dim(std::cout,
              words_of({"below-load-search",
                        {counted("values", limit->values),
                         counted("runs", limit->runs),
                         {"time", *options_.duration}}}),
              style_);
    plan_.json.write(limit_json(*limit, question, Json::object()));
    return limit->found ? kExitHolds : exit_code_of({limit->beside->finding()});
  }

 private:
  ClientOptions options_with(const std::string& value) const {
    ClientOptions with = options_;
    OptionList list;
    declare_options(list, with.workload);
    list.set(scale_.name, value);
    check(with);
    fit_descriptors(with, raise_descriptor_limit());
    return with;
  }

  std::optional<TriedValue> judged(const std::string& value) {
    const ClientOptions with = options_with(value);
    Json values = plan_.values;
    const auto number = Json::parse(value, nullptr, false);
    values[underscored(scale_.name)] = number.is_number() ? number : Json(value);
    TriedValue tried{.value = value, .judgements = {}};
    std::size_t holds = 0;
    std::optional<Statement> errors;
    while (holds < kAgree && tried.runs - holds < kAgree && !errors) {
      if (!wait_until_calm()) return std::nullopt;
      std::ostream none(nullptr);
      RunWatch watch(plan_, health_ ? &*health_ : nullptr, none);
      plan_.run(with, values, options_.look.verbose ? std::cout : none, watch,
                [&watch] { return watch.must_end(); });
      if (plan_.signals.wait_until(Clock::now())) return stop({"measure-interrupted", {}});
      if (watch.unhealthy()) return stop({"measure-unhealthy", {{"url", options_.health_url}}});
      tried.judgements = watch.judgements();
      errors = watch.errors();
      ++tried.runs;
      if (watch.holds()) ++holds;
      if (holds == 1 && tried.runs == 1) break;
    }
    if (errors) tried.judgements.front().finding = Finding::kBroken;
    tell(tried, errors);
    return tried;
  }

  void tell(const TriedValue& tried, const std::optional<Statement>& errors) const {
    const std::string row = scale_.name + '=' + tried.value;
    if (errors) {
      print_headline(std::cout,
                     {Tone::kBad, {"of-policy", {{"policy", row}, {"answer", words_of(*errors)}}}},
                     style_);
      return;
    }
    for (std::size_t i = 0; i < tried.judgements.size(); ++i) {
      print_headline(std::cout, answer_of(options_.expectations[i], tried.judgements[i], row),
                     style_);
    }
    std::cout << std::flush;
  }

  std::optional<TriedValue> stop(Statement why) {
    stopped_ = std::move(why);
    return std::nullopt;
  }

  // A run must not begin with the queue of the one before.
  bool wait_until_calm() {
    const Duration calm = std::max<Duration>(scale(calm_, kCalm), calm_ + 5ms);
    if (retrystorm::wait_until_calm(load_, calm)) return true;
    stop(plan_.signals.wait_until(Clock::now()) ? Statement{"measure-interrupted", {}}
                                                : Statement{"search-not-calm", {{"time", calm_}}});
    return false;
  }

  const LoadSearchPlan& plan_;
  const ClientOptions& options_;
  const bool least_;
  const std::string text_;
  const Style style_;
  const LoadRequest load_;
  const std::optional<LoadRequest> health_;
  WorkloadOptions any_;
  OptionList list_;
  ValueScale scale_;
  Duration calm_{};
  Statement stopped_;
};

}  // namespace

ExitCode search_load(const LoadSearchPlan& plan) {
  return LoadSearch(plan).run();
}

}  // namespace retrystorm
