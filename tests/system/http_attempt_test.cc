// One attempt of one client, against servers of every kind.
#include "client/http_attempt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/support/certificate.h"
#include "tests/support/child_process.h"
#include "tests/support/sockets.h"

namespace retrystorm::test {
namespace {

using namespace std::chrono_literals;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class HttpAttemptTest : public testing::Test {
 protected:
  HttpAttemptTest() { std::signal(SIGPIPE, SIG_IGN); }

  // Lasts `timeout` at most, or a lot longer on a busy machine; but not as long as a server that
  // goes on for ten seconds or for ever.
  static Outcome attempt(const std::string& url, Duration timeout) {
    return attempt({.url = resolve_url(url)}, timeout);
  }
  static Outcome attempt(const HttpRequest& request, Duration timeout) {
    Deadlines deadlines;
    HttpAttempt attempt(request, timeout, deadlines);
    const TimePoint start = Clock::now();
    const Outcome outcome = attempt.run(timeout).outcome;
    const Duration lasted = Clock::now() - start;
    EXPECT_TRUE(outcome != Outcome::kTimedOut || lasted >= timeout);
    EXPECT_LT(lasted, timeout + 2s);
    return outcome;
  }

  static Outcome answered_with(const std::string& status) {
    const FakeServer server([&](const Socket& socket) { answer(socket, status); });
    return attempt(server.url(), kPatience);
  }
};

TEST_F(HttpAttemptTest, IsOkWithAnyStatusOf2xx) {
  EXPECT_EQ(answered_with("200 OK"), Outcome::kOk);
  EXPECT_EQ(answered_with("201 Created"), Outcome::kOk);
  EXPECT_EQ(answered_with("299 Whatever"), Outcome::kOk);
}

TEST_F(HttpAttemptTest, IsAnErrorWithAnyOther) {
  EXPECT_EQ(answered_with("302 Found"), Outcome::kError);
  EXPECT_EQ(answered_with("404 Not Found"), Outcome::kError);
  EXPECT_EQ(answered_with("429 Too Many Requests"), Outcome::kError);
  EXPECT_EQ(answered_with("500 Internal Server Error"), Outcome::kError);
  EXPECT_EQ(answered_with("503 Service Unavailable"), Outcome::kError);
}

TEST_F(HttpAttemptTest, TellsABadRequestThatAsksForLess) {
  const auto failure_of = [](const std::string& headers, const std::string& body) {
    const FakeServer server([&](const Socket& socket) {
      socket.receive(5s, "\r\n\r\n");
      socket.send("HTTP/1.1 400 Bad Request\r\n" + headers + "Content-Length: " +
                  std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" + body);
    });
    Deadlines deadlines;
    const HttpRequest request{.url = resolve_url(server.url())};
    return HttpAttempt(request, kPatience, deadlines).run(kPatience).failure;
  };
  const std::string name = R"({"__type":"com.amazonaws.dynamodb.v20120810#)"
                           R"(ProvisionedThroughputExceededException","message":"later"})";
  EXPECT_EQ(failure_of("", name), Failure::kThrottled);
  EXPECT_EQ(failure_of("x-amzn-errortype: ThrottlingException:http://x.example/\r\n", "{}"),
            Failure::kThrottled);
  EXPECT_EQ(failure_of("", R"({"__type":"ValidationException"})"), Failure::kPermanent);
  for (const char* body : {"", "no JSON", "[]", R"({"__type":7})", R"({"__type":"Slow)"}) {
    EXPECT_EQ(failure_of("", body), Failure::kPermanent) << body;
  }
  // No more of it is kept than an error has.
  EXPECT_EQ(failure_of("", std::string(1'000'000, ' ') + name), Failure::kPermanent);
}

TEST_F(HttpAttemptTest, IsAnErrorWhenRefused) {
  std::string url;
  {
    const Listener gone;
    url = gone.url();
  }
  EXPECT_EQ(attempt(url, kPatience), Outcome::kError);
}

TEST_F(HttpAttemptTest, IsAnErrorWhenReset) {
  const FakeServer server(reset);
  EXPECT_EQ(attempt(server.url(), kPatience), Outcome::kError);
}

TEST_F(HttpAttemptTest, IsAnErrorWhenClosedWithoutAnAnswer) {
  const FakeServer server([](const Socket& socket) { socket.receive(5s, "\r\n\r\n"); });
  EXPECT_EQ(attempt(server.url(), kPatience), Outcome::kError);
}

TEST_F(HttpAttemptTest, IsAnErrorWhenTheAnswerIsCutOff) {
  const FakeServer server([](const Socket& socket) {
    socket.receive(5s, "\r\n\r\n");
    socket.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nOK");
  });
  EXPECT_EQ(attempt(server.url(), kPatience), Outcome::kError);
}

TEST_F(HttpAttemptTest, IsAnErrorWhenTheAnswerIsNoHttp) {
  const FakeServer server([](const Socket& socket) {
    socket.receive(5s, "\r\n\r\n");
    socket.send("220 mail.example.org ESMTP\r\n");
  });
  EXPECT_EQ(attempt(server.url(), kPatience), Outcome::kError);
}

TEST_F(HttpAttemptTest, TimesOutWhenTheServerIsSilent) {
  const Listener silent;
  EXPECT_EQ(attempt(silent.url(), 200ms), Outcome::kTimedOut);
}

// Each byte would start a read timeout anew.
TEST_F(HttpAttemptTest, TimesOutWhenTheAnswerDrips) {
  const FakeServer server(drip);
  EXPECT_EQ(attempt(server.url(), 300ms), Outcome::kTimedOut);
}

// The end of the connection is the end of such an answer, also when the deadline has ended it.
TEST_F(HttpAttemptTest, TimesOutWhenAnAnswerWithoutALengthDrips) {
  const FakeServer server([](const Socket& socket) {
    socket.receive(5s, "\r\n\r\n");
    socket.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
    for (int i = 0; i < 1000 && socket.send("."); ++i) std::this_thread::sleep_for(10ms);
  });
  EXPECT_EQ(attempt(server.url(), 300ms), Outcome::kTimedOut);
}

TEST_F(HttpAttemptTest, TimesOutWhenTheHeaderDrips) {
  const FakeServer server([](const Socket& socket) {
    socket.send("HTTP/1.1 200 OK\r\nX-Slow: ");
    for (int i = 0; i < 1000 && socket.send("."); ++i) std::this_thread::sleep_for(10ms);
  });
  EXPECT_EQ(attempt(server.url(), 300ms), Outcome::kTimedOut);
}

TEST_F(HttpAttemptTest, TimesOutWhenConnectingHangs) {
  const FullListener full;
  EXPECT_EQ(attempt(full.url(), 300ms), Outcome::kTimedOut);
}

TEST_F(HttpAttemptTest, AnswersOfAnyLengthAreRead) {
  const FakeServer server([](const Socket& socket) {
    socket.receive(5s, "\r\n\r\n");
    socket.send("HTTP/1.1 200 OK\r\nContent-Length: 5000000\r\n\r\n" + std::string(5'000'000, '.'));
  });
  EXPECT_EQ(attempt(server.url(), kPatience), Outcome::kOk);
}

TEST_F(HttpAttemptTest, SendsWhatItIsTold) {
  std::string received;
  {
    const FakeServer server([&](const Socket& socket) {
      received = socket.receive(kPatience, "a body");
      answer(socket, "200 OK");
    });
    HttpRequest request{.url = resolve_url(server.url() + "?q=1"),
                        .method = "POST",
                        .headers = {{"X-One", "1"}, {"Content-Type", "text/csv"}},
                        .body = "a body"};
    EXPECT_EQ(attempt(request, kPatience), Outcome::kOk);
  }
  EXPECT_THAT(received, StartsWith("POST /api?q=1 HTTP/1.1\r\n"));
  for (const char* header : {"\r\nX-One: 1\r\n", "\r\nContent-Type: text/csv\r\n",
                             "\r\nContent-Length: 6\r\n", "\r\nHost: 127.0.0.1:"}) {
    EXPECT_THAT(received, HasSubstr(header));
  }
  EXPECT_THAT(received, EndsWith("\r\n\r\na body"));
}

TEST_F(HttpAttemptTest, IsOkWithEveryMethod) {
  for (const char* method : {"HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"}) {
    const FakeServer server([](const Socket& socket) { answer(socket, "200 OK"); });
    EXPECT_EQ(attempt({.url = resolve_url(server.url()), .method = method}, kPatience),
              Outcome::kOk)
        << method;
  }
}

// A connect that hangs must not put off those whose time is over.
TEST_F(HttpAttemptTest, TimesOutWhenConnectingHangsAndThereIsLessTimeThanUsual) {
  const FullListener full;
  Deadlines deadlines;
  const HttpRequest request{.url = resolve_url(full.url())};
  HttpAttempt attempt(request, 10min, deadlines);
  EXPECT_EQ(attempt.run(300ms).outcome, Outcome::kTimedOut);
}

class HttpsAttemptTest : public HttpAttemptTest {
 protected:
  static std::string url(int port) { return "https://127.0.0.1:" + std::to_string(port) + "/api"; }

