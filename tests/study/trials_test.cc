#include "study/trials.h"

#include "model/run/outlook.h"
#include "simulate/program.h"
#include "tests/support/given.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

constexpr std::size_t kRuns = 8;

// A service with a runs' result, and the trials of it.
struct Tried {
  NamedOptions given;
  std::size_t runs = kRuns;  // one shows what is tried
  ScenarioOptions options = scenario_of(given);
  Evaluator evaluator{2};
  CellResult result = summarize(evaluator.run(make_scenario(options, 1), seeds_from(1, runs)));

  using Tell = std::function<void(const AnswerTrials::Outcome&)>;
  std::vector<AnswerTrials::Outcome> all(const std::vector<Expectation>& holding = {},
                                         const Tell& tell = {}) const {
    const AnswerTrials trials({options, given, result, holding}, evaluator, 1, runs);
    std::vector<AnswerTrials::Outcome> outcomes = trials.of_a_tenth();
    const auto others = trials.others(tell);
    outcomes.insert(outcomes.end(), others.begin(), others.end());
    return outcomes;
  }
};

// "rate=440", for each trial of the row.
std::set<std::string> values(const std::vector<AnswerTrials::Outcome>& outcomes,
                             const std::string& row) {
  std::set<std::string> all;
  for (const AnswerTrials::Outcome& each : outcomes) {
    if (each.trial.row != row) continue;
    std::string text;
    for (const auto& [name, value] : each.trial.with) {
      text += (text.empty() ? "" : " ") + name + '=' + value;
    }
    all.insert(text);
  }
  return all;
}

const AnswerTrials::Outcome* find(const std::vector<AnswerTrials::Outcome>& outcomes,
                                  const std::string& row, const std::string& value = "") {
  const auto found = std::find_if(outcomes.begin(), outcomes.end(), [&](const auto& each) {
    return each.trial.row == row && (value.empty() || each.trial.with.front().second == value);
  });
  return found == outcomes.end() ? nullptr : &*found;
}

// 64 workers that are half used, whose clients give up after three attempts.
NamedOptions service() {
  return test::given(
      "service=workers, workers=64, service-time=lognormal:80ms, arrivals=open, rate=400, "
      "timeout=1s, growth=exponential, max-attempts=3, backoff-base=500ms, outage-for=30s");
}

// Where nothing is turned away nothing costs to turn away, and no answer has a Retry-After.
TEST(Trials, NameWhatChangesNothing) {
  const auto names = [](const std::string& given) {
    return without_effect(
        test::given(
            "service=workers, workers=25, service-time=90ms, timeout=1s, arrivals=open, rate=100" +
            given),
        1, [](const std::string& name) { return name == "rate"; });
  };
  EXPECT_THAT(names(", rejection-cost=1ms, retry-after=replace"),
              ElementsAre("rejection-cost", "retry-after"));
  EXPECT_THAT(names(", retry-after=replace, outage=throttle:50"), IsEmpty());
}

// What retrystorm measure says of the capacity is tried at both ends, and the answer's share becomes a span.
TEST(Trials, SayWhatWasNotMeasured) {
  NamedOptions given = service();
  given["capacity-within"] = "0.05";
  const Tried tried{given};
  EXPECT_EQ(values(tried.all(), "measured"),
            (std::set<std::string>{"capacity=0s 0.95", "capacity=0s 1.05"}));

  const auto cell = [](std::size_t collapsed, std::size_t recovering, std::size_t recovered) {
    CellResult one;
    one.runs = collapsed + recovering + recovered;
    one.collapsed = collapsed;
    one.recovering = recovering;
    one.recovered = recovered;
    return one;
  };
  const auto span = [&](const CellResult& asked, const CellResult& less, const CellResult& more) {
    return within_measured(asked, {{.trial = {.row = "measured"}, .result = less},
                                   {.trial = {.row = "measured"}, .result = more},
                                   {.trial = {.row = "load"}, .result = cell(0, 0, 20)}});
  };
  const auto down = span(cell(8, 0, 2), cell(20, 0, 0), cell(10, 0, 10));
  EXPECT_EQ(down->low, 0.5);
  EXPECT_EQ(down->high, 1);
  const auto back = span(cell(1, 1, 8), cell(5, 0, 15), cell(2, 0, 18));
  EXPECT_EQ(back->low, 0.75);
  EXPECT_EQ(back->high, 0.9);
  EXPECT_EQ(span(cell(8, 0, 0), cell(20, 0, 0), cell(20, 0, 0)), std::nullopt);
}

