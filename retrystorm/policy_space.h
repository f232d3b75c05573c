// The retry settings that a search may try: settings to begin with, and changes to them.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "policies/export.h"
#include "study/named_options.h"
#include "study/search.h"
#include "study/sweep.h"

namespace retrystorm {

// Of settings, the first number is the strategy, and the others are changes to the first strategy, with values
// that people write. All other strategies are tried as they are, if they retry what the first one retries.
// The attempts of all are limited, unless those of the first one are not and must stay. If it has a budget, a
// deadline or a breaker, or attempts without an end, all others have one, too.
class PolicySpace {
 public:
  // `strategies`: the first one is to be changed. `given` holds for all of them; neither these options nor
  // those of the names `fixed` are changed. With a format, only settings are allowed of which it can say
  // as much as of the first strategy. Throws std::invalid_argument with a readable message if `fixed` has
  // the name of no knob.
  PolicySpace(std::vector<ListedStrategy> strategies, const NamedOptions& given,
              const std::vector<std::string>& fixed, std::optional<ExportFormat> format);
  PolicySpace(const PolicySpace&) = delete;
  PolicySpace& operator=(const PolicySpace&) = delete;

  const Knobs& knobs() const { return knobs_; }
  // The strategies that are allowed, as they are, and all single changes to the first one, a budget or breaker
  // also with its numbers; spread over them, if there are more than this.
  std::vector<Settings> simplest(std::size_t most) const;
  Settings strategy(std::size_t number) const;
  const std::string& name(std::size_t strategy) const { return strategies_[strategy].name; }

  // The changes to the strategy, by option.
  NamedOptions changes(const Settings& settings) const;
  // `common` with these settings.
  NamedOptions options_of(const Settings& settings, const NamedOptions& common) const;
  // The attempts, waits, budget, deadline, what is retried and the timeout, each as its option has it.
  // Those without effect are left out.
  std::vector<std::pair<std::string, std::string>> in_full(const Settings& settings) const;
  // What a settings file of the strategy says, besides the changes.
  NamedOptions settings_of(std::size_t strategy) const;
  // The names of the knobs.
  std::vector<std::string> names() const;

 private:
  struct Knob {
    std::string name;
    std::vector<std::string> values;  // the first one is empty: as it is
  };

  bool settle(Settings& settings) const;
  std::set<std::string> lost_in_file(const WorkloadOptions& workload) const;

  const std::vector<ListedStrategy> strategies_;
  const NamedOptions given_;
  const std::optional<ExportFormat> format_;
  std::set<std::string> may_be_lost_{};
  RetryOn retry_on_{};  // of the first strategy
  Duration timeout_{};
  bool must_be_bounded_ = false, must_be_limited_ = false;
  std::vector<Knob> knob_list_{};
  Knobs knobs_{};
};

}  // namespace retrystorm
