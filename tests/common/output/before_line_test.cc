// What is said before a run.
#include "common/output/before_line.h"

#include "tests/support/test.h"
#include "words/words.h"

namespace retrystorm {
namespace {

Outlook look(Capacity capacity, const char* outage) {
  OutlookInput input;
  input.service = ServiceOptions{.max_connections = 20'000};
  input.service->capacity = capacity;
  input.outage = parse_disturbance(outage, Engine::kSimulated);
  input.outage_for = 20s;
  return look_ahead(input);
}

TEST(BeforeLine, HasWordsForEachFigureThatIsExplained) {
  for (const Capacity capacity : {Capacity::kCurve, Capacity::kWorkers}) {
    for (const char* outage : {"freeze", "slow:3", "reconnect"}) {
      const Outlook outlook = look(capacity, outage);
      for (const OutlookFigure& each : outlook_figures(outlook)) {
        if (each.shown == OutlookFigure::Shown::kJson) continue;
        EXPECT_NE(words_of(each.id), each.id);
      }
      const auto lines = figure_lines(outlook);
      EXPECT_LE(lines.size(), 16u);
      std::set<std::string> labels;
      for (const auto& [label, figure] : lines) EXPECT_TRUE(labels.insert(label).second) << label;
    }
  }
}

TEST(BeforeLine, SaysEachWarningOnce) {
  std::ostringstream out;
  const Statement warning{"no-capacity-left", {{"load", 900.0}, {"capacity", 800.0}}};
  print_before(out, "", {warning, warning}, Style());
  const std::string text = out.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
}

// A line a figure, and what was assumed.
TEST(BeforeLine, PrintsFiguresInLines) {
  std::ostringstream out;
  const Outlook outlook = look(Capacity::kCurve, "freeze");
  print_figures(out, {{"", outlook}}, "--timeout=2s", Style());
  const std::string text = out.str();
  EXPECT_EQ(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')),
            figure_lines(outlook).size() + 1)
      << text;
  EXPECT_NE(text.find("1,247/s"), text.npos) << text;
}

}  // namespace
}  // namespace retrystorm
