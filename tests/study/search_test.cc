// Searches among made-up settings, whose true figures are known.
#include "study/search.h"

#include "model/base/random.h"
#include "tests/support/test.h"

namespace retrystorm::test {
namespace {

// Settings that are down with known probabilities, and have known costs.
class MadeUp final : public Trials {
 public:
  MadeUp(std::size_t situations, std::uint64_t seed,
         std::function<double(const Settings&, std::size_t situation)> down,
         std::function<std::vector<double>(const Settings&)> costs)
      : situations_(situations), seed_(seed), down_(std::move(down)), costs_(std::move(costs)) {}

  bool run(const std::vector<Settings>& all, std::size_t situation, std::size_t until) override {
    for (const Settings& each : all) {
      if (made_++ == stop_after) return false;
      DownRuns& hits = hits_.try_emplace(each, situations_).first->second[situation];
      const double share = down_(each, situation);
      ClientRandom random(seed_ + hits.runs, situation + 10 * each.front());
      while (share == 0 && hits.runs < until) ++hits.runs;
      // From one run that is down to the next, which is quicker than a draw for each run.
      while (hits.runs < until) {
        const double skipped = std::floor(std::log1p(-random.uniform()) / std::log1p(-share));
        if (skipped >= static_cast<double>(until - hits.runs)) {
          hits.runs = until;
        } else {
          hits.runs += static_cast<std::size_t>(skipped) + 1;
          ++hits.hits;
        }
      }
    }
    return true;
  }

  Standing standing(const Settings& settings) const override {
    const auto found = hits_.find(settings);
    if (found == hits_.end()) return {.down = std::vector<DownRuns>(situations_), .costs = {}};
    return {.down = found->second,
            .fragile = varied_.contains(settings) ? fragile(settings) : 0,
            .costs = costs_(settings)};
  }

  bool vary(const std::vector<Settings>& all) override {
    varied_.insert(all.begin(), all.end());
    return true;
  }

  std::size_t made() const { return made_; }
  std::size_t stop_after = 1'000'000'000;
  std::function<std::size_t(const Settings&)> fragile = [](const Settings&) { return 0; };

