#include "client/server_control.h"

#include <chrono>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "client/http_client.h"
#include "common/http/control.h"
#include "common/http/secret.h"

namespace retrystorm {
namespace {

using namespace std::chrono_literals;

// Who asks before the run begins does not wait for long; the server may be frozen for long.
constexpr auto kPatience = 2s;
constexpr auto kLongestFreeze = 1h;

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

}  // namespace

ServerControl::ServerControl(const Url& url, std::string token,
                             std::function<void(const std::string&)> tell)
    : url_(url),
      token_(std::move(token)),
      tell_(std::move(tell)),
      client_(client_for(url, kPatience)) {
  client_.set_read_timeout(kLongestFreeze);
  thread_ = std::thread(&ServerControl::run, this);
}

ServerControl::~ServerControl() {
  {
    const std::scoped_lock lock(mutex_);
    end_ = true;
  }
  changed_.notify_all();
  // The server may be frozen, or may not have been connected to yet.
  for (; !ended_; std::this_thread::sleep_for(5ms)) client_.stop();
  thread_.join();
}

void ServerControl::check(const std::string& orders) {
  httplib::Client client = client_for(url_, kPatience);
  const std::string why = post(client, kCheckPath, orders);
  if (!why.empty()) throw std::runtime_error(why);
}

void ServerControl::send(std::string order) {
  {
    const std::scoped_lock lock(mutex_);
    orders_.push_back(std::move(order));
  }
  changed_.notify_all();
}

void ServerControl::drain(Duration patience) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, patience, [this] { return orders_.empty(); });
}

void ServerControl::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return end_ || !orders_.empty(); });
    if (end_) break;
    const std::string order = orders_.front();
    lock.unlock();
    const std::string why = post(client_, kControlPath, order);
    if (!why.empty()) {
      ++failed_;
      tell_(order + ": " + why);
    }
    lock.lock();
    orders_.pop_front();
    changed_.notify_all();
  }
  ended_ = true;
}

std::string ServerControl::post(httplib::Client& to, const char* path, const std::string& orders) {
  const auto answer = to.Post(path, {{kTokenHeader, token_}}, orders, "text/plain");
  const std::string where = url_.host + ':' + std::to_string(url_.port);
  if (!answer) {
    return "the server's admin port, " + where +
           ", does not answer (--server-admin says where it is): " +
           httplib::to_string(answer.error());
  }
  if (answer->status == 200) return "";
  if (answer->status == 403) {
    return "the server at " + where +
           " has another token: give --admin-token-file to both programs";
  }
  if (answer->status == 404 || answer->status == 405) {
    return "what answers at " + where + " is no retrystorm server's admin port";
  }
  return first_line(answer->body);
}

std::string read_token(const std::string& path) {
  std::ifstream file(path);
  std::string token;
  if (!std::getline(file, token) || token.empty()) {
    throw std::runtime_error("there is no token in '" + path +
                             "': start the server with the same --admin-token-file");
  }
  return token;
}

}  // namespace retrystorm
