#include "common/http/http2_connection.h"

#include <nghttp2/nghttp2.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <condition_variable>
#include <cstring>
#include <new>
#include <string_view>
#include <system_error>
#include <utility>

#include "model/base/text.h"

namespace retrystorm {
namespace {

// What is handed to the system at a time, so that a request and the resets before it are one packet.
constexpr std::size_t kPart = 16 * 1024;

constexpr const char* kSpeaksNoHttp2 = "the server does not speak HTTP/2";

// HTTP/2 knows no headers about the connection (RFC 9113, 8.2.2). Host becomes `:authority`.
bool is_of_connection(const std::string& name) {
  constexpr std::array<std::string_view, 7> kNames{
      "connection",        "expect", "host", "keep-alive", "proxy-connection",
      "transfer-encoding", "upgrade"};
  return std::ranges::find(kNames, name) != kNames.end();
}

nghttp2_nv field(const std::string& name, const std::string& value) {
  // nghttp2 copies both, but takes them as not const.
  const auto bytes = [](const std::string& text) {
    return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
  };
  return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

}  // namespace

// A request and its answer.
struct Http2Connection::Exchange {
  using Fields = std::vector<std::pair<std::string, std::string>>;

  Exchange(Fields head_fields, const std::string& its_body, std::size_t most)
      : fields(std::move(head_fields)), body(its_body), kept(most) {}

  const Fields fields;
  const std::string& body;
  const std::size_t kept;
  std::condition_variable changed{};

  // The connection's thread's own.
  httplib::Response response{};
  std::size_t sent = 0;  // of the body
  std::size_t head = 0;  // bytes of the answer's head so far
  std::int32_t stream = 0;
  bool complete = false;  // the whole answer is here

  std::atomic<bool> given_up = false;  // nobody waits for it
  // With the lock.
  HttpAnswer answer{};
  bool done = false;
  bool interrupted = false;
  bool is_over() const { return done || interrupted; }
  void end(HttpAnswer with) {
    answer = std::move(with);
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
      httplib::Response& response = exchange->response;
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
    std::string& body = exchange->response.body;
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
      const std::scoped_lock lock(self.mutex_);
      self.accepted_ = !self.over_;
      self.first_->changed.notify_one();
    } else if (frame->hd.type == NGHTTP2_GOAWAY) {
      self.going_away_ = true;
    } else if ((frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) &&
               (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
      if (Exchange* const exchange = of(session, frame->hd.stream_id)) exchange->complete = true;
    }
    return 0;
  }

