// Endless requests do not make any of the programs use more memory.
#include "tests/support/child_process.h"
#include "tests/support/sockets.h"
#include "tests/support/test.h"

namespace retrystorm::test {
namespace {

// The program's memory, in bytes.
std::size_t memory(const ChildProcess& program) {
  std::ifstream status("/proc/" + std::to_string(program.pid()) + "/status");
  for (std::string word; status >> word;) {
    if (word == "VmRSS:") {
      std::size_t kilobytes = 0;
      status >> kilobytes;
      return kilobytes * 1024;
    }
  }
  return 0;
}

// The port number after `before` in the program's output.
int port_after(const ChildProcess& program, const std::string& before) {
  if (!program.says(before)) return 0;
  const std::string said = program.err();
  return std::stoi(said.substr(said.find(before) + before.size()));
}

// Sends as long as the other side reads, up to 64 MB. Returns the number of bytes accepted.
std::size_t flood(int port, const std::string& head, const std::string& piece) {
  const Socket socket = connect_to(port);
  if (!socket.send(head)) return 0;
  std::size_t sent = 0;
  for (; sent < 64 << 20 && socket.send(piece); sent += piece.size()) {
  }
  return sent;
}

void expect_no_growth(const ChildProcess& program, int port) {
  ASSERT_GT(port, 0);
  // First lets each of the port's threads allocate what it needs to answer: a lot under a
  // sanitizer.
  for (int i = 0; i < 64; ++i) get(port, kPatience);
  const std::size_t before = memory(program);
  const std::string zeros(65536, '\0');
  const std::string host = " / HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) + "\r\n";
  for (const std::string method : {"POST", "PUT", "PATCH", "DELETE", "GET"}) {
    // Only what fits into the sockets' buffers is accepted.
    EXPECT_LT(flood(port, method + host + "Content-Length: 99999999999\r\n\r\n", zeros), 32 << 20);
    EXPECT_LT(flood(port, method + host + "Transfer-Encoding: chunked\r\n\r\n",
                    "10000\r\n" + zeros + "\r\n"),
              32 << 20);
  }
  // A sanitizer keeps several times the program's memory.
  if (kSlowness > 1) return;
  EXPECT_LT(memory(program), before + (5 << 20)) << port;
}

TEST(RequestBody, MakesNoPortOfTheServerGrow) {
  const ServerUnderTest server({"--base-delay", "0s", "--admin-port", "any"});
  get(server.port(), kPatience);
  expect_no_growth(server, server.port());
  expect_no_growth(server, port_after(server, "metrics on http://127.0.0.1:"));
}

TEST(RequestBody, MakesNoPortOfTheClientGrow) {
  const ServerUnderTest server({"--base-delay", "0s"});
  const ClientUnderTest client({"--url", server.url(), "--clients", "5", "--metrics-port", "any",
                                "--dashboard", "--dashboard-port", "0", "--duration", "1h"});
  expect_no_growth(client, port_after(client, "metrics on http://127.0.0.1:"));
  expect_no_growth(client, port_after(client, "live page: http://127.0.0.1:"));
}

}  // namespace
}  // namespace retrystorm::test
