// The functions that the compiled engine exports to JavaScript.
#include <cstddef>
#include <string>

#include "explorer/engine/engine.h"

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
