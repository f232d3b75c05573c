// NGINX: where requests go on to (proxy_pass and its like), and an Ingress of its controller.
// Sources: nginx ngx_http_upstream.c, ngx_http_proxy_module.c, ngx_http_upstream_module.c and their pages;
// ingress-nginx (annotations). Tried with 1.22: while all servers of an upstream are out, requests get 502 at once, so
// there is no panic.
#include <algorithm>
#include <map>
#include <stdexcept>

#include "policies/mesh.h"

namespace retrystorm {
namespace {

constexpr std::string_view kProgram = "NGINX";
constexpr std::string_view kAnnotation = "nginx.ingress.kubernetes.io/";

Duration time(std::string_view text) {
  return duration_or(std::chrono::seconds(1), text);
}

constexpr Field kTries{"proxy_next_upstream_tries", "max-attempts", whole_number, "0"};
constexpr Field kReadTimeout{"proxy_read_timeout", "timeout", as_option<time>, "1m"};
constexpr std::string_view kConditions = "proxy_next_upstream";
constexpr std::string_view kTimeLimit = "proxy_next_upstream_timeout";

// The words of proxy_next_upstream, and the failures that they stand for.
constexpr std::string_view kWords =
    "error=transport timeout=timeout invalid_header= http_500=500 http_502=502 http_503=503 "
    "http_504=504 http_403=403 http_404=404 http_429=429 updating= non_idempotent=- =-";

// The directives of an upstream that say how a server is picked.
constexpr std::string_view kBalances =
    "least_conn=least random=random random_two=two random_two_least_conn=two";

// Reads directives into a tree: a block is a list, its arguments are its text.
class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) { read_block(root, 0); }

  Node root{};

 private:
  [[noreturn]] void fail(const char* what) const {
    throw BadFile("line " + std::to_string(line_) + ": not valid for NGINX: " + what);
  }

  void skip(std::size_t length) {
    line_ += std::count(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(length), '\n');
    rest_.remove_prefix(length);
  }

