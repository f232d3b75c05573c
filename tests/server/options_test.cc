#include "server/options.h"

#include "tests/support/test.h"

namespace retrystorm {
namespace {

TEST(FitConnections, TakesAllTheDescriptorsButAReserve) {
  ServiceOptions options;
  fit_connections(options, 20'000);
  EXPECT_EQ(options.max_connections, 20'000 - 64);
  options.max_connections = 100;
  fit_connections(options, 164);
  EXPECT_EQ(options.max_connections, 100);
  options.max_connections = 101;
  EXPECT_THAT([&] { fit_connections(options, 164); },
              ThrowsMessage<std::runtime_error>(
                  AllOf(HasSubstr("--max-connections 101"), HasSubstr("164"), HasSubstr("100"))));
}

TEST(FitConnections, RefusesToRunWithoutDescriptors) {
  ServiceOptions options;
  EXPECT_THAT([&] { fit_connections(options, 64); },
              ThrowsMessage<std::runtime_error>(HasSubstr("only 64 files")));
  EXPECT_NO_THROW(fit_connections(options, 65));
  EXPECT_EQ(options.max_connections, 1);
}

TEST(CheckBacklog, RefusesABacklogThatTheKernelWouldShorten) {
  ServiceOptions options{.backlog = 4096};
  EXPECT_NO_THROW(check_backlog(options, 4096));
  options.backlog = 4097;
  EXPECT_THAT([&] { check_backlog(options, 4096); },
              ThrowsMessage<std::runtime_error>(
                  AllOf(HasSubstr("--backlog 4097"), HasSubstr("allows 4096"))));
}

}  // namespace
}  // namespace retrystorm
