// The functions that the compiled engine exports to JavaScript.
#include <cstddef>
#include <string>

#include "common/output/expectation.h"
#include "explorer/engine/engine.h"
#include "study/judged_runs.h"

// The page makes no claims about runs. Its trials name these functions, and never call them: without their code the page
// is smaller.
namespace retrystorm {

Judgement judge(const Expectation&, const Figures&) {
  return {};
}

std::optional<JudgedRuns> judge_runs(const Evaluator&, const Scenario&, std::uint64_t, std::size_t,
                                     const std::vector<Expectation>&) {
  return std::nullopt;
}

}  // namespace retrystorm

namespace {

std::string question, reply;

}  // namespace

extern "C" {

// Returns where to write a question of `size` bytes (UTF-8).
[[clang::export_name("question")]] char* question_of(std::size_t size) {
  question.resize(size);
  return question.data();
}

// Answers the question. Returns the length of the answer, which is valid until the next question.
[[clang::export_name("ask")]] std::size_t ask() {
  reply = retrystorm::answer(question);
  return reply.size();
}

[[clang::export_name("answer")]] const char* answer_text() {
  return reply.data();
}

}  // extern "C"