  static HttpRequest trusting(const std::string& url, const Certificate& certificate) {
    HttpRequest request{.url = resolve_url(url)};
    request.trusted = {X509_STORE_new(), X509_STORE_free};
    X509_STORE_add_cert(request.trusted.get(), certificate.get());
    return request;
  }
};

TEST_F(HttpsAttemptTest, IsOkWithATrustedCertificateOfThatName) {
  const Certificate certificate("DNS:localhost");
  const TlsServer server(certificate);
  EXPECT_EQ(attempt(trusting(server.url("localhost"), certificate), kPatience), Outcome::kOk);
}

TEST_F(HttpsAttemptTest, IsOkWithATrustedCertificateOfThatAddress) {
  const Certificate certificate("IP:127.0.0.1");
  const TlsServer server(certificate);
  EXPECT_EQ(attempt(trusting(server.url("127.0.0.1"), certificate), kPatience), Outcome::kOk);
}

TEST_F(HttpsAttemptTest, IsAnErrorWithACertificateOfAnotherName) {
  const Certificate certificate("DNS:elsewhere.example");
  const TlsServer server(certificate);
  for (const char* host : {"localhost", "127.0.0.1"}) {
    EXPECT_EQ(attempt(trusting(server.url(host), certificate), kPatience), Outcome::kError);
  }
}

TEST_F(HttpsAttemptTest, IsAnErrorWithACertificateThatNobodyVouchesFor) {
  const Certificate certificate("DNS:localhost");
  const TlsServer server(certificate);
  const Certificate another("DNS:localhost");
  testing::internal::CaptureStderr();
  EXPECT_EQ(attempt(trusting(server.url("localhost"), another), kPatience), Outcome::kError);
  EXPECT_EQ(attempt(make_request({.url = server.url("localhost")}), kPatience), Outcome::kError);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(lines(said).size(), 2) << "one a request's kind: " << said;
  EXPECT_THAT(said, HasSubstr("the server's certificate is not accepted: self-signed certificate"));
}

TEST_F(HttpsAttemptTest, IsOkWithAnyWhenItTrustsWhoeverAnswers) {
  const TlsServer server(Certificate("DNS:elsewhere.example"));
  const RequestOptions options{.url = server.url("localhost"), .insecure = true};
  EXPECT_EQ(attempt(make_request(options), kPatience), Outcome::kOk);
}

TEST_F(HttpsAttemptTest, IsAnErrorWhereNobodySpeaksTls) {
  const FakeServer server([](const Socket& socket) { answer(socket, "200 OK"); });
  EXPECT_EQ(attempt(url(server.port()), kPatience), Outcome::kError);
}

TEST_F(HttpsAttemptTest, TimesOutWhenNobodyAnswersTheHandshake) {
  const Listener silent;
  EXPECT_EQ(attempt(url(silent.port()), 300ms), Outcome::kTimedOut);
}

// Each byte would start the timeout anew.
TEST_F(HttpsAttemptTest, TimesOutWhenTheHandshakeDrips) {
  const FakeServer server([](const Socket& socket) {
    using namespace std::string_view_literals;
    socket.send("\x16\x03\x03\x3f\x00"sv);  // a long record is to follow
    for (int i = 0; i < 1000 && socket.send("\x02"); ++i) std::this_thread::sleep_for(10ms);
  });
  EXPECT_EQ(attempt(url(server.port()), 300ms), Outcome::kTimedOut);
}

TEST_F(HttpsAttemptTest, TimesOutWhenConnectingHangs) {
  const FullListener full;
  EXPECT_EQ(attempt(url(full.port()), 300ms), Outcome::kTimedOut);
}

// A handshake that hangs must not put off those whose time is over.
TEST_F(HttpsAttemptTest, TimesOutBesideOthersThatHangForLonger) {
  const Listener silent;
  const HttpRequest request{.url = resolve_url(url(silent.port()))};
  Deadlines deadlines;
  std::vector<std::jthread> threads;
  for (const Duration patience : std::initializer_list<Duration>{3s, 300ms, 2s}) {
    threads.emplace_back([&, patience] {
      HttpAttempt each(request, 10min, deadlines);
      const AttemptResult result = each.run(patience);
      EXPECT_EQ(result.outcome, Outcome::kTimedOut);
      EXPECT_LT(result.latency, patience + 1s * kSlowness);
    });
  }
}

TEST_F(HttpAttemptTest, EachAttemptStartsAfresh) {
  const FakeServer server([requests = 0](const Socket& socket) mutable {
    if (++requests % 2 == 1) {
      drip(socket);
    } else {
      answer(socket, "200 OK");
    }
  });
  const Duration timeout = 500ms * kSlowness;
  Deadlines deadlines;
  const HttpRequest request{.url = resolve_url(server.url())};
  HttpAttempt attempt(request, timeout, deadlines);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(attempt.run(timeout).outcome, Outcome::kTimedOut);
    EXPECT_EQ(attempt.run(timeout).outcome, Outcome::kOk);
  }
}

}  // namespace
}  // namespace retrystorm::test
