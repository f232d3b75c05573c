#include "common/http/single_request.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "common/os/process.h"
#include "model/base/text.h"

namespace retrystorm {

const httplib::Headers& says_what_it_is() {
  static const httplib::Headers kHeaders{{"User-Agent", "retrystorm-measure (load test)"}};
  return kHeaders;
}

Answered ask_on(const LoadRequest& load, Connection& connection, bool keep, HttpAnswer& answer) {
  const TimePoint begin = Clock::now();
  httplib::Headers headers = says_what_it_is();
  if (!keep) headers.emplace("Connection", "close");
  answer = HttpClient::send_on(connection, load.request, load.timeout, 0, headers);
  if (!keep) connection.shut();
  Answered ended{.end = Clock::now()};
  ended.took = ended.end - begin;
  if (!answer) return ended;
  ended.status = answer.response.status;
  if (ended.rejected()) ended.retry_after = answer.response.get_header_value("Retry-After");
  return ended;
}

Answered ask(const LoadRequest& load, HttpAnswer* answer) {
  Connection connection;
  HttpAnswer own;
  Answered ended;
  std::atomic<bool> done = false;
  const std::jthread sender([&] {
    ended = ask_on(load, connection, false, answer != nullptr ? *answer : own);
    done = true;
  });
  while (!done) {
    // One that was about to send does not see the first interruption.
    if (EndSignals::end_requested()) connection.interrupt();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return ended;
}

std::optional<LoadRequest> health_request(const std::string& url, const RequestOptions& request,
                                          Duration timeout) {
  constexpr Duration kLongest = std::chrono::milliseconds(500);
  if (url.empty()) return std::nullopt;
  return LoadRequest{
      .request = make_request({.url = url, .cacert = request.cacert, .insecure = request.insecure}),
      .timeout = std::min(timeout, kLongest)};
}

std::optional<Duration> calm_time(const LoadRequest& load) {
  constexpr int kOften = 3;
  Duration sum{};
  for (int i = 0; i < kOften; ++i) {
    const Answered one = ask(load);
    if (!one.ok()) return std::nullopt;
    sum += one.took;
  }
  return sum / kOften;
}

bool wait_until_calm(const LoadRequest& load, Duration calm) {
  constexpr Duration kTick = std::chrono::milliseconds(100);
  const TimePoint patience = Clock::now() + std::chrono::seconds(10) + 2 * load.timeout;
  while (Clock::now() < patience && !EndSignals::end_requested()) {
    std::this_thread::sleep_for(kTick);
    const auto time = calm_time(load);
    if (time && *time <= calm) return true;
  }
  return false;
}

std::string host_and_port(const Url& url) {
  return host_in_url(url.host) + ':' + std::to_string(url.port);
}

bool is_private(const std::string& address) {
  in_addr four{};
  if (inet_pton(AF_INET, address.c_str(), &four) == 1) {
    const std::uint32_t bits = ntohl(four.s_addr);
    return bits >> 24 == 127 || bits >> 24 == 10 || bits >> 20 == 0xac1 || bits >> 16 == 0xc0a8 ||
           bits >> 16 == 0xa9fe;
  }
  in6_addr six{};
  if (inet_pton(AF_INET6, address.c_str(), &six) != 1) return false;
  if (IN6_IS_ADDR_V4MAPPED(&six)) {
    std::array<char, INET_ADDRSTRLEN> text{};
    inet_ntop(AF_INET, &six.s6_addr[12], text.data(), text.size());
    return is_private(text.data());
  }
  return IN6_IS_ADDR_LOOPBACK(&six) || IN6_IS_ADDR_LINKLOCAL(&six) ||
         (six.s6_addr[0] & 0xfe) == 0xfc;
}

void check_consent(const Url& url, const Consent& consent) {
  const std::string whom = host_and_port(url);
  if (consent.may_load != whom) {
    refuse("this loads the service to its limit: if you may do that, add --i-may-load=" + whom +
           " (measure --plan says what it sends)");
  }
  if (!consent.even_public && !is_private(url.address)) {
    refuse(url.address +
           " is a public address: others may be using it; if you may, add --even-public");
  }
}

}  // namespace retrystorm
