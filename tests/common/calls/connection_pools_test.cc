#include "common/calls/connection_pools.h"

#include <future>

#include "common/http/connection.h"
#include "common/http/http_request.h"
#include "tests/support/child_process.h"
#include "tests/support/sockets.h"
#include "tests/support/test.h"

namespace retrystorm::test {
namespace {

constexpr TimePoint kForEver = TimePoint::max();

ConnectionSettings of_size(std::size_t size) {
  return {.kind = Connections::kKeepAlive, .pool_size = size};
}

TEST(ConnectionPools, OfEachProcessAreItsOwn) {
  ConnectionPools<Connection> pools(of_size(1), 2);
  const auto first = pools.take(0, kForEver);
  ASSERT_NE(first, nullptr);
  EXPECT_NE(pools.take(1, kForEver), nullptr);
  EXPECT_EQ(pools.take(0, Clock::now() + 10ms), nullptr);  // it is full
  EXPECT_EQ(pools.totals().open, 2u);
  EXPECT_EQ(pools.totals().in_line, 0u);
}

TEST(ConnectionPools, ServeThoseInLineInTurn) {
  ConnectionPools<Connection> pools(of_size(1), 1);
  auto held = pools.take(0, kForEver);
  const auto wait = [&pools] { return pools.take(0, kForEver); };
  auto first = std::async(std::launch::async, wait);
  ASSERT_TRUE(eventually([&] { return pools.totals().in_line == 1; }));
  auto second = std::async(std::launch::async, wait);
  ASSERT_TRUE(eventually([&] { return pools.totals().in_line == 2; }));
  pools.give_back(0, std::move(held));  // not open: the next one in line opens another
  auto next = first.get();
  EXPECT_NE(next, nullptr);
  EXPECT_EQ(pools.totals().in_line, 1u);
  pools.give_back(0, std::move(next));
  EXPECT_NE(second.get(), nullptr);
  EXPECT_EQ(pools.totals().opened, 3u);
}

// The first one fails at once, the others one after the other.
TEST(ConnectionPools, TakeTimeToFailAttemptsThatMayNotWait) {
  ConnectionPools<Connection> pools(of_size(1), 1);
  const auto held = pools.take(0, kForEver);
  const TimePoint begin = Clock::now();
  for (int i = 0; i < 11; ++i) EXPECT_EQ(pools.take(0, Clock::now(), kForEver), nullptr);
  EXPECT_GE(Clock::now() - begin, 1ms);
  // No longer than until it times out.
  EXPECT_EQ(pools.take(0, Clock::now(), Clock::now()), nullptr);
  EXPECT_EQ(pools.totals().waited, 0u);
}

TEST(ConnectionPools, LetNobodyWaitOnceTheRunStops) {
  ConnectionPools<Connection> pools(of_size(1), 1);
  const auto held = pools.take(0, kForEver);
  auto waits = std::async(std::launch::async, [&pools] { return pools.take(0, kForEver); });
  ASSERT_TRUE(eventually([&] { return pools.totals().in_line == 1; }));
  pools.stop();
  EXPECT_EQ(waits.get(), nullptr);
  EXPECT_EQ(pools.take(0, kForEver), nullptr);
}

TEST(ConnectionPools, OpenAnotherInPlaceOfALostOne) {
  ConnectionPools<Connection> pools(of_size(1), 1);
  auto lost = pools.take(0, kForEver);
  Connection* const place = lost.get();
  auto other = pools.replace(0, std::move(lost), TimePoint::min(), TimePoint::min());
  EXPECT_EQ(other.get(), place);
  EXPECT_EQ(pools.totals().open, 1u);
  EXPECT_EQ(pools.totals().opened, 2u);
  EXPECT_EQ(pools.totals().sent_again, 1u);
  pools.give_back(0, std::move(other), true);
  EXPECT_EQ(pools.totals().open, 0u);
  EXPECT_EQ(pools.totals().given_up, 1u);
}

TEST(ConnectionPools, OpenAnotherIfTheServerHasClosedTheKeptOne) {
  const Listener listener;
  ConnectionPools<Connection> pools(of_size(1), 1);
  auto connection = pools.take(0, kForEver);
  ASSERT_TRUE(connection->open(resolve_url(listener.url()), nullptr, Clock::now() + kPatience));
  const Connection* const same = connection.get();
  {
    const Socket peer = listener.accept(kPatience);
    pools.give_back(0, std::move(connection));
    EXPECT_EQ(pools.totals().idle, 1u);
    connection = pools.take(0, kForEver);
    EXPECT_EQ(connection.get(), same);
    pools.give_back(0, std::move(connection));
  }
  // The peer has closed it. That takes a moment to arrive here.
  ASSERT_TRUE(eventually([&] {
    connection = pools.take(0, kForEver);
    const bool is_open = connection->is_open();
    pools.give_back(0, std::move(connection));
    return !is_open;
  }));
  EXPECT_EQ(pools.totals().open, 0u);
}

}  // namespace
}  // namespace retrystorm::test
