#include "common/output/line_report.h"
#include "simulator/simulation.h"
#include "study/named_options.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

// FNV-1a.
std::uint64_t checksum_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char each : text) hash = (hash ^ static_cast<unsigned char>(each)) * 0x100000001b3;
  return hash;
}

// The lines of client and server that `simulate --server-lines --seed=1` prints.
std::string printed_with(const NamedOptions& options) {
  std::ostringstream out;
  LineReport lines(out);
  ServiceLineReport service_lines(out, ServiceLineReport::Stamp::kVirtual);
  Simulation(make_scenario(scenario_of(options), 1), {.run = {&lines}, .service = {&service_lines}})
      .run();
  return out.str();
}

// These checksums say nothing about what is right. They are of what the simulator printed when they were
// written down, and guard against a change that nobody meant: a change of a checksum is a change of the
// model, and goes to the changelog.
TEST(Golden, RunsAreTheSameFromVersionToVersion) {
  const NamedOptions workers{{"service", "workers"}, {"arrivals", "open"}, {"processes", "4"}};
  const auto with = [](NamedOptions all, const NamedOptions& more) {
    all.insert(more.begin(), more.end());
    return all;
  };
  const struct {
    NamedOptions options;
    std::uint64_t checksum;
  } cases[] = {
      {{}, 0xd2d1ca27cf98badf},
      {{{"arrivals", "open"}}, 0x6981274445c310ff},
      {{{"strategy", "exponential"}}, 0xfc377aa0ea09b33b},
      {{{"strategy", "exponential"}, {"jitter", "full"}, {"backlog", "128"}}, 0xcec95131e476e85},
      {{{"strategy", "responsive"}}, 0x37f41c3bc53aa5fa},
      {{{"strategy", "grpc"}, {"outage", "errors:50%"}}, 0xb6d817d7cbd2ad81},
      {with(workers, {{"strategy", "finagle"}, {"outage", "errors:50%"}}), 0x277ad3e3bcc22a99},
      {with(workers, {{"strategy", "aws-standard"}, {"outage", "slow:5"}}), 0xb8e08723e7c9db67},
      {with(workers, {{"strategy", "begin"}, {"rate-limit", "50/s"}, {"hint", "spread"}}),
       0xb2596a8f4c444ca4},
      {with(workers, {{"strategy", "begin"}, {"connections", "keep-alive"}, {"pool-size", "5"}}),
       0xffebc55dd42c31a5},
      {{{"service", "workers"}, {"arrivals", "open"}, {"max-attempts", "1"}, {"hedge", "300ms"}},
       0xe59c37ec3bc77031},
      {{{"service", "workers"}, {"clients", "200"}, {"queue-order", "lifo"}, {"shed-above", "50"}},
       0x9df6fea43cf2ea2},
      {{{"outage", "reconnect"}, {"service", "workers"}, {"reconnect-base", "1s"}},
       0xb29ff251ec03386d},
      {{{"chain", "api 32x5ms > orders 16x20ms > db 8x40ms"},
        {"arrivals", "open"},
        {"strategy", "begin"},
        {"outage-of", "db"}},
       0x9c87bd424f7f554},
  };
  for (const auto& [options, checksum] : cases) {
    std::string given;
    for (const auto& [name, value] : options) given += " --" + name + '=' + value;
    const std::uint64_t now = checksum_of(printed_with(options));
    EXPECT_EQ(now, checksum) << "simulate --server-lines --seed=1" << given << "\n0x" << std::hex
                             << now;
  }
}

// In the first versions, errors were answered with 500 by default. The checksum is of the lines, but for the
// summary, of commit e774c69 with --strategy=grpc --outage=errors:0.5, which does not retry a 500.
TEST(Golden, ErrorsOf500HaveTheLinesOfBefore) {
  const std::string all = printed_with({{"strategy", "grpc"}, {"outage", "errors:50%:500"}});
  EXPECT_EQ(checksum_of(all), 0x2df29616db2f74a5);
}

}  // namespace
}  // namespace retrystorm
