// `retrystorm measure`: what it must not do, and by which rules it stops.
#include "tests/support/child_process.h"
#include "tests/support/test.h"

namespace retrystorm::test {
namespace {

class Measure : public testing::Test {
 protected:
  Arguments to(const ServerUnderTest& server, const Arguments& more = {}) const {
    return Arguments{"measure",
                     server.url(),
                     "--i-may-load=127.0.0.1:" + std::to_string(server.port()),
                     "--timeout=" + std::to_string(kSlowness) + "s",
                     "--write=" + dir_.file("service.ini"),
                     "--json=" + dir_.file("found.json")} +
           more;
  }
  nlohmann::json found() const { return nlohmann::json::parse(read_file(dir_.file("found.json"))); }

  TempDir dir_;
};

// Sends nothing that was not allowed, and nothing over what is there.
TEST_F(Measure, LoadsOnlyWhatItMay) {
  const ServerUnderTest server({"--base-delay=1ms"});
  const auto with = [&](const Arguments& more) {
    return ended(RETRYSTORM_STUDIES, Arguments{"measure", server.url()} + more);
  };
  EXPECT_EQ(with({}).code, 108);
  EXPECT_EQ(with({"--i-may-load=127.0.0.1:1"}).code, 108);
  EXPECT_EQ(with({"--plan"}).code, 0);
  // A public address; nothing is sent there.
  const Ended is_public =
      ended(RETRYSTORM_STUDIES, {"measure", "http://192.0.2.1:80/", "--i-may-load=192.0.2.1:80"});
  EXPECT_EQ(is_public.code, 108);
  EXPECT_THAT(is_public.err, HasSubstr("--even-public"));
  // Somebody's file is not lost.
  std::ofstream(dir_.file("service.ini")) << "mine = 1\n";
  EXPECT_EQ(ended(RETRYSTORM_STUDIES, to(server)).code, 108);
  EXPECT_EQ(read_file(dir_.file("service.ini")), "mine = 1\n");
}

// What makes the figures meaningless ends it: the id says which rule, and there is no file.
TEST_F(Measure, StopsByItsRules) {
  const int slow = kSlowness;
  const Arguments step{"--step=" + std::to_string(300 * slow) + "ms"};
  const auto stopped_by = [&](const Arguments& server, const Arguments& more) -> std::string {
    const ServerUnderTest service(server);
    const Ended measured = ended(RETRYSTORM_STUDIES, to(service, step + more), kPatience + 30s);
    EXPECT_EQ(measured.code, 1) << measured.out << measured.err;
    EXPECT_FALSE(std::filesystem::exists(dir_.file("service.ini")));
    return found()["answer"]["id"];
  };
  EXPECT_EQ(stopped_by({"--error-share=1"}, {}), "measure-not-ok");
  EXPECT_EQ(stopped_by({"--error-share=0.3", "--error-status=500", "--base-delay=5ms", "--seed=5"},
                       {"--step=2s"}),
            "measure-errors");
  // A token each 10 ms: two that come at once are never both let in.
  EXPECT_EQ(stopped_by({"--rate-limit=" + std::to_string(100 / slow), "--rate-burst=1",
                        "--base-delay=" + std::to_string(30 * slow) + "ms"},
                       {}),
            "measure-rate-limit");
  EXPECT_EQ(stopped_by({"--base-delay=20ms"}, {"--health-url=http://127.0.0.1:1/"}),
            "measure-unhealthy");
}

TEST_F(Measure, EndsWithinASecondOfASignal) {
  // In a step, and in the first request.
  for (const char* delay : {"300ms", "60s"}) {
    const ServerUnderTest server({std::string("--base-delay=") + delay});
    ChildProcess measuring(RETRYSTORM_STUDIES, to(server, {"--timeout=30s", "--step=60s"}));
    ASSERT_TRUE(eventually([&] { return measuring.state() == 'S'; }));
    std::this_thread::sleep_for(500ms);
    measuring.signal(SIGINT);
    EXPECT_EQ(measuring.exit_code(1s * kEndSlowness), 1) << delay;
    EXPECT_EQ(found()["answer"]["id"], "measure-interrupted") << delay;
  }
}

}  // namespace
}  // namespace retrystorm::test