  static int closed(nghttp2_session* session, std::int32_t stream, std::uint32_t error,
                    void* data) {
    auto& self = *static_cast<Http2Connection*>(data);
    Exchange* const exchange = of(session, stream);
    if (exchange == nullptr) return 0;
    if (exchange->complete) {
      const std::scoped_lock lock(self.mutex_);
      exchange->end({.response = std::move(exchange->response)});
    } else if (exchange->head > Connection::kLongestHead) {
      self.fail(*exchange, "the answer's head is too long");
    } else if (!self.accepted_) {
      // Its first bytes came before the request was sent, and there is no session to send it in.
      self.fail(*exchange, kSpeaksNoHttp2);
    } else {
      self.fail(*exchange,
                std::string("the server has ended the request: ") + nghttp2_http2_strerror(error),
                NoAnswer::kReset, self.going_away_);
    }
    self.under_way_.erase(stream);
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
  over_ = true;
  wake();
  if (thread_.joinable()) thread_.join();
}

bool Http2Connection::begin(TimePoint deadline) {
  if (!wakes_) return break_off("no descriptor");
  if (!connection_.open(request_.url, request_.tls.get(), deadline, Connection::Protocol::kHttp2)) {
    return break_off(connection_.why(), connection_.no_answer());
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
    return break_off("no memory");
  }
  try {
    thread_ = std::thread(&Http2Connection::run, this);
  } catch (const std::system_error&) {
    return break_off("no thread");
  }
  return true;
}

HttpAnswer Http2Connection::open(Duration patience, std::size_t kept, const httplib::Headers& more,
                                 const std::function<void()>& accepted,
                                 Interruption* interruption) {
  const TimePoint deadline = saturating_add(Clock::now(), patience);
  first_ = make_exchange(kept, more);
  const Interruption::Scope scope(interruption, [this] { interrupt(*first_); });
  if (!begin(deadline)) {
    const auto fault = connection_.fault();
    return {.fault = fault == Connection::Fault::kNone ? Connection::Fault::kShortage : fault,
            .why = why_,
            .no_answer = no_answer_};
  }
  {
    std::unique_lock lock(mutex_);
    has_begun_ = true;
    hand_over(first_);
    first_->changed.wait_until(lock, bounded(deadline),
                               [this] { return first_->is_over() || accepted_; });
    if (!accepted_) over_ = true;
    wake();
  }
  if (accepted_) accepted();
  return await(first_, deadline);
}

HttpAnswer Http2Connection::send(Duration patience, std::size_t kept, const httplib::Headers& more,
                                 Interruption* interruption) {
  const TimePoint deadline = saturating_add(Clock::now(), patience);
  const Shared exchange = make_exchange(kept, more);
  const Interruption::Scope scope(interruption, [&] { interrupt(*exchange); });
  {
    const std::scoped_lock lock(mutex_);
    hand_over(exchange);
  }
  return await(exchange, deadline);
}

void Http2Connection::interrupt(Exchange& exchange) {
  const std::scoped_lock lock(mutex_);
  exchange.interrupted = true;
  exchange.changed.notify_one();
  if (!has_begun_) connection_.interrupt();
}

Http2Connection::Shared Http2Connection::make_exchange(std::size_t kept,
                                                       const httplib::Headers& more) const {
  Exchange::Fields fields{{":method", request_.method},
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
  return std::make_shared<Exchange>(std::move(fields), request_.body, kept);
}

void Http2Connection::hand_over(const Shared& exchange) {
  if (!over_) {
    handed_over_.push_back(exchange);
    return wake();
  }
  if (exchange->given_up) return;
  const bool lost = no_answer_ == NoAnswer::kReset && exchange != first_;
  exchange->end(
      {.fault = Connection::Fault::kBroken, .why = why_, .no_answer = no_answer_, .lost = lost});
}

HttpAnswer Http2Connection::await(const Shared& exchange, TimePoint deadline) {
  std::unique_lock lock(mutex_);
  exchange->changed.wait_until(lock, bounded(deadline), [&] { return exchange->is_over(); });
  if (exchange->done) return std::move(exchange->answer);
  exchange->given_up = true;
  hand_over(exchange);
  return {.fault = Connection::Fault::kTimedOut, .why = "no answer in time"};
}

void Http2Connection::take_over() {
  std::vector<Shared> all;
  {
    const std::scoped_lock lock(mutex_);
    all.swap(handed_over_);
  }
  for (const Shared& each : all) {
    if (!each->given_up) {
      submit(each);
    } else if (under_way_.erase(each->stream) > 0) {
      nghttp2_session_set_stream_user_data(session_.get(), each->stream, nullptr);
      nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE, each->stream, NGHTTP2_CANCEL);
    }
  }
}

void Http2Connection::submit(const Shared& exchange) {
  std::vector<nghttp2_nv> head;
  head.reserve(exchange->fields.size());
  for (const auto& [name, value] : exchange->fields) head.push_back(field(name, value));
  const nghttp2_data_provider body{.source = {.ptr = nullptr}, .read_callback = Callbacks::body};
  exchange->stream =
      nghttp2_submit_request(session_.get(), nullptr, head.data(), head.size(),
                             exchange->body.empty() ? nullptr : &body, exchange.get());
  if (exchange->stream < 0) {
    going_away_ = true;  // for example, no further number for a stream
    return fail(*exchange, nghttp2_strerror(exchange->stream));
  }
  under_way_.emplace(exchange->stream, exchange);
}

void Http2Connection::wake() const {
  eventfd_write(wakes_.number(), 1);
}

void Http2Connection::run() {
  while (!over_) {
    take_over();
    const short writable = write();
    if (over_) break;
    if (nghttp2_session_want_read(session_.get()) == 0 &&
        nghttp2_session_want_write(session_.get()) == 0) {
      break_off(accepted_ ? "the server has ended the connection" : kSpeaksNoHttp2,
                accepted_ ? NoAnswer::kReset : NoAnswer::kOther);
      break;
    }
    std::array<pollfd, 2> waits{
        pollfd{connection_.socket(), static_cast<short>(POLLIN | writable), 0},
        pollfd{wakes_.number(), POLLIN, 0}};
    poll(waits.data(), waits.size(), -1);
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
      if (size < 0) break_off(nghttp2_strerror(static_cast<int>(size)));
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

// Only one part at a time: the server may send without end.
void Http2Connection::read() {
  std::array<char, kPart> part;
  const Connection::Step step = connection_.try_to_read(part.data(), part.size());
  if (step.size > 0) {
    const ssize_t taken = nghttp2_session_mem_recv(
        session_.get(), reinterpret_cast<const std::uint8_t*>(part.data()), step.size);
    if (taken < 0) break_off(nghttp2_strerror(static_cast<int>(taken)));
  } else if (step.waits_for == 0) {
    // Whether a server that hangs up closes the connection or resets it, with requests that it has not read, is chance.
    const bool hangs_up =
        connection_.is_closed() || (!accepted_ && connection_.no_answer() == NoAnswer::kReset);
    const char* const closed = accepted_
                                   ? "the server has closed the connection"
                                   : "the server has closed the connection: does it speak HTTP/2?";
    hangs_up ? break_off(closed, NoAnswer::kReset)
             : break_off(connection_.why(), connection_.no_answer());
  }
}

void Http2Connection::fail(Exchange& exchange, const std::string& why, NoAnswer kind, bool ends) {
  const bool lost =
      ends && &exchange != first_.get() && kind == NoAnswer::kReset && exchange.head == 0;
  const std::scoped_lock lock(mutex_);
  exchange.end({.fault = Connection::Fault::kBroken, .why = why, .no_answer = kind, .lost = lost});
}

bool Http2Connection::break_off(const std::string& why, NoAnswer kind) {
  {
    const std::scoped_lock lock(mutex_);
    over_ = true;
    why_ = why;
    no_answer_ = kind;
    for (const Shared& each : handed_over_) hand_over(each);
  }
  for (const auto& [stream, each] : under_way_) fail(*each, why, kind, true);
  return false;
}

}  // namespace retrystorm
