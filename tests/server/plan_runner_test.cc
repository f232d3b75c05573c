#include "server/plan_runner.h"

#include <future>
#include <mutex>

#include "model/graph/topology.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

constexpr Answer kFailure{.failed = true, .with = 504};

// Callees a, b, c, ... that do what a test says, and note that they were called.
class ScriptedCallees {
 public:
  // `plan`: names are single letters.
  explicit ScriptedCallees(const std::string& plan, OnFailure on_failure = {},
                           std::size_t threads = 100)
      : threads_(threads, 1h) {
    GraphNode node{.on_failure = on_failure};
    for (const auto& group : parse_calls(plan)) {
      auto& calls = node.calls.emplace_back();
      for (const NamedCall& each : group) {
        calls.push_back(each.call);
        calls.back().to = static_cast<std::size_t>(each.to.front() - 'a');
      }
    }
    std::vector<PlanRunner::Call> calls;
    for (char name = 'a'; name < 'f'; ++name) {
      calls.push_back([this, name](std::size_t, TimePoint, const auto& let_go) {
        {
          const std::scoped_lock lock(mutex_);
          called_ += name;
        }
        const auto found = scripts_.find(name);
        return found == scripts_.end() ? std::nullopt : found->second(*let_go);
      });
    }
    runner_ = std::make_unique<PlanRunner>(node, std::move(calls), threads_, 1);
  }
  ~ScriptedCallees() { threads_.stop(); }

  using Script = std::function<PlanRunner::Failure(const LetGo&)>;
  void let(char name, Script script) { scripts_[name] = std::move(script); }
  void fail(char name) {
    let(name, [](const LetGo&) { return kFailure; });
  }
  PlanRunner::Failure run() { return runner_->run(0, TimePoint::max(), std::make_shared<LetGo>()); }
  std::string called() {
    const std::scoped_lock lock(mutex_);
    return called_;
  }
  std::uint64_t without_thread() const { return runner_->without_thread(); }

 private:
  std::mutex mutex_;
  std::string called_;
  std::map<char, Script> scripts_;
  PlaceThreads threads_;
  std::unique_ptr<PlanRunner> runner_;
};

TEST(PlanRunner, CallsOneAfterTheOther) {
  ScriptedCallees callees("a, b*2, c");
  EXPECT_EQ(callees.run(), std::nullopt);
  EXPECT_EQ(callees.called(), "abbc");
}

TEST(PlanRunner, EndsWithTheFirstFailure) {
  ScriptedCallees callees("a, b*2, c");
  callees.fail('b');
  EXPECT_EQ(callees.run(), kFailure);
  EXPECT_EQ(callees.called(), "ab");
}

TEST(PlanRunner, GoesOnWithoutWhatMayFail) {
  ScriptedCallees callees("a, b?, c & d?");
  callees.fail('b');
  callees.fail('d');
  EXPECT_EQ(callees.run(), std::nullopt);
  EXPECT_EQ(callees.called().size(), 4);
}

TEST(PlanRunner, NeverMakesACallWithoutAShare) {
  ScriptedCallees callees("a@0, b@1");
  for (int i = 0; i < 20; ++i) EXPECT_EQ(callees.run(), std::nullopt);
  EXPECT_EQ(callees.called(), std::string(20, 'b'));
}

// Each of them ends only when the other has begun.
TEST(PlanRunner, CallsAtOnce) {
  ScriptedCallees callees("a & b");
  std::promise<void> a, b;
  callees.let('a', [&](const LetGo&) {
    a.set_value();
    b.get_future().wait();
    return std::nullopt;
  });
  callees.let('b', [&](const LetGo&) {
    b.set_value();
    a.get_future().wait();
    return std::nullopt;
  });
  EXPECT_EQ(callees.run(), std::nullopt);
}

TEST(PlanRunner, FailsFastAndLetsTheOthersGo) {
  std::promise<void> let_go;
  {
    ScriptedCallees callees("a & b");
    callees.fail('a');
    callees.let('b', [&](const LetGo& mine) {
      while (!mine.is_set()) std::this_thread::sleep_for(1ms);
      let_go.set_value();
      return std::nullopt;
    });
    EXPECT_EQ(callees.run(), kFailure);
  }
  EXPECT_EQ(let_go.get_future().wait_for(0s), std::future_status::ready);
}

TEST(PlanRunner, WaitsForAllBeforeItFails) {
  ScriptedCallees callees("a & b", {.kind = OnFailure::Kind::kAll});
  std::atomic<bool> ended = false;
  callees.fail('a');
  callees.let('b', [&](const LetGo&) {
    std::this_thread::sleep_for(20ms);
    ended = true;
    return std::nullopt;
  });
  EXPECT_EQ(callees.run(), kFailure);
  EXPECT_TRUE(ended);
}

TEST(PlanRunner, GoesOnWithEnoughSuccesses) {
  const OnFailure two{.kind = OnFailure::Kind::kNeed, .need = 2};
  for (const auto& [failing, succeeds] :
       {std::pair("", true), {"a", true}, {"ab", false}, {"abc", false}}) {
    ScriptedCallees callees("a & b & c", two);
    for (const char each : std::string(failing)) callees.fail(each);
    EXPECT_EQ(!callees.run(), succeeds) << failing;
  }
}

TEST(PlanRunner, FailsACallWithoutAThread) {
  ScriptedCallees callees("a & b & c", {}, 2);
  std::promise<void> full;
  const std::shared_future<void> goes_on = full.get_future().share();
  for (const char each : {'a', 'b', 'c'}) {
    callees.let(each, [goes_on](const LetGo&) {
      goes_on.wait();
      return std::nullopt;
    });
  }
  const auto failure = callees.run();
  full.set_value();
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->status(), 503);
  EXPECT_EQ(callees.without_thread(), 1);
}

TEST(CallsAtOnce, SucceedOrFailAsTheRuleSays) {
  using Kind = OnFailure::Kind;
  const OnFailure fast, all{.kind = Kind::kAll};
  const auto need = [](std::size_t count) { return OnFailure{.kind = Kind::kNeed, .need = count}; };
  const std::optional<bool> open;
  const struct {
    OnFailure rule;
    CallsAtOnce calls;  // under way; and of those that may not fail: all, succeeded, failed
    std::optional<bool> result;
  } rows[] = {{fast, {2, 3, 1, 0}, open},     {fast, {2, 3, 0, 1}, false},
              {fast, {0, 3, 3, 0}, true},     {fast, {1, 0, 0, 0}, open},
              {fast, {0, 0, 0, 0}, true},     {all, {1, 3, 1, 1}, open},
              {all, {0, 3, 2, 1}, false},     {all, {0, 3, 3, 0}, true},
              {need(2), {1, 3, 1, 1}, open},  {need(2), {1, 3, 2, 0}, true},
              {need(2), {1, 3, 0, 2}, false}, {need(5), {0, 2, 2, 0}, true},
              {need(5), {1, 2, 0, 1}, false}, {need(1), {1, 0, 0, 0}, open},
              {need(1), {0, 0, 0, 0}, true}};
  for (const auto& row : rows) {
    EXPECT_EQ(row.calls.result(row.rule), row.result)
        << static_cast<int>(row.rule.kind) << ' ' << &row - rows;
  }
}

}  // namespace
}  // namespace retrystorm
