// A service of several hosts: real servers, and clients that choose among them.
#include <deque>

#include "tests/support/child_process.h"
#include "tests/support/test.h"

namespace retrystorm::test {
namespace {

const std::string kNobodyThere = "http://127.0.0.1:1/api";

// One client that makes so many calls, one after the other.
Arguments calls(int count) {
  return {"--arrivals=job",
          "--clients=1",
          "--tasks=1",
          "--calls=" + std::to_string(count),
          "--quiet",
          "--strategy=fixed",
          "--fixed-delay=10ms",
          "--seed=7"};
}

class SeveralHosts : public testing::Test {
 protected:
  // A host for each of these options.
  void start(const std::vector<Arguments>& hosts) {
    for (const Arguments& each : hosts) {
      const std::string token = dir_.file("token" + std::to_string(servers_.size()));
      servers_.emplace_back(
          each + Arguments{"--base-delay=2ms", "--admin-port=any", "--admin-token-file", token});
      tokens_.push_back("--admin-token-file=" + token);
    }
  }
  Arguments urls() const {
    Arguments urls;
    for (const ServerUnderTest& each : servers_) urls.push_back("--url=" + each.url());
    return urls;
  }
  Arguments admins(const std::string& option = "--server-admin=",
                   const std::string& path = "") const {
    Arguments admins;
    for (const ServerUnderTest& each : servers_) {
      admins.push_back(option + "http://127.0.0.1:" + std::to_string(each.admin_port()) + path);
    }
    return admins;
  }
  // The hosts of the summary.
  nlohmann::json hosts_of(const Arguments& more) {
    summary_ = summary_of(RETRYSTORM_CLIENT, urls() + more);
    return summary_["hosts"];
  }

  TempDir dir_;
  std::deque<ServerUnderTest> servers_;
  Arguments tokens_;
  nlohmann::json summary_;
};

TEST_F(SeveralHosts, ThatAreNotThereAreNamedAndEjected) {
  start({{}, {}});
  const std::string json = dir_.file("json");
  const Ended run = succeeded(
      RETRYSTORM_CLIENT, urls() + calls(60) +
                             Arguments{"--url", kNobodyThere, "--retry-host=other",
                                       "--max-attempts=2", "--eject=5:30s:34%", "--json", json});
  EXPECT_THAT(run.err, HasSubstr(kNobodyThere));
  const auto summary = read_json_lines(json).back();
  EXPECT_EQ(summary["gave_up"], 0);
  EXPECT_EQ(summary["errors"], 5);
  EXPECT_EQ(summary["hosts"][2]["attempts"], 5);
  EXPECT_EQ(summary["hosts"][2]["ejections"], 1);
}

TEST_F(SeveralHosts, ThatAllAreNotThereEndTheRun) {
  const Ended run = ended(RETRYSTORM_CLIENT, {"--url", kNobodyThere, "--url=http://127.0.0.1:2/api",
                                              "--quiet", "--fixed-delay=1ms"});
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.err, HasSubstr(kNobodyThere + ", http://127.0.0.1:2/api"));
}

TEST_F(SeveralHosts, ThatEndDuringTheRunAreEjected) {
  start({{}, {}, {}});
  const std::string json = dir_.file("json");
  ChildProcess client(
      RETRYSTORM_CLIENT,
      urls() + Arguments{"--clients=10", "--lambda=20ms", "--duration=2s",
                         "--report-interval=200ms", "--strategy=fixed", "--fixed-delay=10ms",
                         "--max-attempts=3", "--retry-host=other", "--eject=5:30s:34%", "--json",
                         json});
  ASSERT_TRUE(eventually([&] { return read_file(json).find("\"host\":3") != std::string::npos; }));
  servers_[1].signal(SIGKILL);
  ASSERT_EQ(client.exit_code(), 0) << client.err();
  const auto summary = read_json_lines(json).back();
  EXPECT_EQ(summary["gave_up"], 0);
  EXPECT_EQ(summary["hosts"][1]["ejections"], 1);
  EXPECT_GE(summary["hosts"][1]["failed"], 5);
  EXPECT_EQ(summary["hosts"][1]["out"], 1);
}

TEST_F(SeveralHosts, AreHitByAnOutageInTheirOrder) {
  start({{}, {}, {}});
  const Arguments outage{"--outage-at=300ms", "--outage-for=700ms", "--duration=1500ms",
                         "--clients=20",      "--lambda=20ms",      "--strategy=none",
                         "--quiet",           "--timeout=400ms",    "--report-interval=100ms"};
  const auto expect_hit = [](const nlohmann::json& hosts, std::size_t hit) {
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      EXPECT_EQ(hosts[i]["failed"] > 0, i < hit) << i;
      EXPECT_GT(hosts[i]["attempts_in_outage"], 0) << i;
    }
  };
  for (const std::string kind : {"errors:1", "drop"}) {
    expect_hit(hosts_of(outage + admins() + tokens_ +
                        Arguments{"--outage-replicas=2", "--outage=" + kind}),
               2);
  }
  Arguments pids;
  for (const ServerUnderTest& each : servers_)
    pids.push_back("--server-pid=" + std::to_string(each.pid()));
  const auto all = json_lines_of(RETRYSTORM_CLIENT, urls() + outage + pids +
                                                        admins("--server-status=", "/status") +
                                                        Arguments{"--outage-replicas=1"});
  expect_hit(all.back()["hosts"], 1);
  bool was_frozen = false;
  for (const auto& each : all) {
    if (each["type"] != "host") continue;
    was_frozen |= each["frozen"] == true;
    EXPECT_TRUE(each["frozen"] == false || each["host"] == 1);
    EXPECT_NE(each["frozen"], each.contains("concurrency")) << each;
  }
  EXPECT_TRUE(was_frozen);
  for (const ServerUnderTest& each : servers_) EXPECT_NE(each.state(), 'T');
}

