// Clients that keep their connections, against peers that close them or do worse.
#include "client/fleet.h"
#include "common/http/http_request.h"
#include "tests/support/child_process.h"
#include "tests/support/http2_peer.h"
#include "tests/support/scenario_settings.h"
#include "tests/support/sockets.h"
#include "tests/support/test.h"

namespace retrystorm::test {
namespace {

using namespace std::string_literals;

const std::string kKeptAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK";

// One client, which asks again and again. Nothing is retried but by its pool.
class KeptFleet {
 public:
  KeptFleet(const std::string& url, const std::string& settings)
      : workload_(workload(settings)), fleet_(workload_, 1, make_request({.url = url}), {}) {
    std::signal(SIGPIPE, SIG_IGN);
    fleet_.start();
  }

  Counts counts() const { return fleet_.totals().counts; }
  bool comes_to(const std::function<bool(const Counts&)>& state) const {
    return eventually([&] { return state(counts()); });
  }
  FleetTotals stop() {
    fleet_.stop();
    return fleet_.totals();
  }

 private:
  static WorkloadOptions workload(const std::string& settings) {
    WorkloadOptions workload =
        options_from<WorkloadOptions>("clients = 1\nlambda = 1ms\nstrategy = none\n" + settings);
    return workload;
  }

  const WorkloadOptions workload_;
  Fleet fleet_;
};

// Each connection gets an answer. The server closes it as its second request arrives.
void answer_once(const Socket& connection) {
  connection.receive(kPatience, "\r\n\r\n");
  connection.send(kKeptAnswer);
  connection.receive(kPatience, "\r\n\r\n");
}

void answer_once_by_http2(Socket connection) {
  Http2Peer peer(std::move(connection));
  peer.settle();
  peer.answer(peer.next(kHeaders).stream);
  peer.next(kHeaders);
}

void expect_sent_again(const FakeServer& server, const std::string& connections) {
  KeptFleet fleet(server.url(), connections);
  EXPECT_TRUE(fleet.comes_to([](const Counts& counts) { return counts.ok >= 10; }));
  const FleetTotals totals = fleet.stop();
  const Counts& counts = totals.counts;
  const KeptConnections kept = *totals.clients.kept;
  EXPECT_EQ(counts.errors, 0u);
  EXPECT_EQ(counts.timed_out, 0u);
  // All but the first one, and maybe one that the end of the run has cut off.
  EXPECT_GE(kept.sent_again, counts.ok - 1);
  EXPECT_LE(kept.sent_again, counts.ok);
  EXPECT_EQ(counts.retries, kept.sent_again);
  EXPECT_EQ(counts.attempts, counts.requests + kept.sent_again);
  EXPECT_EQ(kept.opened, kept.sent_again + 1);
}

TEST(KeptFleet, SendsAgainWhatMeetsTheEndOfItsConnection) {
  expect_sent_again(FakeServer(answer_once), "connections = keep-alive\n");
  expect_sent_again(FakeServer(answer_once_by_http2), "connections = multiplexed\n");
}

TEST(KeptFleet, LeavesThatToItsRetriesIfItIsAskedTo) {
  const FakeServer server(answer_once);
  KeptFleet fleet(server.url(), "connections = keep-alive\nretry-lost = no\n");
  EXPECT_TRUE(fleet.comes_to([](const Counts& counts) { return counts.errors >= 10; }));
  const FleetTotals totals = fleet.stop();
  EXPECT_EQ(totals.clients.kept->sent_again, 0u);
  EXPECT_EQ(totals.counts.retries, 0u);
  EXPECT_EQ(totals.counts.gave_up(), totals.counts.errors);
}

// Its second connection is not one that was kept.
TEST(KeptFleet, SendsNothingAThirdTime) {
  std::atomic<int> connections = 0;
  const FakeServer server([&](const Socket& connection) {
    if (connections++ == 0) return answer_once(connection);
    connection.receive(kPatience, "\r\n\r\n");
  });
  KeptFleet fleet(server.url(), "connections = keep-alive\n");
  EXPECT_TRUE(fleet.comes_to([](const Counts& counts) { return counts.errors >= 10; }));
  const FleetTotals totals = fleet.stop();
  EXPECT_EQ(totals.counts.ok, 1u);
  EXPECT_EQ(totals.clients.kept->sent_again, 1u);
  EXPECT_EQ(totals.counts.retries, 1u);
}

// What answers is no service. Where it says nothing, attempts end by their timeout, one after the other.
struct HostilePeer {
  const char* name;
  const char* connections;
  std::function<void(Socket)> serve;
  std::optional<bool> times_out;  // empty: sometimes
};

void flood(const Socket& connection, const std::string& what) {
  while (connection.send(what)) {
  }
}

const std::string kPing = "\0\0\x08\x06\0\0\0\0\0"s + "12345678";

void accept_and(Socket connection,
                const std::function<void(const Http2Peer&, std::uint32_t)>& act) {
  Http2Peer peer(std::move(connection));
  peer.settle();
  for (Frame request; (request = peer.next(kHeaders)).type == kHeaders;) act(peer, request.stream);
}

class HostilePeers : public testing::TestWithParam<HostilePeer> {};

TEST_P(HostilePeers, AreCountedAndNeverWaitedForBeyondTheTimeout) {
  constexpr Duration kTimeout = 100ms * kSlowness, kInTime = kTimeout + 50ms * kSlowness;
  constexpr unsigned kAttempts = 5;
  const FakeServer server(GetParam().serve);
  // The longest attempt of each run, one after the other with a think time of 1 ms. A busy machine makes some
  // runs late, a fault all.
  Duration longest = Duration::max();
  for (int run = 0; run < 5 && longest > kInTime; ++run) {
    KeptFleet fleet(server.url(), "connections = "s + GetParam().connections +
                                      "\ntimeout = " + format_duration(kTimeout) + '\n');
    longest = Duration::zero();
    TimePoint last = Clock::now();
    const auto over = [&] {
      longest = std::max(longest, Clock::now() - last);
      last = Clock::now();
    };
    for (unsigned i = 1; i <= kAttempts; ++i) {
      ASSERT_TRUE(fleet.comes_to([&](const Counts& all) { return all.finished() >= i; }));
      over();
    }
    const Counts counts = fleet.stop().counts;
    over();
    EXPECT_EQ(counts.ok, 0u);
    if (GetParam().times_out) {
      EXPECT_GE(*GetParam().times_out ? counts.timed_out : counts.errors, kAttempts - 1);
    }
  }
  EXPECT_LE(longest, kInTime);
}

INSTANTIATE_TEST_SUITE_P(
    All, HostilePeers,
    testing::Values(
        HostilePeer{"Silent", "keep-alive",
                    [](const Socket& peer) { peer.closed_by_peer(kPatience); }, true},
        HostilePeer{"Resets", "keep-alive", [](const Socket& peer) { reset(peer); }, false},
        HostilePeer{"GoesAway", "keep-alive",
                    [](const Socket& peer) { peer.receive(kPatience, "\r\n\r\n"); }, false},
        HostilePeer{"Drips", "keep-alive", [](const Socket& peer) { drip(peer); }, true},
        HostilePeer{"FloodsWithAHead", "keep-alive",
                    [](const Socket& peer) { flood(peer, "HTTP/1.1 200 OK\r\nx: y\r\n"); }, false},
        HostilePeer{"FloodsWithABody", "keep-alive",
                    [](const Socket& peer) {
                      peer.send("HTTP/1.1 200 OK\r\n\r\n");
                      flood(peer, std::string(10'000, 'x'));
                    },
                    true},
        HostilePeer{"SilentBeforeHttp2", "multiplexed",
                    [](const Socket& peer) { peer.closed_by_peer(kPatience); }, true},
        HostilePeer{"SilentInHttp2", "multiplexed",
                    [](Socket peer) { accept_and(std::move(peer), [](auto&, auto) {}); }, true},
        HostilePeer{"ResetsBeforeHttp2", "multiplexed", [](const Socket& peer) { reset(peer); },
                    false},
        HostilePeer{"ResetsEachStream", "multiplexed",
                    [](Socket socket) {
                      accept_and(std::move(socket), [](const Http2Peer& peer, std::uint32_t at) {
                        peer.send({.type = kReset, .stream = at, .payload = big_endian(2)});
                      });
                    },
                    false},
        HostilePeer{"GoesAwayFromEachConnection", "multiplexed",
                    [](Socket socket) {
                      Http2Peer peer(std::move(socket));
                      peer.settle();
                      peer.next(kHeaders);
                      peer.send({.type = kGoAway, .payload = big_endian(0) + big_endian(0)});
                    },
                    false},
        HostilePeer{"SpeaksHttp1", "multiplexed",
                    [](const Socket& peer) { answer(peer, "400 Bad Request"); }, false},
        HostilePeer{"TakesNoStreams", "multiplexed",
                    [](Socket socket) {
                      Http2Peer peer(std::move(socket));
                      peer.settle("\0\x03"s + big_endian(0));
                      peer.next(kReset);
                      while (peer.next(kHeaders).type == kHeaders) {
                      }
                    },
                    true},
        HostilePeer{"FloodsWithPings", "multiplexed",
                    [](const Socket& peer) {
                      peer.send("\0\0\0\x04\0\0\0\0\0"s);  // SETTINGS
                      flood(peer, kPing);
                    },
                    std::nullopt}),
    [](const testing::TestParamInfo<HostilePeer>& each) { return each.param.name; });

}  // namespace
}  // namespace retrystorm::test
