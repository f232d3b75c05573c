#include "common/http/http_request.h"

#include "tests/support/certificate.h"
#include "tests/support/refusal.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

namespace retrystorm::test {
namespace {

// A message is one line, whatever is in the option.
void refuses(const RequestOptions& options, const std::string& why) {
  const std::string said = refusal_of([&] { check(options); });
  EXPECT_THAT(said, HasSubstr(why));
  EXPECT_EQ(said.find_first_of("\r\n"), said.npos);
}

TEST(HttpRequest, IsAGetOfTheUrl) {
  const HttpRequest request = make_request({.url = "http://127.0.0.1:1/a"});
  EXPECT_EQ(request.method, "GET");
  EXPECT_EQ(request.url.path, "/a");
  EXPECT_TRUE(request.headers.empty());
  EXPECT_EQ(request.body, "");
  EXPECT_EQ(request.tls, nullptr);
}

TEST(HttpRequest, HasTheHeadersAndTheBodyThatWereGiven) {
  const RequestOptions options{
      .url = "http://127.0.0.1:1/a",
      .method = "PUT",
      .headers = {"Authorization: Bearer a:b ", "X-Empty:", "X-One:1", "X-One: \t2\t"},
      .body = "a body\r\n"};
  EXPECT_NO_THROW(check(options));
  const HttpRequest request = make_request(options);
  EXPECT_EQ(request.method, "PUT");
  EXPECT_EQ(request.headers,
            (httplib::Headers{
                {"Authorization", "Bearer a:b"}, {"X-Empty", ""}, {"X-One", "1"}, {"X-One", "2"}}));
  EXPECT_EQ(request.body, "a body\r\n");
}

TEST(HttpRequest, RefusesABadHeader) {
  for (const auto& [header, why] :
       {std::pair(std::string("Authorization"), "--header: 'Authorization' is not a header like"),
        {"", "is not a header like 'Name: value'"},
        {": value", "no valid name before its colon"},
        {"Two words: value", "no valid name before its colon"},
        {"Name : value", "no valid name before its colon"},
        {"A: b\r\nC: d", "'A: b??C: d' has control characters in it"},
        {"A: b\n", "has control characters in it"},
        {std::string("A: \0b", 5), "has control characters in it"}}) {
    refuses({.headers = {header}}, why);
  }
}

TEST(HttpRequest, ReadsTheBodyFromAFile) {
  const TempDir dir;
  const std::string content("a\0b\n@", 5);
  std::ofstream(dir.file("body"), std::ios::binary) << content;
  std::ofstream(dir.file("empty"));
  EXPECT_EQ(make_request({.body = "@" + dir.file("body")}).body, content);
  EXPECT_EQ(make_request({.body = "@" + dir.file("empty")}).body, "");
}

TEST(HttpRequest, RefusesAFileThatCannotBeRead) {
  const TempDir dir;
  std::ofstream(dir.file("long")) << std::string(16'000'001, 'x');
  for (const auto& [body, why] :
       {std::pair(dir.file("missing"), "cannot read"), std::pair(dir.file(""), "cannot read"),
        std::pair(std::string("/dev/zero"), "cannot read"),
        std::pair(std::string(), "cannot read ''"),
        std::pair(dir.file("long"), "longer than 16000 kB")}) {
    const RequestOptions options{.body = "@" + body};
    EXPECT_THAT(refusal_of<std::runtime_error>([&] { make_request(options); }),
                testing::ContainsRegex(std::string("--body.*") + why));
  }
}

TEST(HttpRequest, ChecksTheTrustedCertificates) {
  const TempDir dir;
  const std::string file = dir.file("ca.pem"), url = "https://127.0.0.1/";
  std::ofstream(file) << Certificate("DNS:a").pem();
  const auto checks = [](const RequestOptions& options) {
    return SSL_CTX_get_verify_mode(make_request(options).tls.get()) == SSL_VERIFY_PEER;
  };
  EXPECT_TRUE(checks({.url = url}));
  EXPECT_TRUE(checks({.url = url, .cacert = file}));
  EXPECT_FALSE(checks({.url = url, .insecure = true}));

  std::ofstream(dir.file("none.pem")) << "no certificate\n";
  for (const auto& [name, why] :
       {std::pair("none.pem", "no certificate can be read from"),
        std::pair("", "no certificate can be read from"), std::pair("missing", "cannot open")}) {
    const RequestOptions options{.url = url, .cacert = dir.file(name)};
    EXPECT_THAT(refusal_of<std::runtime_error>([&] { make_request(options); }),
                testing::ContainsRegex(std::string("--cacert.*") + why));
  }
}

TEST(HttpRequest, RefusesOptionsThatHaveNoEffect) {
  const std::string https = "https://127.0.0.1/";
  refuses({.insecure = true}, "--insecure has no effect unless --url begins with https://");
  refuses({.cacert = "file"}, "--cacert has no effect unless --url begins with https://");
  refuses({.url = https, .cacert = "file", .insecure = true}, "give one");
  EXPECT_NO_THROW(check({.url = https, .insecure = true}));
}

}  // namespace
}  // namespace retrystorm::test