 private:
  const std::size_t situations_;
  const std::uint64_t seed_;
  const std::function<double(const Settings&, std::size_t)> down_;
  const std::function<std::vector<double>(const Settings&)> costs_;
  std::map<Settings, std::vector<DownRuns>> hits_;
  std::set<Settings> varied_;
  std::size_t made_ = 0;
};

std::vector<double> no_costs(const Settings&) {
  return {0};
}

// How often one of some settings passes, of which each is down in this share of its runs of one situation.
std::size_t passed(const Acceptance& plan, double share, std::size_t settings) {
  std::vector<Settings> all;
  for (std::size_t i = 0; i < settings; ++i) all.push_back({i});
  std::size_t count = 0;
  for (std::uint64_t repetition = 0; repetition < 1'000; ++repetition) {
    MadeUp fresh(
        3, 100'000 * repetition,
        [share](const Settings&, std::size_t situation) { return situation == 1 ? share : 0; },
        no_costs);
    EXPECT_TRUE(certify(plan, all, 3, fresh));
    count += std::any_of(all.begin(), all.end(),
                         [&](const Settings& each) { return passes(plan, fresh.standing(each)); });
  }
  return count;
}

// The claims of six settings share the 5 %.
TEST(Certificate, PassesADecoyAsRarelyAsItSays) {
  constexpr std::size_t kClaims = 6;
  constexpr double kMisses = kUsualMisses / kClaims;
  const Acceptance plan = certificate(0.01, kMisses);
  const double at_bound = binomial_at_most(plan.most_for, plan.runs, 0.01);
  EXPECT_LE(at_bound, kMisses);
  EXPECT_GT(binomial_at_most(plan.most_for, plan.runs - 1, 0.01), kMisses);
  EXPECT_GE(binomial_at_most(plan.most_for, plan.runs, 0.002), 0.8);
  // No shorter plan with fewer hits does.
  ASSERT_GT(plan.most_for, 0u);
  std::size_t shorter = least_runs(0.01, kMisses);
  while (acceptance(shorter, 0.01, kMisses)->most_for < plan.most_for - 1) ++shorter;
  EXPECT_LT(binomial_at_most(plan.most_for - 1, shorter, 0.002), 0.8);

  // Within four standard deviations of a thousand repetitions.
  const auto noise = [](double p) { return 4 * std::sqrt(1'000 * p * (1 - p)); };
  const double any = 1 - std::pow(1 - at_bound, kClaims);
  EXPECT_LE(any, 0.05);
  EXPECT_NEAR(static_cast<double>(passed(plan, 0.01, kClaims)), 1'000 * any, noise(any));
  const double good = binomial_at_most(plan.most_for, plan.runs, 0.002);
  EXPECT_NEAR(static_cast<double>(passed(plan, 0.002, 1)), 1'000 * good, noise(good));
}

TEST(Certificate, HasThePublishedNumbers) {
  // 95 % for one claim: two of 628 let a fifth of the bound pass in 87 % of cases, none and one in fewer
  // than 80 %.
  EXPECT_EQ(certificate(0.01).most_for, 2u);
  EXPECT_EQ(certificate(0.01).runs, 628u);
  // 99.8 %: a fifth of the bound passes two of 1036 in 66 % of cases, so it takes four of 1382.
  EXPECT_EQ(acceptance(1'036, 0.01, 0.002)->most_for, 2u);
  EXPECT_EQ(acceptance(1'382, 0.01, 0.002)->most_for, 4u);
  EXPECT_EQ(certificate(0.01, 0.002).most_for, 4u);
  EXPECT_EQ(certificate(0.01, 0.002).runs, 1'382u);
}

TEST(Certificate, EndsTheRunsOfWhatCannotPass) {
  const Acceptance plan = certificate(0.01);
  MadeUp fresh(
      2, 1, [](const Settings& each, std::size_t) { return each.front() == 0 ? 0.9 : 0; },
      no_costs);
  ASSERT_TRUE(certify(plan, {{0}, {1}}, 2, fresh));
  EXPECT_FALSE(passes(plan, fresh.standing({0})));
  EXPECT_EQ(fresh.standing({0}).down.front().runs, 15u);
  EXPECT_EQ(fresh.standing({0}).down.back().runs, 0u);
  EXPECT_TRUE(passes(plan, fresh.standing({1})));
}

// A grid of 20 x 20: the costs pull in two directions, and one corner is down in the second situation.
constexpr std::size_t kSide = 20;

double down_in(const Settings& each, std::size_t situation) {
  return situation == 1 && each[0] + each[1] < 8 ? 0.9 : 0;
}

std::vector<double> costs_of(const Settings& each) {
  const auto x = static_cast<double>(each[0]), y = static_cast<double>(each[1]);
  const double off = x - 0.6 * y;
  return {std::round(x + 0.2 * off * off), std::round(1.5 * y + 0.1 * (20 - x) * (20 - x) / 10)};
}

std::set<std::vector<double>> brute_force() {
  std::vector<std::vector<double>> all;
  for (std::size_t x = 0; x < kSide; ++x) {
    for (std::size_t y = 0; y < kSide; ++y) {
      if (down_in({x, y}, 1) == 0) all.push_back(costs_of({x, y}));
    }
  }
  std::set<std::vector<double>> front;
  for (const auto& one : all) {
    const bool beaten = std::any_of(all.begin(), all.end(),
                                    [&one](const auto& other) { return dominates(other, one); });
    if (!beaten) front.insert(one);
  }
  return front;
}

std::set<std::vector<double>> costs_on(const std::vector<Settings>& front) {
  std::set<std::vector<double>> costs;
  for (const Settings& each : front) costs.insert(costs_of(each));
  return costs;
}

TEST(Search, FindsTheFrontOfBruteForce) {
  const Knobs knobs{.values = {kSide, kSide}};
  ASSERT_GE(brute_force().size(), 8u);
  // From all of them, and by breeding from a tenth.
  for (const SearchPlan& plan :
       {SearchPlan{.candidates = 800, .raced = 400, .rounds = 0},
        SearchPlan{.candidates = 40, .raced = 40, .rounds = 12, .children = 20}}) {
    MadeUp trials(2, 7, down_in, costs_of);
    std::vector<Settings> first;
    if (plan.rounds == 0) {
      for (std::size_t i = 0; i < kSide * kSide; ++i) first.push_back({i / kSide, i % kSide});
    }
    Search search(knobs, trials, 2, 0.01, plan, 5);
    ASSERT_TRUE(search.run(first));
    EXPECT_EQ(costs_on(search.front()), brute_force());
    EXPECT_LE(search.tried().size(), kSide * kSide);
  }
}

TEST(Search, DropsWhatIsDownHoweverCheap) {
  const Knobs knobs{.values = {10}};
  MadeUp trials(
      2, 3, [](const Settings& each, std::size_t s) { return s == 1 && each[0] < 5 ? 0.5 : 0; },
      [](const Settings& each) { return std::vector<double>{static_cast<double>(each[0])}; });
  Search search(knobs, trials, 2, 0.01, {}, 1);
  ASSERT_TRUE(search.run({}));
  EXPECT_THAT(search.front(), SizeIs(1));
  EXPECT_EQ(search.front().front(), Settings{5});
  EXPECT_EQ(search.finalists(4), search.front());
}

TEST(Search, SetsBackWhatIsNotNeeded) {
  // Only the first knob matters.
  const Knobs knobs{.values = {4, 4, 4}};
  MadeUp trials(
      1, 3, [](const Settings&, std::size_t) { return 0; },
      [](const Settings& each) { return std::vector<double>{each[0] == 2 ? 0.0 : 1.0}; });
  Search search(knobs, trials, 1, 0.01, {}, 1);
  ASSERT_TRUE(search.run({{2, 3, 1}}));
  EXPECT_EQ(search.simplified({2, 3, 1}), (Settings{2, 0, 0}));
  // What saves less than is allowed is not worth a knob.
  EXPECT_EQ(search.simplified({2, 3, 1}, 1), (Settings{0, 0, 0}));
}

// Where nothing is better, what one began with is among those that may be chosen, however many cost less.
TEST(Search, GivesTheFirstAWholeRace) {
  const Knobs knobs{.values = {10}};
  MadeUp trials(
      1, 3, [](const Settings&, std::size_t) { return 0; },
      [](const Settings& each) { return std::vector<double>{10 - static_cast<double>(each[0])}; });
  const SearchPlan plan{.candidates = 10, .raced = 2, .rounds = 0};
  Search search(knobs, trials, 1, 0.01, plan, 1);
  ASSERT_TRUE(search.run({{0}}));
  EXPECT_EQ(trials.standing({0}).down.front().runs, plan.race);
  EXPECT_EQ(trials.standing({1}).down.front().runs, plan.screened);
}

// The cheap ones are down where something differs, and so are all but four of the others.
TEST(Search, PrefersWhatStaysUpWhereSomethingDiffers) {
  const Knobs knobs{.values = {10, 2}};
  const auto expect_robust = [&knobs](std::size_t least) {
    MadeUp trials(
        1, 3, [](const Settings&, std::size_t) { return 0; },
        [](const Settings& each) { return std::vector<double>{static_cast<double>(each[0])}; });
    trials.fragile = [least](const Settings& each) {
      return least + (each[0] < 6 || each[1] == 0 ? 1 : 0);
    };
    Search search(knobs, trials, 1, 0.01, {}, 1);
    EXPECT_TRUE(search.run({}));
    EXPECT_THAT(search.front(), SizeIs(1));
    EXPECT_EQ(search.front().front(), (Settings{6, 1}));
    EXPECT_EQ(search.ranked().front(), (Settings{6, 1}));
    // A knob that keeps it up stays set.
    EXPECT_EQ(search.simplified({6, 1}), (Settings{6, 1}));
  };
  expect_robust(0);
  expect_robust(2);  // all are down somewhere: the least often is chosen
}

TEST(Search, LeavesOutWhatCannotBe) {
  const Knobs knobs{.values = {5, 5}, .settle = [](Settings& each) {
                      if (each[0] == 0) each[1] = 0;  // without effect
                      return each[0] != 3;
                    }};
  MadeUp trials(
      1, 3, [](const Settings&, std::size_t) { return 0; }, no_costs);
  Search search(knobs, trials, 1, 0.01, {}, 1);
  ASSERT_TRUE(search.run({}));
  EXPECT_THAT(search.tried(), SizeIs(1 + 3 * 5));
  for (const Settings& each : search.tried()) {
    EXPECT_NE(each[0], 3u);
    EXPECT_TRUE(each[0] != 0 || each[1] == 0);
  }
}

TEST(Search, KnowsLessIfItIsInterrupted) {
  const Knobs knobs{.values = {kSide, kSide}};
  MadeUp trials(2, 7, down_in, costs_of);
  trials.stop_after = 500;
  Search search(knobs, trials, 2, 0.01, {}, 5);
  EXPECT_FALSE(search.run({}));
  EXPECT_THAT(search.front(), IsEmpty());  // no whole race
  MadeUp at_once(2, 7, down_in, costs_of);
  at_once.stop_after = 0;
  Search none(knobs, at_once, 2, 0.01, {}, 5);
  EXPECT_FALSE(none.run({}));
  EXPECT_THAT(none.ranked(), IsEmpty());
}

}  // namespace
}  // namespace retrystorm::test
