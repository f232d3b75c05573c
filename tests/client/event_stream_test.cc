#include "client/dashboard/event_stream.h"

#include "tests/support/test.h"

namespace retrystorm::test {
namespace {

using Keep = EventStream::Keep;
using ::testing::Optional;

nlohmann::ordered_json event(int number) {
  return {{"n", number}};
}

TEST(EventStream, SendsTheHistoryToALateBrowser) {
  EventStream stream;
  stream.send(event(1), Keep::kRun);
  stream.send(event(2), Keep::kRun);
  const auto browser = stream.subscribe();
  EXPECT_EQ(browser->next(0ms), "data: {\"n\":1}\n\ndata: {\"n\":2}\n\n");
  stream.send(event(3), Keep::kRun);
  EXPECT_EQ(browser->next(0ms), "data: {\"n\":3}\n\n");
  EXPECT_EQ(browser->next(0ms), "");
}

TEST(EventStream, ForgetsARunButKeepsItsResult) {
  EventStream stream;
  stream.send(event(1), Keep::kRun);
  stream.send(event(2), Keep::kAlways);
  stream.begin_run();
  EXPECT_EQ(stream.subscribe()->next(0ms), "data: {\"n\":2}\n\n");
}

TEST(EventStream, KeepsAnHour) {
  EventStream stream;
  stream.send(event(-1), Keep::kAlways);
  for (int i = 0; i < 5000; ++i) stream.send(event(i), Keep::kRun);
  const auto history = stream.subscribe()->next(0ms);
  EXPECT_THAT(history, Optional(StartsWith("data: {\"n\":-1}\n\ndata: {\"n\":1401}\n\n")));
  EXPECT_THAT(history, Optional(HasSubstr("{\"n\":4999}")));
}

TEST(EventStream, DropsASlowBrowserAndNoOther) {
  EventStream stream;
  const auto slow = stream.subscribe(), quick = stream.subscribe();
  for (int i = 0; i < 100; ++i) {
    stream.send(event(i), Keep::kRun);
    EXPECT_TRUE(quick->next(0ms).has_value());
  }
  EXPECT_EQ(slow->next(0ms), std::nullopt);
}

TEST(EventStream, EndsAfterTheLastEvent) {
  EventStream stream;
  const auto browser = stream.subscribe();
  stream.send(event(1), Keep::kRun);
  stream.end();
  EXPECT_EQ(browser->next(1h), "data: {\"n\":1}\n\n");
  EXPECT_EQ(browser->next(1h), std::nullopt);
  EXPECT_EQ(stream.subscribe(), nullptr);
}

TEST(EventStream, HasALimitedNumberOfPlacesAndFreesThem) {
  EventStream stream;
  std::vector<std::shared_ptr<EventStream::Subscription>> browsers;
  while (const auto browser = stream.subscribe()) browsers.push_back(browser);
  EXPECT_GE(browsers.size(), 20);
  browsers.pop_back();
  EXPECT_NE(stream.subscribe(), nullptr);
}

}  // namespace
}  // namespace retrystorm::test
