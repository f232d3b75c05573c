// What the compiled engine shows to JavaScript: memory for a question, and its answer.
#include <cstddef>
#include <string>

#include "explorer/engine/engine.h"

namespace {

std::string question, reply;

}  // namespace

extern "C" {

// Where a question of so many bytes (UTF-8) is to be written.
[[clang::export_name("question")]] char* question_of(std::size_t size) {
  question.resize(size);
  return question.data();
}

// Answers it. The length of the answer; valid until the next question.
[[clang::export_name("ask")]] std::size_t ask() {
  reply = retrystorm::answer(question);
  return reply.size();
}

[[clang::export_name("answer")]] const char* answer_text() {
  return reply.data();
}

}  // extern "C"
