#include "model/run/connections.h"
#include "tests/support/scripted_random.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

constexpr TimePoint kMade{1h};

// What an attempt gets: the kept connection, or else the kind of place.
template <typename Connection>
struct Taken {
  typename ConnectionPool<Connection>::Place place;
  Connection kept{};
  bool waits() const { return place == ConnectionPool<Connection>::Place::kNone; }
  bool opens() const { return place == ConnectionPool<Connection>::Place::kOpens; }
  bool is_kept() const { return place == ConnectionPool<Connection>::Place::kKept; }
};
template <typename Connection>
Taken<Connection> take(ConnectionPool<Connection>& pool, TimePoint now) {
  Connection kept{};
  const auto place = pool.take(now, kept);
  return {place, kept};
}

ConnectionSettings of_size(std::size_t size) {
  return {.kind = Connections::kKeepAlive, .pool_size = size};
}

TEST(ConnectionPool, OpensOneOnlyIfNoneIsIdle) {
  const ConnectionSettings settings = of_size(2);
  ConnectionPool<int> pool(settings);
  EXPECT_TRUE(take(pool, kMade).opens());
  EXPECT_TRUE(take(pool, kMade).opens());
  EXPECT_TRUE(take(pool, kMade).waits());  // it is full
  pool.give_back(kMade + 1s, 7);
  EXPECT_EQ(pool.open(), 2u);
  EXPECT_EQ(pool.idle(), 1u);
  EXPECT_EQ(take(pool, kMade + 2s).kept, 7);
  EXPECT_TRUE(take(pool, kMade + 2s).waits());
  // A connection that is closed leaves a place for a new one.
  pool.close();
  EXPECT_EQ(pool.open(), 1u);
  EXPECT_TRUE(take(pool, kMade + 3s).opens());
  EXPECT_EQ(pool.opened(), 3u);
}

TEST(ConnectionPool, TakesTheOneUsedLastOrTheOneIdleForLongest) {
  for (const PoolOrder order : {PoolOrder::kLifo, PoolOrder::kFifo}) {
    ConnectionSettings settings = of_size(3);
    settings.pool_order = order;
    ConnectionPool<int> pool(settings);
    for (int i = 0; i < 3; ++i) take(pool, kMade);
    for (const int connection : {1, 2, 3}) pool.give_back(kMade + connection * 1s, connection);
    EXPECT_EQ(take(pool, kMade + 4s).kept, order == PoolOrder::kLifo ? 3 : 1);
    pool.give_back(kMade + 5s, 4);
    EXPECT_EQ(take(pool, kMade + 6s).kept, order == PoolOrder::kLifo ? 4 : 2);
  }
}

// Last in, first out: the older one is not used, and becomes too old.
TEST(ConnectionPool, ClosesWhatHasBeenIdleForTooLong) {
  ConnectionSettings settings = of_size(10);
  settings.pool_idle = 3s;
  ConnectionPool<std::shared_ptr<int>> pool(settings);
  const auto older = std::make_shared<int>(), newer = std::make_shared<int>();
  EXPECT_EQ(pool.next_idle_end(), TimePoint::max());
  take(pool, kMade);
  take(pool, kMade);
  pool.give_back(kMade, older);
  pool.give_back(kMade + 1s, newer);
  EXPECT_EQ(pool.next_idle_end(), kMade + 3s);
  EXPECT_EQ(take(pool, kMade + 2s).kept, newer);
  pool.give_back(kMade + 2s, newer);
  pool.close_idle(kMade + 3s - 1ns);
  EXPECT_EQ(pool.open(), 2u);
  pool.close_idle(kMade + 3s);
  EXPECT_EQ(pool.open(), 1u);
  EXPECT_EQ(older.use_count(), 1);
  EXPECT_EQ(pool.next_idle_end(), kMade + 5s);
  // It is too old for the next attempt, which opens another.
  EXPECT_TRUE(take(pool, kMade + 5s).opens());
  EXPECT_EQ(newer.use_count(), 1);
  EXPECT_EQ(pool.open(), 1u);
}

TEST(ConnectionPool, ClosesAfterItsAnswerWhatWouldBeOneIdleTooMany) {
  ConnectionSettings settings = of_size(10);
  settings.pool_max_idle = 2;
  ConnectionPool<std::shared_ptr<int>> pool(settings);
  for (int i = 0; i < 3; ++i) take(pool, kMade);
  const auto connection = std::make_shared<int>();
  EXPECT_TRUE(pool.give_back(kMade, connection));
  EXPECT_TRUE(pool.give_back(kMade, connection));
  EXPECT_FALSE(pool.give_back(kMade, connection));
  EXPECT_EQ(pool.idle(), 2u);
  EXPECT_EQ(pool.open(), 2u);
  EXPECT_EQ(connection.use_count(), 3);
}

