// One attempt of one client, against various servers.
#include "common/http/http_attempt.h"

#include <sys/resource.h>
#include <sys/socket.h>

#include <cerrno>

#include "common/http/http_client.h"
#include "tests/support/certificate.h"
#include "tests/support/child_process.h"
#include "tests/support/sockets.h"
#include "tests/support/test.h"

namespace retrystorm::test {
namespace {

// A server's answer to a request: this text.
std::function<void(Socket)> saying(const std::string& text) {
  return [text](const Socket& socket) {
    socket.receive(5s, "\r\n\r\n");
    socket.send(text);
  };
}

class HttpAttemptTest : public testing::Test {
 protected:
  HttpAttemptTest() { std::signal(SIGPIPE, SIG_IGN); }

  // Checks that the attempt lasts at most `timeout`, plus a tolerance for a busy machine. A server
  // that sends for ten seconds or forever would exceed it.
  static Outcome attempt(const std::string& url, Duration timeout) {
    return attempt(make_request({.url = url, .insecure = is_https(url)}), timeout);
  }
  static Outcome attempt(const HttpRequest& request, Duration timeout) {
    HttpAttempt attempt(request);
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
  static Outcome told(const std::string& text) {
    const FakeServer server(saying(text));
    return attempt(server.url(), kPatience);
  }
};

TEST_F(HttpAttemptTest, IsOkWithAnyStatusOf2xxAndAnErrorWithAnyOther) {
  for (const char* status : {"200 OK", "201 Created", "299 Whatever"}) {
    EXPECT_EQ(answered_with(status), Outcome::kOk) << status;
  }
  for (const char* status : {"302 Found", "404 Not Found", "429 Too Many Requests",
                             "500 Internal Server Error", "503 Service Unavailable"}) {
    EXPECT_EQ(answered_with(status), Outcome::kError) << status;
  }
}

TEST_F(HttpAttemptTest, TellsABadRequestThatAsksForLess) {
  const auto failure_of = [](const std::string& headers, const std::string& body) {
    const FakeServer server(saying("HTTP/1.1 400 Bad Request\r\n" + headers +
                                   "Content-Length: " + std::to_string(body.size()) +
                                   "\r\nConnection: close\r\n\r\n" + body));
    const HttpRequest request{.url = resolve_url(server.url())};
    return HttpAttempt(request).run(kPatience).failure;
  };
  const std::string name = R"({"__type":"com.amazonaws.dynamodb.v20120810#)"
                           R"(ProvisionedThroughputExceededException","message":"later"})";
  EXPECT_EQ(failure_of("", name), Failure::kThrottled);
  EXPECT_EQ(failure_of("x-amzn-errortype: ThrottlingException:http://x.example/\r\n", "{}"),
            Failure::kThrottled);
  EXPECT_EQ(failure_of("", R"({"__type":"ValidationException"})"), Failure::kPermanent);
  // Only a body as short as a real error's is kept.
  EXPECT_EQ(failure_of("", std::string(1'000'000, ' ') + name), Failure::kPermanent);
}

TEST_F(HttpAttemptTest, TellsOnceWhatIsNoService) {
  const auto said = [](const std::string& status, const std::string& type) {
    const FakeServer server(saying("HTTP/1.1 " + status + "\r\nContent-Type: " + type +
                                   "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"));
    HttpRequest request{.url = resolve_url(server.url())};
    request.url.path = "/metrics";
    testing::internal::CaptureStderr();
    for (int i = 0; i < 2; ++i) HttpAttempt(request).run(kPatience);
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(said("200 OK", "text/plain; version=0.0.4; charset=utf-8"),
            "--url: /metrics is a page of metrics, not a service: how it bears retries says "
            "nothing about yours\n");
  EXPECT_EQ(said("404 Not Found", "text/html"),
            "--url: /metrics: the answer is 404, there is no service under this path\n");
  EXPECT_EQ(said("308 Permanent Redirect", "text/html"),
            "--url: /metrics: the answer is a redirect (308), which is not followed\n");
  for (const char* status : {"200 OK", "500 Internal Server Error", "429 Too Many Requests"}) {
    EXPECT_EQ(said(status, "text/plain"), "") << status;
  }
}

// Refused, reset, closed without an answer, in the middle of one, and by another protocol.
TEST_F(HttpAttemptTest, IsAnErrorWithoutAWholeAnswer) {
  const std::string nobody = Listener().url();
  EXPECT_EQ(attempt(nobody, kPatience), Outcome::kError);
  const FakeServer resets(reset);
  EXPECT_EQ(attempt(resets.url(), kPatience), Outcome::kError);
  for (const char* text : {"", "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nOK",
                           "220 mail.example.org ESMTP\r\n"}) {
    EXPECT_EQ(told(text), Outcome::kError) << text;
  }
}

// Each byte would restart a read timeout. An answer without a length ends with its connection, even when the deadline
// closes that.
TEST_F(HttpAttemptTest, TimesOutWhenTheAnswerDrips) {
  const FakeServer drips(drip);
  EXPECT_EQ(attempt(drips.url(), 300ms), Outcome::kTimedOut);
  const std::string head = "HTTP/1.1 200 OK\r\n",
                    chunked = head + "Transfer-Encoding: chunked\r\n\r\n";
  for (const auto& [begin, pause] : {std::pair(head + "Connection: close\r\n\r\n", 10ms),
                                     {head + "X-Slow: ", 10ms},
                                     {chunked + "5;name=", 250ms},
                                     {chunked + "0\r\nX-Slow: ", 250ms},
                                     {chunked + "5\r\nabc", 250ms}}) {
    const FakeServer server([text = begin, pause = pause](const Socket& socket) {
      socket.receive(5s, "\r\n\r\n");
      socket.send(text);
      for (int i = 0; i < 1000 && socket.send("."); ++i) std::this_thread::sleep_for(pause);
    });
    EXPECT_EQ(attempt(server.url(), 300ms), Outcome::kTimedOut) << begin;
  }
}

TEST_F(HttpAttemptTest, SendsWhatItIsTold) {
  std::string received;
  {
    const FakeServer server([&](const Socket& socket) {
      received = socket.receive(kPatience, "a body");
      socket.send("HTTP/1.1 204 No Content\r\n\r\n");
    });
    HttpRequest request{.url = resolve_url(server.url() + "?q=1"),
                        .method = "POST",
                        .headers = {{"X-One", "1"}, {"Content-Type", "text/csv"}},
                        .body = "a body"};
    EXPECT_EQ(attempt(request, kPatience), Outcome::kOk);
  }
  EXPECT_EQ(received.substr(0, received.find('\r')), "POST /api?q=1 HTTP/1.1");
  for (const char* header : {"X-One: 1", "Content-Type: text/csv", "Content-Length: 6"}) {
    EXPECT_THAT(received, HasHeader(header));
  }
  EXPECT_THAT(received, HasSubstr("\r\nHost: 127.0.0.1:"));
  EXPECT_THAT(received, HasBody("a body"));
}

TEST_F(HttpAttemptTest, IsOkWithEveryMethod) {
  for (const char* method : {"HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"}) {
    const FakeServer server([](const Socket& socket) { answer(socket, "200 OK"); });
    EXPECT_EQ(attempt({.url = resolve_url(server.url()), .method = method}, kPatience),
              Outcome::kOk)
        << method;
  }
}

// cpp-httplib reads lines of any length, and parses the first line with a regular expression that
// recurses for each character.
TEST_F(HttpAttemptTest, IsAnErrorWhenTheFirstLineIsLong) {
  EXPECT_EQ(answered_with("200 " + std::string(8000, 'a')), Outcome::kOk);
  EXPECT_EQ(answered_with("200 " + std::string(30'000, 'a')), Outcome::kError);
  EXPECT_EQ(answered_with("200 " + std::string(3'000'000, 'a')), Outcome::kError);
}

// Sends `begin`, and then `again` repeatedly.
std::function<void(Socket)> endless(const std::string& begin, const std::string& again) {
  return [=](const Socket& socket) {
    socket.receive(5s, "\r\n\r\n");
    std::string many;
    while (many.size() < 100'000) many += again;
    const TimePoint end = Clock::now() + 10s;
    for (bool sent = socket.send(begin); sent && Clock::now() < end;) sent = socket.send(many);
  };
}

TEST_F(HttpAttemptTest, IsAnErrorWhenTheHeadHasNoEnd) {
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  for (const auto& [begin, again] :
       {std::pair(ok + "X-Long: ", "a"), std::pair(ok, "X-Many: a\r\n"),
        std::pair(std::string(), "HTTP/1.1 100 Continue\r\n\r\n"),
        std::pair(ok + "Transfer-Encoding: chunked\r\n\r\n", "0"),
        std::pair(ok + "Transfer-Encoding: chunked\r\n\r\n0\r\n", "X-Many: a\r\n")}) {
    const FakeServer server(endless(begin, again));
    EXPECT_EQ(attempt(server.url(), kPatience), Outcome::kError) << begin << again;
  }
}

// Of any length, with a long head, and in many chunks, which are longer than a head may be. A small compressed body may
// decompress to an enormous one: it is not.
TEST_F(HttpAttemptTest, IsOkWithLongAnswers) {
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  EXPECT_EQ(told(ok + "Content-Length: 5000000\r\n\r\n" + std::string(5'000'000, '.')),
            Outcome::kOk);
  std::string head = ok, chunks;
  for (int i = 0; i < 7; ++i) head += "X-Long: " + std::string(8000, 'a') + "\r\n";
  for (int i = 0; i < 20'000; ++i) chunks += "2\r\nok\r\n";
  EXPECT_EQ(told(head + "Transfer-Encoding: chunked\r\n\r\n" + chunks + "0\r\n\r\n"), Outcome::kOk);
  EXPECT_EQ(told(ok + "Content-Encoding: gzip\r\nContent-Length: 8\r\n\r\nno gzip!"), Outcome::kOk);
}

// What comes before and after an answer's own parts (RFC 9110, 15.2, and 9112, 7.1).
TEST_F(HttpAttemptTest, IsOkWithInterimAnswersChunksAndTrailers) {
  const std::string head = "HTTP/1.1 200 OK\r\n",
                    chunked = head + "Transfer-Encoding: chunked\r\n\r\n";
  std::string many;
  for (int i = 0; i < 11'000; ++i) many += "1\r\nx\r\n";
  for (const std::string& text :
       {"HTTP/1.1 100 Continue\r\n\r\n" + head + "Content-Length: 2\r\n\r\nOK",
        "HTTP/1.1 102 Processing\r\n\r\n" + head + "Content-Length: 2\r\n\r\nOK",
        "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n" + head +
            "Content-Length: 0\r\n\r\n",
        chunked + "2\r\nOK\r\n0\r\nServer-Timing: a;dur=1\r\nX-Sum: 7\r\n\r\n",
        chunked + "A;name=value\r\n0123456789\r\n0;last\r\n\r\n", chunked + many + "000\r\n\r\n",
        head + "Transfer-Encoding: gzip, Chunked\r\nContent-Length: 7\r\n\r\n0\r\n\r\n",
        std::string("HTTP/1.1 204 No Content\r\n\r\n")}) {
    const FakeServer server([&](const Socket& socket) {
      while (!socket.receive(kPatience, "\r\n\r\n").empty()) socket.send(text);
    });
    const HttpRequest request{.url = resolve_url(server.url())};
    HttpAttempt attempt(request);
    Connection kept;
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(attempt.run(kPatience, nullptr, &kept).outcome, Outcome::kOk)
          << attempt.why() << text.substr(0, 200);
      EXPECT_TRUE(kept.is_open());
    }
  }
}

TEST_F(HttpAttemptTest, IsAnErrorWhereChunksOrLengthsAreNone) {
  const std::string head = "HTTP/1.1 200 OK\r\n",
                    chunked = head + "Transfer-Encoding: chunked\r\n\r\n";
  for (const std::string& text :
       {chunked + "2\r\nOKAY\r\n0\r\n\r\n", chunked + "x\r\n\r\n", chunked + "-1\r\n\r\n",
        chunked + "\r\n\r\n", chunked + "11111111111111111\r\nx", chunked + "0\r\n\r",
        chunked + "1", head + "Content-Length: -1\r\n\r\n", head + "Content-Length: 1,1\r\n\r\nx",
        head + "Content-Length: 99999999999999999999\r\n\r\n",
        std::string("HTTP/1.1 20 OK\r\n\r\n"), std::string("HTTP/1.1 2000 OK\r\n\r\n"),
        std::string("HTTP/2 200\r\n\r\n"), std::string("HTTP/1.1 102 Processing\r\n\r\n")}) {
    EXPECT_EQ(told(text), Outcome::kError) << text;
  }
}

TEST_F(HttpAttemptTest, SendsABodyOnlyWhereItIsAskedFor) {
  for (const bool asks : {true, false}) {
    std::string rest;
    std::atomic<bool> closed = false;
    const FakeServer server([&](const Socket& socket) {
      socket.receive(5s, "\r\n\r\n");
      if (asks) socket.send("HTTP/1.1 100 Continue\r\n\r\n");
      if (asks) rest = socket.receive(kPatience, "a body");
      socket.send("HTTP/1.1 204 No Content\r\n\r\n");
      const std::string more = socket.receive(kPatience);  // until the client closes
      if (!asks) rest = more;
      closed = true;
    });
    const HttpRequest request{.url = resolve_url(server.url()),
                              .method = "POST",
                              .headers = {{"Expect", "100-continue"}},
                              .body = "a body"};
    Connection kept;
    HttpAttempt attempt(request);
    EXPECT_EQ(attempt.run(kPatience, nullptr, &kept).outcome, Outcome::kOk) << attempt.why();
    EXPECT_EQ(kept.is_open(), asks);
    kept.shut();
    ASSERT_TRUE(eventually([&] { return closed.load(); }));
    EXPECT_EQ(rest, asks ? "a body" : "");
  }
}

TEST_F(HttpAttemptTest, TimesOutWhenTheBodyHasNoEnd) {
  const FakeServer server(endless("HTTP/1.1 200 OK\r\n\r\n", "."));
  EXPECT_EQ(attempt(server.url(), 300ms), Outcome::kTimedOut);
}

TEST_F(HttpAttemptTest, SaysOnceWhenThisMachineIsShortOfDescriptors) {
  if (!kCanRunOutOfDescriptors) GTEST_SKIP() << "the sanitizer needs descriptors itself";
  const FakeServer server([](const Socket& socket) { answer(socket, "200 OK"); });
  const HttpRequest request{.url = resolve_url(server.url())};
  HttpAttempt attempt(request);
  testing::internal::CaptureStderr();
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const rlimit none{.rlim_cur = 0, .rlim_max = limit.rlim_max};
  setrlimit(RLIMIT_NOFILE, &none);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(attempt.run(kPatience).outcome, Outcome::kError);
  setrlimit(RLIMIT_NOFILE, &limit);
  EXPECT_EQ(attempt.run(kPatience).outcome, Outcome::kOk);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(lines(said).size(), 1) << said;
  EXPECT_THAT(said, HasSubstr("(Too many open files): some of the errors are not the service's"));
}

class HttpsAttemptTest : public HttpAttemptTest {
 protected:
  static std::string url(int port) { return "https://127.0.0.1:" + std::to_string(port) + "/api"; }

  static HttpRequest trusting(const std::string& url, const Certificate& certificate) {
    const TempDir dir;
    std::ofstream(dir.file("ca.pem")) << certificate.pem();
    return make_request({.url = url, .cacert = dir.file("ca.pem")});
  }
};

TEST_F(HttpsAttemptTest, IsOkWithATrustedCertificateOfThatName) {
  for (const auto& [name, host, outcome] :
       {std::tuple("DNS:localhost", "localhost", Outcome::kOk),
        {"IP:127.0.0.1", "127.0.0.1", Outcome::kOk},
        {"DNS:elsewhere.example", "localhost", Outcome::kError},
        {"DNS:elsewhere.example", "127.0.0.1", Outcome::kError}}) {
    const Certificate certificate(name);
    const TlsServer server(certificate);
    EXPECT_EQ(attempt(trusting(server.url(host), certificate), kPatience), outcome) << name << host;
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
  const FakeServer server([](const Socket& socket) { socket.send("HTTP/1.1 200 OK\r\n\r\n"); });
  EXPECT_EQ(attempt(url(server.port()), kPatience), Outcome::kError);
}

TEST_F(HttpsAttemptTest, TimesOutWhenNobodyAnswersTheHandshakeOrConnectingHangs) {
  const Listener silent;
  EXPECT_EQ(attempt(url(silent.port()), 300ms), Outcome::kTimedOut);
  const FullListener full;
  EXPECT_EQ(attempt(url(full.port()), 300ms), Outcome::kTimedOut);
}

// Each byte would restart the timeout.
TEST_F(HttpsAttemptTest, TimesOutWhenTheHandshakeDrips) {
  const FakeServer server([](const Socket& socket) {
    using namespace std::string_view_literals;
    socket.send("\x16\x03\x03\x3f\x00"sv);  // announces a long record
    for (int i = 0; i < 1000 && socket.send("\x02"); ++i) std::this_thread::sleep_for(10ms);
  });
  EXPECT_EQ(attempt(url(server.port()), 300ms), Outcome::kTimedOut);
}

// Such a message may come at any time in a handshake (RFC 5246, 7.4.1.1), and OpenSSL reads on without returning.
TEST_F(HttpsAttemptTest, TimesOutWhenTheHandshakeIsAFlood) {
  using namespace std::string_view_literals;
  const FakeServer server(endless("", std::string("\x16\x03\x03\x00\x04\x00\x00\x00\x00"sv)));
  EXPECT_EQ(attempt(url(server.port()), 300ms), Outcome::kTimedOut);
}

// A TLS server that answers with messages that are no data (RFC 8446, 4.6), or with bytes in a record each.
TEST_F(HttpsAttemptTest, TimesOutWhenRecordsHaveNoEnd) {
  const Certificate certificate("DNS:localhost");
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_server_method()),
                                                                  SSL_CTX_free);
  SSL_CTX_use_certificate(context.get(), certificate.get());
  SSL_CTX_use_PrivateKey(context.get(), certificate.key());
  const auto update = [](SSL* tls) {
    return SSL_key_update(tls, SSL_KEY_UPDATE_NOT_REQUESTED) == 1 && SSL_do_handshake(tls) == 1;
  };
  const auto byte = [](SSL* tls) { return SSL_write(tls, "x", 1) == 1; };
  for (const std::function<bool(SSL*)>& more :
       {std::function<bool(SSL*)>(update), std::function<bool(SSL*)>(byte)}) {
    const FakeServer server([&](const Socket& socket) {
      const std::unique_ptr<SSL, decltype(&SSL_free)> tls(SSL_new(context.get()), SSL_free);
      SSL_set_fd(tls.get(), socket.descriptor());
      if (SSL_accept(tls.get()) != 1) return;
      constexpr std::string_view kHead = "HTTP/1.1 200 OK\r\n\r\n";
      SSL_write(tls.get(), kHead.data(), static_cast<int>(kHead.size()));
      const auto is_there = [&socket] {  // nobody has read the request
        char first = 0;
        return recv(socket.descriptor(), &first, 1, MSG_PEEK | MSG_DONTWAIT) > 0 || errno == EAGAIN;
      };
      while (is_there() && more(tls.get())) {
      }
    });
    EXPECT_EQ(attempt(url(server.port()), 300ms), Outcome::kTimedOut);
  }
}

// Such an answer has no body, whatever its head says.
TEST_F(HttpAttemptTest, IsOverWithTheHeadOfAnAnswerOf304) {
  const std::string head = "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n";
  const FakeServer server([&](const Socket& socket) {
    while (!socket.receive(kPatience, "\r\n\r\n").empty()) socket.send(head);
  });
  const HttpRequest request{.url = resolve_url(server.url())};
  HttpAttempt attempt(request);
  EXPECT_EQ(attempt.run(kPatience).status, 304);
  Connection kept;
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(attempt.run(kPatience, nullptr, &kept).status, 304);
    EXPECT_TRUE(kept.is_open());
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
  const HttpRequest request{.url = resolve_url(server.url())};
  HttpAttempt attempt(request);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(attempt.run(timeout).outcome, Outcome::kTimedOut);
    EXPECT_EQ(attempt.run(timeout).outcome, Outcome::kOk);
  }
}

}  // namespace
}  // namespace retrystorm::test
