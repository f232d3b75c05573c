// What the commands about other programs' policies have in common.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policies/export.h"
#include "policies/readers.h"
#include "retrystorm/study_command.h"

namespace retrystorm {

// Adds `--as`: the program that reads the file.
void add_read_as(CLI::App& app, ReadAs& as);

// Does its program send all requests of a process over one connection? gRPC does.
bool sends_over_one_connection(const PolicyFile& file);

// "line 12: exponential from 100ms x 1.3, 4 retries: google.pubsub.v1.Publisher/Publish"
std::string summary(const Policy& policy);

// The policy of a file that is for something of this name, or begins in the line of this number; without
// either, the only one. Throws std::invalid_argument with a list to choose from.
const Policy& chosen_policy(const PolicyFile& file, const std::string& path,
                            const std::string& wanted);

// Bytes as a part of an address, with %XX for all but letters, digits and the characters in `kept`.
std::string in_address(std::string_view text, std::string_view kept = "-._~");

// The explorer's page (a path or an address) at this setting.
std::string explorer_link(const std::string& page, const NamedOptions& options);

// Prints a file, after what it cannot say: in comments, or on standard error if it has none.
void print_exported(const Exported& exported);

// The files of a folder with policies, by path. Says on standard error which are left out and why. Throws
// UnreadableFile if there is none.
using NamedFile = std::pair<std::string, PolicyFile>;
std::vector<NamedFile> policy_files_in(const std::string& folder, ReadAs as);

// Whether runs with these options have several hosts.
bool has_hosts(const NamedOptions& given);

}  // namespace retrystorm