// Two connections with three streams each.
TEST(ConnectionPool, OfMultiplexedConnectionsGivesOutStreams) {
  ConnectionSettings settings = of_size(2);
  settings.kind = Connections::kMultiplexed;
  settings.streams = 3;
  ConnectionPool<int> pool(settings);
  EXPECT_TRUE(take(pool, kMade).opens());
  EXPECT_EQ(pool.idle(), 0u);  // nothing is known of it until it is accepted
  pool.accepted(kMade);
  EXPECT_EQ(pool.idle(), 2u);
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(take(pool, kMade).is_kept());
  EXPECT_EQ(pool.open(), 1u);
  EXPECT_TRUE(take(pool, kMade).opens());
  EXPECT_TRUE(take(pool, kMade).waits());
  EXPECT_EQ(pool.open(), 2u);
  pool.close_unaccepted();
  EXPECT_EQ(pool.open(), 1u);
  pool.give_back(kMade);
  EXPECT_TRUE(take(pool, kMade).is_kept());
  // All streams of a connection are lost with it.
  for (int i = 0; i < 3; ++i) pool.close();
  EXPECT_EQ(pool.open(), 0u);
  EXPECT_EQ(pool.opened(), 2u);
  // One, if the number of connections is not given.
  ConnectionSettings one = settings;
  one.pool_size = ConnectionSettings::kUnbounded;
  ConnectionPool<int> single(one);
  EXPECT_TRUE(take(single, kMade).opens());
  EXPECT_TRUE(take(single, kMade).waits());
}

// The process is busy with each of them for a while.
// Those by which a pool grows have a part of their age behind them; those that replace others have not.
TEST(ConnectionPool, RenewsWhatIsTooOld) {
  ConnectionSettings settings = of_size(2);
  settings.age = 10s;
  ConnectionPool<ConnectionPlace> pool(settings);
  ScriptedRandom random({0.75, 0.5});
  EXPECT_TRUE(take(pool, kMade).opens());
  const ConnectionPlace first{0, pool.until(kMade, random)};
  EXPECT_EQ(first.until, kMade + 2500ms);
  EXPECT_TRUE(take(pool, kMade).opens());
  const ConnectionPlace second{1, pool.until(kMade, random)};
  EXPECT_EQ(second.until, kMade + 5s);
  EXPECT_TRUE(pool.give_back(kMade + 1s, first));
  EXPECT_FALSE(pool.give_back(kMade + 5s, second));  // it is too old
  EXPECT_TRUE(take(pool, kMade + 5s).opens());       // and so is the other one
  EXPECT_EQ(pool.until(kMade + 5s, random), kMade + 15s);
  EXPECT_EQ(pool.open(), 1u);
}

// Its streams end by and by. Meanwhile there is another one.
TEST(ConnectionPool, OpensAnotherOneBesideAMultiplexedOneThatIsTooOld) {
  ConnectionSettings settings{.kind = Connections::kMultiplexed, .streams = 2};
  settings.age = 10s;
  ConnectionPool<ConnectionPlace> pool(settings);
  ScriptedRandom random({0});
  EXPECT_TRUE(take(pool, kMade).opens());
  const ConnectionPlace old{0, pool.until(kMade, random)};
  pool.accepted(kMade, old);
  EXPECT_TRUE(take(pool, kMade).is_kept());
  EXPECT_TRUE(take(pool, kMade + 9s).waits());
  EXPECT_TRUE(take(pool, kMade + 10s).opens());
  EXPECT_EQ(pool.open(), 2u);
  EXPECT_FALSE(pool.give_back(kMade + 11s, old));
  EXPECT_FALSE(pool.give_back(kMade + 11s, old));
  EXPECT_EQ(pool.open(), 1u);
}

TEST(ConnectionPool, FailsAttemptsOneAfterTheOther) {
  const ConnectionSettings settings = of_size(1);
  ConnectionPool<int> pool(settings);
  EXPECT_EQ(pool.fail(kMade), kMade);
  EXPECT_EQ(pool.fail(kMade), kMade + 100us);
  EXPECT_EQ(pool.fail(kMade + 50us), kMade + 200us);
  EXPECT_EQ(pool.fail(kMade + 1s), kMade + 1s);
}

TEST(ConnectionPool, LosesTheIdleOnesWhenTheServerRestarts) {
  const ConnectionSettings settings = of_size(3);
  ConnectionPool<int> pool(settings);
  for (int i = 0; i < 3; ++i) take(pool, kMade);
  pool.give_back(kMade, 1);
  pool.give_back(kMade, 2);
  pool.lose_idle();
  EXPECT_EQ(pool.open(), 1u);  // it is in use, and its attempt will report what became of it
  EXPECT_EQ(pool.idle(), 0u);
  EXPECT_TRUE(take(pool, kMade).opens());
}

TEST(ConnectionSettings, RefuseAWaitThatEndsAfterTheTimeout) {
  ConnectionSettings settings = of_size(1);
  settings.pool_wait = 3s;
  EXPECT_THROW(check(settings, 2s), std::invalid_argument);
  EXPECT_NO_THROW(check(settings, 3s));
  settings.pool_wait_counts = false;
  EXPECT_NO_THROW(check(settings, 2s));
}

// An option says which ways of connecting it belongs to.
TEST(ConnectionSettings, NameTheWaysThatAnOptionWithoutEffectIsFor) {
  ConnectionSettings settings;
  settings.pool_size = 5;
  settings.pool_order = PoolOrder::kFifo;
  settings.streams = 7;
  settings.retry_lost = false;
  UnusedOptions unused = unused_of_part(settings);
  EXPECT_EQ(unused["pool-size"],
            "pool-size has no effect without --connections=keep-alive or multiplexed");
  EXPECT_EQ(unused["retry-lost"],
            "retry-lost has no effect without --connections=keep-alive or multiplexed");
  EXPECT_EQ(unused["pool-order"], "pool-order has no effect without --connections=keep-alive");
  EXPECT_EQ(unused["streams"], "streams has no effect without --connections=multiplexed");
  EXPECT_EQ(unused.size(), 4u);
}

}  // namespace
}  // namespace retrystorm
