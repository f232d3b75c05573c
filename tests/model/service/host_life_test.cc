#include "model/service/host_life.h"

#include "tests/support/test.h"

namespace retrystorm {
namespace {

TEST(Probe, IsReadAsItIsWritten) {
  EXPECT_EQ(parse_probe("none"), Probe());
  EXPECT_EQ(parse_probe("10s"), (Probe{.every = 10s}));
  const Probe probe{.every = 30s, .timeout = 2s, .failures = 5, .own_port = true};
  EXPECT_EQ(parse_probe("30s:2s:5:port"), probe);
  EXPECT_EQ(to_string(probe), "30s:2s:5:port");
  for (const char* text : {"", "0s", "10s:20s", "10s:1s:0", "10s:1s:3:4", "10s:1s:3:port:1"}) {
    EXPECT_THROW(parse_probe(text), std::invalid_argument) << text;
  }
}

// Hosts that are up at once, for as many looks. `load`: of one host's capacity. `queue`: does what waits keep all busy?
std::vector<std::size_t> scaled(double load, bool queue, int looks) {
  const ScalingSettings settings{.most = 40};
  HostScaler scaler(settings, 4);
  std::vector<std::size_t> all{4};
  for (int i = 1; i <= looks; ++i) {
    const double use = queue ? 1 : std::min(1., load / static_cast<double>(all.back()));
    all.push_back(scaler.wanted(TimePoint{i * settings.every}, all.back(), 0, use));
  }
  return all;
}

// Six times the load that four hosts do at half their capacity.
TEST(HostScaler, DoublesAsLongAsAllIsUsed) {
  EXPECT_THAT(scaled(12, false, 5), ElementsAre(4, 8, 16, 24, 24, 24));
  EXPECT_THAT(scaled(12, true, 4), ElementsAre(4, 8, 16, 32, 40));
}

TEST(HostScaler, LetsALittleMoreBe) {
  EXPECT_THAT(scaled(4 * .5 * 1.09, false, 2), ElementsAre(4, 4, 4));
  EXPECT_THAT(scaled(4 * .5 * 1.11, false, 2), ElementsAre(4, 5, 5));
}

// Those that start will take their share, so nothing is added for it twice.
TEST(HostScaler, WaitsForHostsThatStart) {
  HostScaler scaler({.most = 40}, 4);
  EXPECT_EQ(scaler.wanted(TimePoint{15s}, 4, 0, 1), 8);
  EXPECT_EQ(scaler.wanted(TimePoint{30s}, 4, 4, 1), 8);
  EXPECT_EQ(scaler.wanted(TimePoint{45s}, 8, 0, 1), 16);
}

// At the least use of five minutes, and never fewer than at first.
TEST(HostScaler, EndsHostsLate) {
  HostScaler scaler({.most = 40}, 4);
  EXPECT_EQ(scaler.wanted(TimePoint{0s}, 20, 0, .5), 20);
  EXPECT_EQ(scaler.wanted(TimePoint{300s}, 20, 0, .25), 20);
  EXPECT_EQ(scaler.wanted(TimePoint{301s}, 20, 0, .25), 10);
  EXPECT_EQ(scaler.wanted(TimePoint{601s}, 10, 0, .01), 10);
  EXPECT_EQ(scaler.wanted(TimePoint{602s}, 10, 0, .01), 4);
}

}  // namespace
}  // namespace retrystorm