// The first of three hosts is frozen. Two probes fail and it gets no traffic, and all of it again after the outage.
TEST_F(SeveralHosts, ThatDoNotAnswerTheirProbesGetNoTraffic) {
  start({{}, {}, {}});
  const Arguments load{"--arrivals=open", "--rate=100",          "--strategy=none",
                       "--timeout=300ms", "--outage-at=1s",      "--outage-for=2s",
                       "--seed=3",        "--outage-replicas=1", "--quiet"};
  const Arguments outage{"--duration=5s", "--server-pid=" + std::to_string(servers_[0].pid()),
                         "--report-interval=500ms"};
  for (const Arguments& probe :
       {Arguments{"--probe=200ms:100ms:2"},
        Arguments{"--probe=200ms:100ms:2:port"} + admins("--probe-url=", "/status")}) {
    const auto host = hosts_of(load + outage + probe)[0];
    // At 33/s for 0.3 to 0.5 s, and some more beside other tests. Without probes it is twice as many, of 67.
    EXPECT_GE(host["failed"], 3) << probe.front();
    EXPECT_LE(host["failed"], 28) << probe.front();
    EXPECT_GT(host["attempts_in_outage"], 0);
    // For two seconds after the outage, but for the next probe.
    EXPECT_GE(host["ok"], 33 + 33) << probe.front();
    EXPECT_EQ(summary_["hosts"][1]["failed"], 0);
  }
}

// One connection goes to one host, for as long as it lives.
TEST_F(SeveralHosts, ArePickedForAConnection) {
  start({{}, {}, {}});
  for (const std::string kind : {"keep-alive", "new"}) {
    for (const std::string age : {"none", "200ms"}) {
      Arguments how{"--clients=1", "--lambda=1ms",  "--duration=2s",
                    "--quiet",     "--processes=1", "--connections=" + kind};
      if (kind != "new") {
        how = how + Arguments{"--pick-per=connection", "--connection-age=" + age};
      }
      std::size_t used = 0;
      for (const auto& each : hosts_of(how)) used += each["attempts"] > 0 ? 1 : 0;
      EXPECT_EQ(used, kind == "new" || age != "none" ? 3u : 1u) << kind << ' ' << age;
    }
  }
}

// A slow host is not waited for: the hedge goes to another one, and that its attempt is cancelled is not its failure.
TEST_F(SeveralHosts, HaveHedgesAtAnother) {
  start({{"--service=workers", "--service-time=1s"}, {}});
  const auto hosts = hosts_of({"--clients=1", "--lambda=1ms", "--duration=1s", "--quiet",
                               "--seed=7", "--hedge=30ms", "--retry-host=other"});
  const int won = summary_["hedges_won"], slow = hosts[0]["attempts"];
  EXPECT_GT(won, 10);
  EXPECT_LE(slow - won, 1);  // of the request that the end of the run cuts off
  EXPECT_EQ(hosts[0]["ok"], 0);
  EXPECT_EQ(hosts[0]["failed"], 0);
  EXPECT_GE(hosts[1]["ok"], summary_["ok"]);
}

// One client at a time draws the same picks in both engines. The first of three hosts fails.
TEST_F(SeveralHosts, ArePickedAlikeInBothEngines) {
  start({{"--error-share=1"}, {}, {}});
  for (const Arguments& how : {Arguments{"--retry-host=other"},
                               {"--retry-host=other", "--balance=random"},
                               {"--retry-host=other:1", "--balance=two"},
                               {"--balance=random", "--eject=3:30s:34%"},
                               {"--pick-per=connection", "--connections=keep-alive"},
                               {"--retry-host=other", "--balance=least", "--max-attempts=3"},
                               {"--hosts-like=finagle", "--connections=keep-alive"}}) {
    const Arguments both = calls(60) + Arguments{"--max-attempts=2"} + how;
    const auto real = hosts_of(both);
    const auto simulated =
        summary_of(RETRYSTORM_SIMULATE,
                   both + Arguments{"--replicas=3", "--outage=errors:1", "--outage-at=0s",
                                    "--outage-for=10m", "--outage-replicas=1", "--base-delay=2ms"});
    for (const char* count : {"requests", "ok", "retries", "gave_up"}) {
      EXPECT_EQ(summary_.at(count), simulated.at(count)) << how.back() << ' ' << count;
    }
    EXPECT_TRUE(how.front() != "--retry-host=other" || summary_.at("gave_up") == 0) << how.back();
    if (summary_.contains("connections")) {
      EXPECT_EQ(summary_["connections"]["opened"], simulated.at("connections").at("opened"));
    }
    for (std::size_t i = 0; i < 3; ++i) {
      for (const char* count : {"attempts", "ok", "failed", "ejections"}) {
        EXPECT_EQ(real[i].at(count), simulated.at("hosts")[i].at(count))
            << how.back() << ' ' << i << ' ' << count;
      }
    }
  }
}

}  // namespace
}  // namespace retrystorm::test