  void skip_blanks() {
    for (;;) {
      skip(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
      if (!rest_.starts_with('#')) return;
      skip(std::min(rest_.find('\n'), rest_.size()));
    }
  }

  // Without the quotation marks around it.
  std::string_view word() {
    const std::string_view all = rest_;
    std::size_t end = 0;
    if (const char quote = rest_.front(); quote == '"' || quote == '\'') {
      for (end = 1; end < rest_.size() && rest_[end] != quote;) end += rest_[end] == '\\' ? 2 : 1;
      if (end >= rest_.size()) fail("a quotation mark has no end");
      skip(end + 1);
      return all.substr(1, end - 1);
    }
    while (end < rest_.size() &&
           std::string_view(" \t\r\n;").find(rest_[end]) == std::string_view::npos) {
      const bool variable = rest_[end] == '{' && end > 0 && rest_[end - 1] == '$';
      if (rest_[end] == '{' && !variable) break;
      end = variable ? std::min(rest_.find('}', end), rest_.size() - 1) : end;
      end += rest_[end] == '\\' ? 2 : 1;
    }
    end = std::min(end, rest_.size());
    skip(end);
    return all.substr(0, end);
  }

  // Until the end of the text, or of the block.
  void read_block(Node& block, std::size_t depth) {
    constexpr std::size_t kDeepest = 100, kMostDirectives = 100'000;
    if (depth > kDeepest) fail("more than 100 levels");
    block.kind = Node::Kind::kList;
    for (skip_blanks(); !rest_.empty(); skip_blanks()) {
      if (rest_.front() == '}') {
        if (depth == 0) fail("a bracket is closed that was not opened");
        skip(1);
        return;
      }
      if (++count_ > kMostDirectives) fail("more than 100,000 directives");
      if (rest_.front() == ';' || rest_.front() == '{') fail("a name is missing here");
      const std::size_t line = line_;
      Node directive = scalar_node(word(), "", line);
      for (skip_blanks(); !rest_.empty() && rest_.front() != ';' && rest_.front() != '{';
           skip_blanks()) {
        if (rest_.front() == '}') fail("a ; is missing before this");
        append(directive.text, word(), " ");
      }
      if (rest_.empty()) fail("the last directive has no end");
      const bool opens = rest_.front() == '{';
      skip(1);
      if (opens) read_block(directive, depth + 1);
      block.children.push_back(std::move(directive));
    }
    if (depth > 0) fail("a bracket is not closed");
  }

  std::string_view rest_;
  std::size_t line_ = 1, count_ = 0;
};

// Adds the words as --retry-on. Returns whether anything is retried at all.
bool add_conditions(Policy& policy, const Node& given) {
  const Node words = given ? given : scalar_node(kConditions, "error timeout", 0);
  if (is_among("off", words.text)) {
    policy.take("max-retries", "0", words);
    return false;
  }
  policy.set("retry-on", failures_of(policy, words, kWords, kProgram), words.line,
             given ? field_text(words) : "proxy_next_upstream is not given: error timeout");
  if (is_among("non_idempotent", words.text)) {
    policy.warn(
        "repeats-work", words.line,
        "non_idempotent: POST, LOCK and PATCH are sent again, too, though the first server may "
        "have done them");
  } else {
    policy.not_modelled(policy.line, "POST, LOCK and PATCH, which are not sent again");
  }
  return true;
}

// No try begins after the time limit; one that has begun is not cut.
void settle_time_limit(Policy& policy, const Node& limit) {
  if (!limit) {
    policy.assume("deadline", "none", "there is no proxy_next_upstream_timeout");
    return;
  }
  Duration all{0};
  try {
    all = time(limit.text);
  } catch (const std::invalid_argument& error) {
    policy.refuse(limit.line, shown(error.what()));
    return;
  }
  if (all == Duration::zero()) return;
  const Duration one = parse_duration(policy.value("timeout"));
  RetryOn on = parse_retry_on(policy.value("retry-on"));
  if (one >= all && on.timeout) {
    policy.warn(kNoEffect, limit.line,
                "a try that times out, after " + brief_duration(one) +
                    ", is never followed by another: the " + brief_duration(all) +
                    " for the next one are over then");
    on.timeout = false;
    const Setting before = *policy.find("retry-on");
    policy.set("retry-on", to_string(on), before.line, before.source + ", without timeouts");
  }
  policy.not_modelled(
      limit.line,
      field_text(limit) + ": no try begins later than that, and none that has begun is cut");
}

// `servers`: how many a request may go to; 0: not known.
void read_settings(Policy& policy, const Nodes& all, std::size_t servers, const std::string& why) {
  policy.layer = "gateway";
  policy.assume("growth", "none", "NGINX asks the next server at once");
  add_field(policy, kReadTimeout, node_in(all, kReadTimeout.name), kProgram);
  const bool retries = add_conditions(policy, node_in(all, kConditions));
  policy.assume("retry-budget", "none", "NGINX has no limit on all retries together");
  if (!retries || policy.refused) return;
  add_field(policy, kTries, node_in(all, kTries.name), kProgram);
  if (policy.refused) return;
  const std::string most = policy.value("max-attempts");
  if (servers > 0 && (most == "0" || std::stoul(most) > servers)) {
    policy.assume("max-attempts", std::to_string(servers), why);
  } else if (most == "0") {
    policy.assume("max-attempts", "1", why);
    policy.assumed(policy.line, why + ": read as one server, which is never tried twice");
  }
  settle_time_limit(policy, node_in(all, kTimeLimit));
}

struct Upstream {
  std::size_t servers = 0;
  Policy hosts{};  // how a server is picked, if there are several: one is never out
};

Upstream upstream_of(const Node& block) {
  // Of the first server, for all.
  std::string fails = "1", time_out = "10s";
  std::size_t hosts = 0, line = 0;
  Upstream upstream;
  Policy& policy = upstream.hosts;
  for (const Node& each : block.children) {
    std::string name = each.name;
    if (name == "random" && !each.text.empty()) append(name, each.text, "_");
    std::ranges::replace(name, ' ', '_');
    if (is_among(each.name, "least_conn random hash ip_hash least_time sticky")) {
      add_balance(policy, scalar_node("upstream", name, each.line), kBalances);
    }
    if (each.name != "server" || is_among("down", each.text)) continue;
    ++upstream.servers;
    if (is_among("backup", each.text) || ++hosts > 1) continue;
    line = each.line;
    for (const std::string_view word : parts_of(each.text, ' ')) {
      const std::string value(word.substr(word.find('=') + 1));
      if (word.starts_with("max_fails=")) fails = value;
      if (word.starts_with("fail_timeout=")) time_out = value;
    }
  }
  if (hosts < 2) return {.servers = upstream.servers};
  set_replicas(policy, hosts, scalar_node("upstream " + shown(block.text), "", line));
  policy.assume("retry-host", "other", "each server is tried once");
  if (fails == "0") return upstream;
  try {
    policy.set("eject", whole_number(fails) + ':' + as_option<time>(time_out) + ":1:trial", line,
               "max_fails=" + shown(fails) + " fail_timeout=" + shown(time_out));
  } catch (const std::invalid_argument& error) {
    policy.refuse(line, shown(error.what()));
  }
  return upstream;
}

// The modules that pass requests on, and what is read of each.
constexpr std::string_view kModules = "proxy_ grpc_ fastcgi_ uwsgi_ scgi_";
constexpr std::string_view kRead =
    "read_timeout next_upstream next_upstream_tries next_upstream_timeout";

using Upstreams = std::map<std::string, Upstream>;

void find_upstreams(Upstreams& upstreams, const Node& block) {
  for (const Node& each : block.children) {
    if (each.name == "upstream") upstreams[each.text] = upstream_of(each);
    find_upstreams(upstreams, each);
  }
}

Policy policy_of(const Node& pass, const Nodes& around, const std::string& name,
                 const Upstreams& upstreams) {
  const std::string prefix = pass.name.substr(0, pass.name.size() - 4);  // without "pass"
  Nodes own;
  for (const auto& [key, node] : around) {
    if (key.starts_with(prefix)) own["proxy_" + key.substr(prefix.size())] = node;
  }
  const std::size_t scheme = pass.text.find("://");
  std::string host = scheme == pass.text.npos ? pass.text : pass.text.substr(scheme + 3);
  host = host.substr(0, host.find_first_of("/:"));
  Policy policy{.names = {"location " + shown(name.empty() ? "/" : name)},
                .line = pass.line,
                .hosts = {shown(host)}};
  const auto upstream = upstreams.find(host);
  if (upstream == upstreams.end()) {
    read_settings(policy, own, 0, shown(host) + " is no upstream of the file");
    return policy;
  }
  const auto& [servers, hosts] = upstream->second;
  read_settings(policy, own, servers,
                "upstream " + shown(host) + " has " + std::to_string(servers) +
                    " servers, each of which is tried once");
  policy.add(hosts);
  const bool errors = node_in(own, kConditions).text.find("http_5") != std::string::npos;
  if (errors && policy.find("eject")) {
    const Setting before = *policy.find("eject");
    Ejection ejection = parse_ejection(before.value);
    ejection.errors = true;
    policy.set("eject", to_string(ejection), before.line, before.source);
  }
  if (policy.value("max-retries") == "0") policy.remove("retry-host");
  return policy;
}

void walk(PolicyFile& file, const Node& block, Nodes around, const std::string& name,
          const Upstreams& upstreams) {
  const Node* pass = nullptr;
  for (const Node& each : block.children) {
    if (each.is_list()) continue;
    const std::size_t end = each.name.find('_') + 1;
    const std::string_view what = std::string_view(each.name).substr(end);
    const bool passes_on = is_among(each.name.substr(0, end), kModules);
    if (passes_on && what == "pass") pass = &each;
    // Each block has a copy of what it inherits, so only of what is read, which is short.
    if (passes_on && is_among(what, kRead)) {
      if (each.text.size() > 300) {
        throw BadFile("line " + std::to_string(each.line) + ": too long to be read");
      }
      around[each.name] = each;
    }
    if (each.name == "include") {
      file.note(Note::Level::kNote, kAssumed, each.line,
                "include: what is in other files is not read");
    }
  }
  if (pass != nullptr) file.add(policy_of(*pass, around, name, upstreams));
  for (const Node& each : block.children) {
    if (!each.is_list()) continue;
    walk(file, each, around, each.name == "location" ? each.text : name, upstreams);
  }
}

Nodes annotations_of(const Node& object) {
  Nodes own;
  if (object["kind"].text != "Ingress") return own;
  for (const Node& each : object["metadata>annotations"].children) {
    if (!each.name.starts_with(kAnnotation)) continue;
    Node node = each;
    node.name = each.name.substr(kAnnotation.size());
    std::ranges::replace(node.name, '-', '_');
    if (node.name.starts_with("proxy_")) own[node.name] = node;
  }
  return own;
}

bool is_nginx(std::string_view text) {
  bool found = false;
  each_line(text, [&found](std::string_view line, std::size_t) {
    const std::string_view plain = trimmed(line.substr(0, line.find('#')));
    for (const std::string_view name : {"proxy_pass ", "grpc_pass ", "fastcgi_pass ", "uwsgi_pass ",
                                        "scgi_pass ", "proxy_next_upstream "}) {
      found = found || (plain.find(name) != plain.npos && plain.find(';') != plain.npos);
    }
  });
  return found && text.find('{') != text.npos;
}

}  // namespace

PolicyFile read_nginx(std::string_view text, ReadAs) {
  if (!is_nginx(text)) return {};
  refuse_template(text);
  PolicyFile file{.kind = "NGINX configuration"};
  const Node root = Parser(text).root;
  Upstreams upstreams;
  find_upstreams(upstreams, root);
  walk(file, root, {}, "", upstreams);
  return file;
}

PolicyFile read_nginx_ingress(const std::vector<Node>& documents, ReadAs) {
  PolicyFile file;
  for (const Node* each : objects_of(documents)) {
    Nodes own = annotations_of(*each);
    if (own.empty()) continue;
    file.kind = "Ingress of NGINX's controller";
    Policy policy{.names = {name_of(*each)}, .line = own.begin()->second.line};
    // Of the controller: 3 tries.
    own.try_emplace(std::string(kTries.name), scalar_node(kTries.name, "3", 0));
    read_settings(policy, own, 0, "");
    file.add(std::move(policy));
  }
  return file;
}

}  // namespace retrystorm
