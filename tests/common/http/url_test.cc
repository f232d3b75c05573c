#include "common/http/url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace retrystorm {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(ResolveUrl, SplitsItIntoItsParts) {
  const Url url = resolve_url("http://127.0.0.1:8070/api");
  EXPECT_EQ(url.host, "127.0.0.1");
  EXPECT_EQ(url.address, "127.0.0.1");
  EXPECT_EQ(url.port, 8070);
  EXPECT_EQ(url.path, "/api");
}

TEST(ResolveUrl, HasPort80AndTheRootByDefault) {
  const Url url = resolve_url("http://127.0.0.1");
  EXPECT_EQ(url.port, 80);
  EXPECT_EQ(url.path, "/");
}

TEST(ResolveUrl, KnowsHttps) {
  const Url url = resolve_url("https://127.0.0.1");
  EXPECT_TRUE(url.tls);
  EXPECT_EQ(url.port, 443);
  EXPECT_EQ(url.path, "/");
  EXPECT_EQ(resolve_url("https://127.0.0.1:8443/a").port, 8443);
  EXPECT_FALSE(resolve_url("http://127.0.0.1:443/https://").tls);
}

TEST(ResolveUrl, KeepsThePathAsItIs) {
  EXPECT_EQ(resolve_url("http://127.0.0.1/a/b:1?c=d&e=http://x").path, "/a/b:1?c=d&e=http://x");
}

TEST(ResolveUrl, LooksNamesUp) {
  const Url url = resolve_url("http://localhost:80/");
  EXPECT_EQ(url.host, "localhost");
  EXPECT_THAT(url.address, testing::AnyOf("127.0.0.1", "::1"));
}

TEST(ResolveUrl, KnowsIpv6) {
  const Url url = resolve_url("http://[::1]:8070/api");
  EXPECT_EQ(url.address, "::1");
  EXPECT_EQ(url.port, 8070);
  EXPECT_EQ(resolve_url("http://[::1]/api").port, 80);
}

TEST(ResolveUrl, RefusesUrlsOtherThanHttp) {
  for (const char* text : {"", "127.0.0.1:8070", "https:/127.0.0.1/", "ftp://h/", "HTTP//h"}) {
    EXPECT_THAT([text] { resolve_url(text); },
                ThrowsMessage<std::runtime_error>(HasSubstr("is not a URL like")))
        << text;
  }
}

TEST(ResolveUrl, RefusesABadPort) {
  for (const char* text : {"http://127.0.0.1:/", "http://127.0.0.1:0/", "http://127.0.0.1:65536/",
                           "http://127.0.0.1:80x/", "http://127.0.0.1:-1/", "http://[::1]:x/"}) {
    EXPECT_THAT([text] { resolve_url(text); },
                ThrowsMessage<std::runtime_error>(HasSubstr("no valid port")))
        << text;
  }
}

TEST(ResolveUrl, RefusesAUrlWithoutAHost) {
  for (const char* text : {"http://", "http:///api", "http://:8070/api"}) {
    EXPECT_THAT([text] { resolve_url(text); },
                ThrowsMessage<std::runtime_error>(HasSubstr("names no host")))
        << text;
  }
}

// A malformed address: no name server is asked for it.
TEST(ResolveUrl, RefusesAnUnknownHost) {
  EXPECT_THAT([] { resolve_url("http://[:::::]/"); },
              ThrowsMessage<std::runtime_error>(HasSubstr("is not known")));
}

// They would be sent unchanged in the request.
TEST(Url, HasNoSpacesAndNoLineEnds) {
  for (const std::string text :
       {"http://127.0.0.1/a b", "http://127.0.0.1/\r\nX: y", "http://127.0.0.1\n/", "http:// a/"}) {
    EXPECT_THROW(resolve_url(text), std::runtime_error) << text;
  }
  EXPECT_THROW(parse_url(std::string("http://a/\0b", 11)), std::runtime_error);
}

}  // namespace
}  // namespace retrystorm
