// Clients with real sockets that lose their connections, and come back.
#include "tests/support/child_process.h"
#include "tests/support/sockets.h"
#include "tests/support/test.h"

namespace retrystorm::test {
namespace {

const Arguments kOutage{"--outage=reconnect", "--outage-at=1s", "--outage-for=1s"};

// With the same seed both engines draw the same waits. Threads come later than simulated ones, by
// little, and never earlier.
TEST(ClientReconnect, BringsIdleClientsBackAsSimulated) {
  const Arguments both =
      kOutage +
      Arguments{
          "--clients=100",       "--lambda=1000h",     "--seed=7", "--reconnect-growth=constant",
          "--reconnect-base=2s", "--reconnect-calls=2"};
  const ServerUnderTest server({"--base-delay=1ms"});
  const auto result =
      summary_of(RETRYSTORM_CLIENT, both + Arguments{"--url", server.url(), "--duration=5s"});
  const auto expected =
      summary_of(RETRYSTORM_SIMULATE, both + Arguments{"--base-delay=1ms", "--observe=3s"});
  EXPECT_EQ(result["requests"], 0);
  for (const auto& summary : {result, expected}) {
    EXPECT_EQ(summary["outage"], "reconnect");
    EXPECT_EQ(summary["reconnect"]["clients"], 100);
    EXPECT_EQ(summary["reconnect"]["back"], 100);
    EXPECT_EQ(summary["reconnect"]["attempts"], 200);
    EXPECT_EQ(summary["reconnect"]["failed"], 0);
  }
  for (const char* time : {"half_back_s", "all_back_s"}) {
    const double late =
        result["reconnect"][time].get<double>() - expected["reconnect"][time].get<double>();
    EXPECT_GE(late, -0.005) << time;
    EXPECT_LE(late, 0.5) << time;
  }
}

// Twenty clients always have an attempt in flight, but for the moments between two of them.
TEST(ClientReconnect, ResetsWhatIsInFlightAndKeepsTheRestWaiting) {
  const ServerUnderTest server({"--base-delay=200ms"});
  const auto all = json_lines_of(
      RETRYSTORM_CLIENT,
      kOutage + Arguments{"--url", server.url(), "--clients=20", "--lambda=0s", "--strategy=none",
                          "--timeout=10s", "--duration=6s", "--reconnect-growth=constant",
                          "--reconnect-base=2s", "--reconnect-jitter=none"});
  const auto& summary = all.back();
  EXPECT_GE(summary["errors"], 15);
  EXPECT_LE(summary["errors"], 20);
  EXPECT_EQ(summary["errors_by"], (nlohmann::json{{"reset", summary["errors"]}}));
  EXPECT_EQ(summary["timed_out"], 0);
  EXPECT_EQ(summary["reconnect"]["back"], 20);
  EXPECT_GE(summary["reconnect"]["half_back_s"], 2.2);
  // Those that were reset have waited for the connection and an answer.
  EXPECT_GE(summary["latency_ms"]["max"], 2'300);
}

// Twenty processes with one client each open a connection, and another one after the loss.
TEST(ClientReconnect, TakesKeptConnectionsAway) {
  const ServerUnderTest server({"--base-delay=1ms"});
  const auto all =
      json_lines_of(RETRYSTORM_CLIENT,
                    kOutage + Arguments{"--url", server.url(), "--connections=keep-alive",
                                        "--clients=20", "--clients-per-process=1", "--lambda=50ms",
                                        "--duration=5s", "--reconnect-base=100ms"});
  EXPECT_EQ(all.back()["reconnect"]["back"], 20);
  EXPECT_EQ(all.back()["timed_out"], 0);
  const auto kept = last_interval(all)["connections"];
  EXPECT_GE(kept["opened"], 40);
  EXPECT_LE(kept["opened"], 42);  // one may be opened in the moment of the loss
  EXPECT_EQ(kept["open"], 20);
}

TEST(ClientReconnect, EndsWhileItsClientsWaitToConnect) {
  const ServerUnderTest server({"--base-delay=1ms"});
  const auto all = json_lines_of(
      RETRYSTORM_CLIENT,
      kOutage + Arguments{"--url", server.url(), "--clients=20", "--lambda=10ms", "--duration=3s",
                          "--reconnect-base=1h", "--reconnect-cap=1h", "--reconnect-jitter=none"});
  const auto& summary = all.back();
  EXPECT_EQ(summary["reconnect"]["back"], 0);
  EXPECT_EQ(summary["reconnect"]["attempts"], 0);
  EXPECT_TRUE(summary["reconnect"]["all_back_s"].is_null());
}

}  // namespace
}  // namespace retrystorm::test
