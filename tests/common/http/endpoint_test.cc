#include "common/http/endpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/http/listening.h"
#include "tests/support/sockets.h"

namespace retrystorm {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Endpoint::Page page(const std::string& path, const std::string& text) {
  return {.path = path, .content_type = "text/plain", .render = [text] { return text; }};
}

TEST(Endpoint, ServesItsPagesAndNothingElse) {
  const Endpoint endpoint(0, {page("/a", "alpha"), page("/b", "beta")});
  EXPECT_THAT(test::get(endpoint.port(), 10s, "/a"),
              AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("Connection: close\r\n"),
                    HasSubstr("Cache-Control: no-store\r\n"), EndsWith("\r\n\r\nalpha")));
  EXPECT_THAT(test::get(endpoint.port(), 10s, "/b"), EndsWith("\r\n\r\nbeta"));
  EXPECT_THAT(test::get(endpoint.port(), 10s, "/c"), StartsWith("HTTP/1.1 404"));
}

TEST(Endpoint, SharesItsPortWithNobody) {
  const Endpoint first(0, {});
  EXPECT_THROW(Endpoint(static_cast<std::size_t>(first.port()), {}), AddressInUse);
}

TEST(Endpoint, MayEndAtOnce) {
  for (int i = 0; i < 20; ++i) const Endpoint endpoint(0, {});
}

TEST(Endpoint, AnswersBesideThoseWhoSayNothing) {
  const Endpoint endpoint(0, {page("/a", "alpha")});
  const test::Socket first = test::connect_to(endpoint.port());
  const test::Socket second = test::connect_to(endpoint.port());
  EXPECT_THAT(test::get(endpoint.port(), 10s, "/a"), EndsWith("alpha"));
}

}  // namespace
}  // namespace retrystorm
