#include "common/http/http_request.h"
#include "tests/support/refusal.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

TEST(ResolveUrl, SplitsItIntoItsParts) {
  const struct {
    const char *text, *host, *address;
    int port;
    const char* path;
    bool tls;
  } cases[] = {
      {"http://127.0.0.1:8070/api", "127.0.0.1", "127.0.0.1", 8070, "/api", false},
      {"http://127.0.0.1", "127.0.0.1", "127.0.0.1", 80, "/", false},
      {"https://127.0.0.1", "127.0.0.1", "127.0.0.1", 443, "/", true},
      {"https://127.0.0.1:8443/a", "127.0.0.1", "127.0.0.1", 8443, "/a", true},
      {"http://127.0.0.1:443/https://", "127.0.0.1", "127.0.0.1", 443, "/https://", false},
      {"http://127.0.0.1/a/b:1?c=d&e=http://x", "127.0.0.1", "127.0.0.1", 80,
       "/a/b:1?c=d&e=http://x", false},
      {"http://[::1]:8070/api", "::1", "::1", 8070, "/api", false},
      {"http://[::1]/api", "::1", "::1", 80, "/api", false},
  };
  for (const auto& each : cases) {
    const Url url = resolve_url(each.text);
    EXPECT_EQ(url.host, each.host);
    EXPECT_EQ(url.address, each.address);
    EXPECT_EQ(url.port, each.port);
    EXPECT_EQ(url.path, each.path);
    EXPECT_EQ(url.tls, each.tls) << each.text;
  }
}

TEST(ResolveUrl, LooksNamesUp) {
  const Url url = resolve_url("http://localhost:80/");
  EXPECT_EQ(url.host, "localhost");
  EXPECT_THAT(url.address, testing::AnyOf("127.0.0.1", "::1"));
}

// The last one is a malformed address: no name server is asked for it.
TEST(ResolveUrl, RefusesUrlsOtherThanHttp) {
  const std::pair<const char*, std::vector<const char*>> cases[] = {
      {"is not a URL like", {"", "127.0.0.1:8070", "https:/127.0.0.1/", "ftp://h/", "HTTP//h"}},
      {"no valid port",
       {"http://127.0.0.1:/", "http://127.0.0.1:0/", "http://127.0.0.1:65536/",
        "http://127.0.0.1:80x/", "http://127.0.0.1:-1/", "http://[::1]:x/"}},
      {"has no user in it", {"http://u:secret@127.0.0.1:80/"}},
      {"in brackets", {"http://::1:8070/", "http://::1/"}},
      {"names no host", {"http://", "http:///api", "http://:8070/api"}}};
  for (const auto& [why, texts] : cases) {
    for (const char* text : texts) {
      test::expect_refusals<std::string, std::invalid_argument>(resolve_url, {{text, why}});
    }
  }
  test::expect_refusals<std::string, std::runtime_error>(resolve_url,
                                                         {{"http://[:::::]/", "is not known"}});
}

// They would be sent unchanged in the request.
TEST(Url, HasNoSpacesAndNoLineEnds) {
  for (const std::string text :
       {"http://127.0.0.1/a b", "http://127.0.0.1/\r\nX: y", "http://127.0.0.1\n/", "http:// a/"}) {
    EXPECT_THROW(resolve_url(text), std::invalid_argument) << text;
  }
  EXPECT_THROW(parse_url(std::string("http://a/\0b", 11)), std::invalid_argument);
}

}  // namespace
}  // namespace retrystorm
