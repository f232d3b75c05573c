#include "simulator/changes.h"

#include <stdexcept>
#include <utility>

namespace retrystorm {
namespace {

// Applies the changes of a run one after the other, and records the state after each.
class ChangeList {
 public:
  explicit ChangeList(const ScenarioOptions& options)
      : outage_(options.timeline.outage), configured_(options.service) {}

  void take(const TimedAction& step) {
    const Action& action = step.action;
    switch (action.kind) {
      case Action::Kind::kSet:
        change(step);
        break;
      case Action::Kind::kCapacity:
        conditions_.capacity = action.factor;
        break;
      case Action::Kind::kLoad:
        load_ = action.factor;
        break;
      case Action::Kind::kRestart:
        break;
    }
    add({.t = step.t,
         .announcement = step.announcement,
         .restart = action.kind == Action::Kind::kRestart});
  }

  void begin_outage(Duration t) {
    in_outage_ = true;
    add({.t = t, .kind = Change::Kind::kOutageBegins});
  }
  void end_outage(Duration t) {
    in_outage_ = false;
    add({.t = t, .kind = Change::Kind::kOutageEnds});
  }

  std::vector<Change> changes() && { return std::move(changes_); }

 private:
  void change(const TimedAction& step) {
    const auto with_its_step = [&step](const std::exception& error) {
      return "--at " + in_quotes(print_timed(step)) + ": " + error.what();
    };
    try {
      change_option(configured_, step.action.option, step.action.value, Engine::kSimulated);
    } catch (const NoEffect& error) {
      throw NoEffect(with_its_step(error));
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(with_its_step(error));
    }
  }

  void add(Change change) {
    Conditions conditions = conditions_;
    if (in_outage_) apply(outage_, conditions);
    change.service = with_conditions(conditions, configured_);
    change.load = load_ * (in_outage_ ? load_factor(outage_) : 1);
    changes_.push_back(std::move(change));
  }

  const Disturbance outage_;
  ServiceOptions configured_;
  Conditions conditions_;
  double load_ = 1;
  bool in_outage_ = false;
  std::vector<Change> changes_;
};

}  // namespace

std::vector<Change> changes(const ScenarioOptions& options) {
  ChangeList list(options);
  const bool has_outage = options.outage_length() > Duration::zero();
  const Duration end = saturating_add(options.outage_at, options.outage_length());
  bool begun = !has_outage;
  bool ended = !has_outage;
  const auto until = [&](Duration t) {
    if (!begun && options.outage_at <= t) list.begin_outage(options.outage_at), begun = true;
    if (!ended && end <= t) list.end_outage(end), ended = true;
  };
  for (const TimedAction& each : actions(options.timeline)) {
    until(each.t);
    list.take(each);
  }
  until(Duration::max());
  return std::move(list).changes();
}

}  // namespace retrystorm