// A tenth of four workers is none: each takes 50/0.9 ms instead.
TEST(Trials, OfCapacityAreOfAllHostsAndOfFewWorkersLongerTimes) {
  NamedOptions given = service();
  EXPECT_EQ(advised_queue_length(look_ahead(scenario_of(given))), 368u);  // half of 64 (1/.08 - 1)
  given["workers"] = given["replicas"] = "8";
  EXPECT_EQ(advised_queue_length(look_ahead(scenario_of(given))), 46u) << "of each";
  const auto of_hosts = Tried{given, 1}.all();
  EXPECT_EQ(values(of_hosts, "load"), std::set<std::string>{"rate=440"});
  EXPECT_EQ(values(of_hosts, "capacity"), std::set<std::string>{"capacity=0s 0.9"});
  given["workers"] = "4";
  given["service-time"] = "fixed:50ms";
  given["capacity-within"] = "0.05";
  const auto of_few = Tried{given, 1}.all();
  EXPECT_EQ(values(of_few, "capacity"), std::set<std::string>{"service-time=fixed:55.56ms"});
  EXPECT_EQ(values(of_few, "measured"),
            (std::set<std::string>{"service-time=fixed:52.63ms", "service-time=fixed:47.62ms"}));
}

// A frozen process finds a full accept queue: 256 requests are 0.3 s of work for 800/s, 511 are 0.6 s, beside the load
// too much for a timeout of a second.
TEST(Trials, FindWhereTheBacklogTurnsTheAnswer) {
  const Tried tried{service()};
  ASSERT_EQ(tried.result.down_runs(), 0u);
  std::vector<std::string> told, turned;
  const auto outcomes = tried.all(
      {}, [&](const AnswerTrials::Outcome& each) { told.push_back(what_of(each.trial)); });
  EXPECT_EQ(values(outcomes, "load"), std::set<std::string>{"rate=440"});
  EXPECT_EQ(values(outcomes, "capacity"), std::set<std::string>{"capacity=0s 0.9"});
  const AnswerTrials::Outcome* outcome = find(outcomes, "backlog");
  ASSERT_NE(outcome, nullptr);
  EXPECT_EQ(outcome->turn, AnswerTrials::Turn::kDown);
  EXPECT_EQ(values(outcomes, "backlog"), std::set<std::string>{"backlog=511"});
  ASSERT_TRUE(outcome->edge);
  EXPECT_GT(*outcome->edge, 256u);
  EXPECT_LT(*outcome->edge, 511u);
  // Each of the others that turns the answer is told of as it comes.
  for (const AnswerTrials::Outcome& each : outcomes) {
    const bool of_a_tenth = each.trial.row == "load" || each.trial.row == "capacity";
    if (!of_a_tenth && each.turn != AnswerTrials::Turn::kNone) {
      turned.push_back(what_of(each.trial));
    }
  }
  EXPECT_EQ(told, turned);
  EXPECT_FALSE(told.empty());
  const auto line = trial_json("a row", *outcome);
  EXPECT_EQ(line.at("type"), "trial");
  EXPECT_EQ(line.at("trial"), "backlog");
  EXPECT_EQ(line.at("row"), "a row");
  EXPECT_EQ(line.at("with").at("backlog"), "511");
  EXPECT_EQ(line.at("how").at("id"), "turns-down");
  EXPECT_EQ(line.at("how").at("down"), kRuns);
  EXPECT_EQ(line.at("turns"), true);
  EXPECT_EQ(line.at("edge"), *outcome->edge);
  // Well below it comes back, well above it does not.
  for (const double factor : {0.8, 1.25}) {
    NamedOptions given = service();
    given["backlog"] =
        std::to_string(static_cast<int>(static_cast<double>(*outcome->edge) * factor));
    EXPECT_EQ(Tried{given}.result.mostly_down(), factor > 1) << given["backlog"];
  }
}

