#include "common/http/http2_connection.h"

#include <nghttp2/nghttp2.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "common/os/bounded_wait.h"
#include "model/base/text.h"

namespace retrystorm {
namespace {

// What is handed to the system at a time, so that a request and the resets before it are one packet.
constexpr std::size_t kPart = 16 * 1024;

// HTTP/2 knows no headers about the connection (RFC 9113, 8.2.2). Host becomes `:authority`.
bool is_of_connection(const std::string& name) {
  constexpr std::array<std::string_view, 7> kNames{
      "connection",        "expect", "host", "keep-alive", "proxy-connection",
      "transfer-encoding", "upgrade"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

std::string authority_of(const HttpRequest& request) {
  const auto host = request.headers.find("Host");
  if (host != request.headers.end()) return host->second;
  const Url& url = request.url;
  const bool is_numeric_v6 = url.host.find(':') != std::string::npos && url.host.front() != '[';
  const std::string name = is_numeric_v6 ? '[' + url.host + ']' : url.host;
  return url.port == (url.tls ? 443 : 80) ? name : name + ':' + std::to_string(url.port);
}

nghttp2_nv field(const std::string& name, const std::string& value) {
  // nghttp2 copies both, but takes them as not const.
  const auto bytes = [](const std::string& text) {
    return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
  };
  return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

}  // namespace

// A request and its answer. The thread that sends it owns it.
struct Http2Connection::Exchange {
  const std::string& body;
  std::size_t kept;
  HttpAnswer answer{};
  std::condition_variable changed{};
  std::size_t sent = 0;  // of the body
  std::size_t head = 0;  // bytes of the answer's head so far
  std::int32_t stream = 0;
  bool complete = false;  // the whole answer is here
  bool done = false;
  bool interrupted = false;
  bool opens = false;  // it is the one that opens the connection

  bool is_over() const { return done || interrupted; }
  // `ends`: because the connection ends.
  void fail(Connection::Fault fault, const std::string& why, NoAnswer kind, bool ends = false) {
    const bool lost = ends && !opens && kind == NoAnswer::kReset && head == 0;
    answer = {.fault = fault, .why = why, .no_answer = kind, .lost = lost};
    done = true;
    changed.notify_one();
  }
};

// What nghttp2 calls. No exception may pass through it.
struct Http2Connection::Callbacks {
  static Exchange* of(nghttp2_session* session, std::int32_t stream) {
    return static_cast<Exchange*>(nghttp2_session_get_stream_user_data(session, stream));
  }

  static int header(nghttp2_session* session, const nghttp2_frame* frame, const std::uint8_t* name,
                    std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                    std::uint8_t /*flags*/, void* /*self*/) {
    Exchange* const exchange = of(session, frame->hd.stream_id);
    if (exchange == nullptr) return 0;
    exchange->head += name_size + value_size;
    if (exchange->head > Connection::kLongestHead) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    const std::string_view key(reinterpret_cast<const char*>(name), name_size);
    const std::string_view text(reinterpret_cast<const char*>(value), value_size);
    try {
      httplib::Response& response = exchange->answer.response;
      if (key == ":status") {  // nghttp2 has checked it
        std::from_chars(text.data(), text.data() + text.size(), response.status);
        response.headers.clear();  // those of an interim answer
      } else {
        response.headers.emplace(key, text);
      }
    } catch (const std::bad_alloc&) {
      return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    }
    return 0;
  }

  static int data(nghttp2_session* session, std::uint8_t /*flags*/, std::int32_t stream,
                  const std::uint8_t* data, std::size_t size, void* /*self*/) {
    Exchange* const exchange = of(session, stream);
    if (exchange == nullptr) return 0;
    std::string& body = exchange->answer.response.body;
    try {
      body.append(reinterpret_cast<const char*>(data),
                  std::min(size, exchange->kept - body.size()));
    } catch (const std::bad_alloc&) {
      return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
    return 0;
  }

  static int frame(nghttp2_session* session, const nghttp2_frame* frame, void* data) {
    auto& self = *static_cast<Http2Connection*>(data);
    if (frame->hd.type == NGHTTP2_SETTINGS && !self.accepted_) {
      self.accepted_ = true;
      if (self.first_ != nullptr) self.first_->changed.notify_one();
    } else if (frame->hd.type == NGHTTP2_GOAWAY) {
      self.going_away_ = true;
    } else if ((frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) &&
               (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
      if (Exchange* const exchange = of(session, frame->hd.stream_id)) exchange->complete = true;
    }
    return 0;
  }

  static int closed(nghttp2_session* session, std::int32_t stream, std::uint32_t error,
                    void* self) {
    Exchange* const exchange = of(session, stream);
    if (exchange == nullptr) return 0;
    if (exchange->complete) {
      exchange->done = true;
      exchange->changed.notify_one();
    } else if (exchange->head > Connection::kLongestHead) {
      exchange->fail(Connection::Fault::kBroken, "the answer's head is too long", NoAnswer::kOther);
    } else {
      exchange->fail(
          Connection::Fault::kBroken,
          std::string("the server has ended the request: ") + nghttp2_http2_strerror(error),
          NoAnswer::kReset, static_cast<Http2Connection*>(self)->going_away_);
    }
    return 0;
  }

  // Sends the next part of a request's body.
  static ssize_t body(nghttp2_session* session, std::int32_t stream, std::uint8_t* to,
                      std::size_t size, std::uint32_t* flags, nghttp2_data_source* /*source*/,
                      void* /*self*/) {
    Exchange* const exchange = of(session, stream);
    if (exchange == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;  // it has timed out
    const std::size_t part = std::min(size, exchange->body.size() - exchange->sent);
    std::memcpy(to, exchange->body.data() + exchange->sent, part);
    exchange->sent += part;
    if (exchange->sent == exchange->body.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(part);
  }
};

Http2Connection::Http2Connection(const HttpRequest& request)
    : request_(request),
      wakes_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      session_(nullptr, nghttp2_session_del) {}

Http2Connection::~Http2Connection() {
  {
    const std::scoped_lock lock(mutex_);
    over_ = true;
    wake();
  }
  if (thread_.joinable()) thread_.join();
}

bool Http2Connection::begin(TimePoint deadline) {
  if (!wakes_) {
    break_off("no descriptor", NoAnswer::kOther);
    return false;
  }
  if (!connection_.open(request_.url, request_.tls.get(), deadline, Connection::Protocol::kHttp2)) {
    break_off(connection_.why(), connection_.no_answer());
    return false;
  }
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_session* session = nullptr;
  if (nghttp2_session_callbacks_new(&callbacks) == 0) {
    nghttp2_session_callbacks_set_on_header_callback(callbacks, Callbacks::header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, Callbacks::data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, Callbacks::frame);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, Callbacks::closed);
    nghttp2_session_client_new(&session, callbacks, this);
    nghttp2_session_callbacks_del(callbacks);
  }
  session_.reset(session);
  constexpr nghttp2_settings_entry kNoPush{NGHTTP2_SETTINGS_ENABLE_PUSH, 0};
  if (session_ == nullptr ||
      nghttp2_submit_settings(session_.get(), NGHTTP2_FLAG_NONE, &kNoPush, 1) != 0) {
    break_off("no memory", NoAnswer::kOther);
    return false;
  }
  try {
    thread_ = std::thread(&Http2Connection::run, this);
  } catch (const std::system_error&) {
    break_off("no thread", NoAnswer::kOther);
    return false;
  }
  return true;
}

HttpAnswer Http2Connection::open(Duration patience, std::size_t kept, const httplib::Headers& more,
                                 const std::function<void()>& accepted,
                                 Interruption* interruption) {
  const TimePoint deadline = saturating_add(Clock::now(), patience);
  Exchange exchange{.body = request_.body, .kept = kept, .opens = true};
  const Interruption::Scope scope(interruption, [&] { interrupt(exchange); });
  // Nobody else uses it before it is accepted. The thread waits for the lock.
  std::unique_lock lock(mutex_);
  if (!begin(deadline)) {
    const auto fault = connection_.fault();
    return {.fault = fault == Connection::Fault::kNone ? Connection::Fault::kShortage : fault,
            .why = why_,
            .no_answer = no_answer_};
  }
  first_ = &exchange;
  if (submit(exchange, more)) {
    exchange.changed.wait_until(lock, bounded(deadline),
                                [&] { return exchange.is_over() || accepted_; });
  }
  first_ = nullptr;
  if (!accepted_) {
    if (!exchange.done) exchange.fail(Connection::Fault::kTimedOut, "no answer in time", {});
    over_ = true;
  } else {
    lock.unlock();
    accepted();
    lock.lock();
    exchange.changed.wait_until(lock, bounded(deadline), [&] { return exchange.is_over(); });
  }
  return finish(exchange);
}

HttpAnswer Http2Connection::send(Duration patience, std::size_t kept, const httplib::Headers& more,
                                 Interruption* interruption) {
  const TimePoint deadline = saturating_add(Clock::now(), patience);
  Exchange exchange{.body = request_.body, .kept = kept};
  const Interruption::Scope scope(interruption, [&] { interrupt(exchange); });
  std::unique_lock lock(mutex_);
  if (submit(exchange, more)) {
    exchange.changed.wait_until(lock, bounded(deadline), [&] { return exchange.is_over(); });
  }
  return finish(exchange);
}

void Http2Connection::interrupt(Exchange& exchange) {
  const std::scoped_lock lock(mutex_);
  exchange.interrupted = true;
  exchange.changed.notify_one();
}

bool Http2Connection::submit(Exchange& exchange, const httplib::Headers& more) {
  if (over_) {
    exchange.fail(Connection::Fault::kBroken, why_, no_answer_, true);
    return false;
  }
  std::vector<std::pair<std::string, std::string>> fields{
      {":method", request_.method},
      {":scheme", request_.url.tls ? "https" : "http"},
      {":authority", authority_of(request_)},
      {":path", request_.url.path}};
  for (const httplib::Headers* headers : {&request_.headers, &more}) {
    for (const auto& [name, value] : *headers) {
      const std::string lower = to_lower(name);
      if (!is_of_connection(lower)) fields.emplace_back(lower, value);
    }
  }
  if (!request_.body.empty()) {
    fields.emplace_back("content-length", std::to_string(request_.body.size()));
  }
  std::vector<nghttp2_nv> head;
  head.reserve(fields.size());
  for (const auto& [name, value] : fields) head.push_back(field(name, value));
  const nghttp2_data_provider body{.source = {.ptr = nullptr}, .read_callback = Callbacks::body};
  exchange.stream = nghttp2_submit_request(session_.get(), nullptr, head.data(), head.size(),
                                           exchange.body.empty() ? nullptr : &body, &exchange);
  if (exchange.stream < 0) {
    exchange.fail(Connection::Fault::kBroken, nghttp2_strerror(exchange.stream), NoAnswer::kOther);
    going_away_ = true;  // for example, no further number for a stream
    return false;
  }
  exchanges_.insert(&exchange);
  wake();
  return true;
}

HttpAnswer Http2Connection::finish(Exchange& exchange) {
  exchanges_.erase(&exchange);
  if (exchange.stream > 0)
    nghttp2_session_set_stream_user_data(session_.get(), exchange.stream, nullptr);
  if (!exchange.done) {
    exchange.answer = {.fault = Connection::Fault::kTimedOut, .why = "no answer in time"};
    nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE, exchange.stream, NGHTTP2_CANCEL);
  }
  wake();
  return std::move(exchange.answer);
}

void Http2Connection::wake() const {
  eventfd_write(wakes_.number(), 1);
}

bool Http2Connection::is_accepted() const {
  const std::scoped_lock lock(mutex_);
  return accepted_;
}

bool Http2Connection::can_be_used_again() const {
  const std::scoped_lock lock(mutex_);
  return accepted_ && !going_away_ && !over_;
}

void Http2Connection::run() {
  std::unique_lock lock(mutex_);
  while (!over_) {
    const short writable = write();
    if (over_) break;
    if (nghttp2_session_want_read(session_.get()) == 0 &&
        nghttp2_session_want_write(session_.get()) == 0) {
      break_off(
          accepted_ ? "the server has ended the connection" : "the server does not speak HTTP/2",
          accepted_ ? NoAnswer::kReset : NoAnswer::kOther);
      break;
    }
    std::array<pollfd, 2> waits{
        pollfd{connection_.socket(), static_cast<short>(POLLIN | writable), 0},
        pollfd{wakes_.number(), POLLIN, 0}};
    lock.unlock();
    poll(waits.data(), waits.size(), -1);
    lock.lock();
    eventfd_t count = 0;
    if (waits[1].revents != 0) eventfd_read(wakes_.number(), &count);
    if (waits[0].revents != 0 && !over_) read();
  }
  connection_.shut();
}

// Returns the event of poll to wait for.
short Http2Connection::write() {
  while (true) {
    while (unsent_.size() < kPart) {
      const std::uint8_t* data = nullptr;
      const ssize_t size = nghttp2_session_mem_send(session_.get(), &data);
      if (size < 0) break_off(nghttp2_strerror(static_cast<int>(size)), NoAnswer::kOther);
      if (size <= 0) break;
      unsent_.append(reinterpret_cast<const char*>(data), static_cast<std::size_t>(size));
    }
    if (over_ || unsent_.empty()) return 0;
    const Connection::Step step = connection_.try_to_write(unsent_.data(), unsent_.size());
    if (step.size == 0) {
      if (step.waits_for == 0) break_off(connection_.why(), connection_.no_answer());
      return step.waits_for;
    }
    unsent_.erase(0, step.size);
  }
}

void Http2Connection::read() {
  std::array<char, kPart> part;
  while (true) {
    const Connection::Step step = connection_.try_to_read(part.data(), part.size());
    if (step.size == 0) {
      if (step.waits_for != 0) return;
      // Whether a server that hangs up closes the connection or resets it, with requests that it has not read, is chance.
      const bool hangs_up =
          connection_.is_closed() || (!accepted_ && connection_.no_answer() == NoAnswer::kReset);
      if (!hangs_up) return break_off(connection_.why(), connection_.no_answer());
      return break_off(accepted_ ? "the server has closed the connection"
                                 : "the server has closed the connection: does it speak HTTP/2?",
                       NoAnswer::kReset);
    }
    const ssize_t taken = nghttp2_session_mem_recv(
        session_.get(), reinterpret_cast<const std::uint8_t*>(part.data()), step.size);
    if (taken < 0) return break_off(nghttp2_strerror(static_cast<int>(taken)), NoAnswer::kOther);
  }
}

void Http2Connection::break_off(const std::string& why, NoAnswer kind) {
  over_ = true;
  why_ = why;
  no_answer_ = kind;
  for (Exchange* each : exchanges_) {
    if (!each->done) each->fail(Connection::Fault::kBroken, why, kind, true);
  }
}

}  // namespace retrystorm