TEST(Trials, TryNothingThatWasGiven) {
  NamedOptions given = service();
  given["backlog"] = "256";
  EXPECT_EQ(values(Tried{given, 1}.all(), "backlog"), std::set<std::string>());
  // Tomcat's may be that of its acceptor only.
  given["backlog"] = "100";
  EXPECT_NE(values(Tried{given, 1}.all(), "backlog"), std::set<std::string>());
}

// Down for good if it accepts all, and back if it does not.
TEST(Trials, SayWhetherItAcceptsMoreThanItServes) {
  const NamedOptions accepts_all = test::given(
      "service=workers, workers=32, service-time=exponential:50ms, arrivals=open, "
      "rate=400, max-attempts=3, growth=exponential, timeout=1s, backoff-base=200ms, "
      "backlog=511, outage-for=10s");
  const auto outcomes = Tried{accepts_all}.all();
  const AnswerTrials::Outcome* outcome = find(outcomes, "accepts");
  ASSERT_NE(outcome, nullptr);
  EXPECT_EQ(outcome->turn, AnswerTrials::Turn::kBack);
  EXPECT_EQ(outcome->result.down_runs(), 0u);
  using Values = std::set<std::string>;
  const std::string when_free = "accepts=when-free", queue = "queue-length=100";
  EXPECT_EQ(values(outcomes, "accepts"), (Values{when_free, queue}));
  for (const auto& [name, value, tried] : {std::tuple{"accepts", "all", Values{queue}},
                                           {"max-connections", "20000", Values{}},
                                           {"queue-length", "1000", Values{}},
                                           {"connections", "multiplexed", Values{queue}}}) {
    NamedOptions known = accepts_all;
    known[name] = value;
    EXPECT_EQ(values(Tried{known, 1}.all(), "accepts"), tried) << name;
  }
}

TEST(Trials, HaveFourTimesTheProcessesOfABudgetAndAQuarter) {
  const auto processes = [](NamedOptions given) {
    given["outage-for"] = "5s";
    const auto outcomes = Tried{given, 1}.all();
    if (given["clients"] == "400") {
      EXPECT_EQ(values(outcomes, "load"), std::set<std::string>{"clients=440"});
    }
    return values(outcomes, "processes");
  };
  using Values = std::set<std::string>;
  // A process for each hundred clients.
  EXPECT_EQ(processes({{"strategy", "grpc"}, {"clients", "400"}}),
            (Values{"processes=16", "processes=1"}));
  // One with open arrivals, so that there is no quarter.
  EXPECT_EQ(processes({{"strategy", "grpc"}, {"arrivals", "open"}}), Values{"processes=4"});
  // Of three clients none is for a fourth process.
  EXPECT_EQ(processes({{"strategy", "grpc"}, {"clients", "3"}}), Values{});
  // No budget; a number that is known.
  EXPECT_EQ(processes({{"strategy", "grpc"}, {"retry-budget", "none"}}), Values{});
  EXPECT_EQ(processes({{"strategy", "grpc"}, {"processes", "10"}}), Values{});
  EXPECT_EQ(processes({{"strategy", "grpc"}, {"clients-per-process", "10"}}), Values{});
}

// "NAME=VALUE; NAME=VALUE"
NamedOptions options_in(std::string text) {
  NamedOptions options;
  text += "; ";
  for (std::size_t at; (at = text.find("; ")) != text.npos; text.erase(0, at + 2)) {
    const std::size_t equals = text.find('=');
    options[text.substr(0, equals)] = text.substr(equals + 1, at - equals - 1);
  }
  return options;
}

// Each of these decides an answer that a default, or a number known to a tenth only, would hide.
TEST(Trials, FindWhatElseTurnsTheAnswer) {
  using Turn = AnswerTrials::Turn;
  const char* const kSyns =
      "service=workers; max-attempts=3; workers=28; service-time=exponential:50ms; arrivals=open; "
      "rate=230; backoff-base=250ms; outage-for=8s; timeout=2050ms";
  const char* const kPools =
      "service=workers; workers=20; service-time=50ms; backlog=32; clients=600; lambda=2s; "
      "connections=keep-alive; timeout=1s; strategy=fixed; backoff-base=400ms; outage-for=10s";
  const struct {
    const char* option;
    const char* value;
    Turn turn;
    std::string given;
  } cases[] = {
      // Just above 2 s the kernels of the clients repeat what a full accept queue dropped.
      {"timeout", "2s", Turn::kBack, kSyns},
      {"syn-linear-timeouts", "0", Turn::kBack, kSyns},
      // A small pool: whether a timeout begins before the wait in line decides.
      {"pool-wait-counts", "no", Turn::kBack, std::string(kPools) + "; pool-size=5; outage-at=15s"},
      // 600 requests in 600 connections are 1.5 s of work, more than the timeout.
      {"processes", "600", Turn::kDown, kPools},
      // 3,000 requests of 25/s are tried once in 2 s and a wait of 8 s: 300/s of 200. Seven attempts
      // of 25/s are 175/s.
      {"max-retries", "6", Turn::kBack,
       "service=workers; arrivals=open; rate=25/s; growth=table; backoff-base=1s; "
       "backoff-table=1+1+2+3+5+8; outage-for=2m"},
      // Seven attempts of 2 s and waits of 2 s end 16 s after the request began: most requests of a
      // freeze of 20 s are given up in it, and leave no queue. None of a freeze of 10 s is.
      {"outage-for", "10s", Turn::kDown, "growth=table; backoff-table=1+1+2+3+5+8; max-retries=6"},
      // Eleven clients call at once, once a second. A bucket of ten admits ten of them, a bucket of
      // one only one.
      {"rate-burst", "1", Turn::kLessOk,
       "clients=11; lambda=0s; rate-limit=10; strategy=fixed; backoff-base=1s; service=workers; "
       "workers=100; service-time=1s; outage-for=0s"},
      // Half a second of 5 x 300/s, of which 200 are served, opens at least 500 connections.
      {"at", "1s load 5", Turn::kLessAfter,
       "service=workers; workers=32; service-time=80ms; strategy=begin; arrivals=open; rate=330; "
       "outage-for=15s; processes=10; connections=keep-alive; pool-size=50"},
  };
  for (const auto& each : cases) {
    const auto outcomes = Tried{options_in(each.given)}.all();
    const auto fits = [&, with = std::pair<std::string, std::string>(each.option, each.value)](
                          const auto& outcome) {
      return outcome.turn == each.turn && std::ranges::count(outcome.trial.with, with) > 0;
    };
    EXPECT_TRUE(std::ranges::any_of(outcomes, fits)) << each.option << '=' << each.value;
  }
}

// 64 requests in a front that waits: 56 of them queue at the database, for 56 / 8 x 40 ms = 280 ms,
// which is more than the 200 ms of a call. Of 16 no call waits for more than 8 / 8 x 40 ms.
TEST(Trials, FindWhichServiceOfAChainHasFewerWorkers) {
  const auto outcomes =
      Tried{options_in("chain=api 64x5ms > orders 64x20ms >200ms db 8x40ms; clients=400; "
                       "lambda=4s; timeout=1s; backoff-base=20ms; max-attempts=3; backlog=64; "
                       "outage-for=10s; waiting=hold")}
          .all();
  EXPECT_TRUE(std::ranges::any_of(outcomes, [](const auto& each) {
    return each.trial.row == "chain" && each.turn == AnswerTrials::Turn::kNotBack;
  }));
}

}  // namespace
}  // namespace retrystorm
