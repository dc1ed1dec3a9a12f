#include "harness/classify/log_prefix.h"

#include <re2/re2.h>

#include <cctype>

namespace flce {
namespace {

using re2::StringPiece;

// Each eats one separating space at most: what follows is the line's own indentation.
struct Patterns {
  RE2 bracketed_rank{R"(\[(?:(?:default|worker|local_rank|rank|trainer|proc|node)[ _-]?)?(\d{1,5})\](?::|(?: ?\|)) ?)"};
  RE2 plain_rank{R"((?i:rank)[ _-]?(\d{1,5}) ?[:|] ?)"};
  RE2 ray{R"(\((\w+(?:\([^)]*\))? pid=\d+(?:, ip=[\d.]+)?)\) )"};
  RE2 compose{R"(([A-Za-z][\w./-]*\d)\s+\| ?)"};
  RE2 slurm{R"((\d{1,4}): )"};
  RE2 date{R"([\[(]?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z| ?[+-]\d\d:?\d\d)?[\])]?:?(?: std(?:out|err) [FP])?(?: - | |$))"};
  RE2 clock{R"([\[(]?\d\d:\d\d:\d\d(?:[.,]\d+)?[\])]?:? )"};
  RE2 syslog{R"([A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S+ \S+?(?:\[\d+\])?: )"};
  RE2 glog{R"([VIWEFC]\d{4} \d\d:\d\d:\d\d\.\d+ (?:\d+ )?\S+:\d+\](?: \[[\w/.+-]+\])* ?)"};
  RE2 module{R"((?:\[[\w/.]+\] )?(torch\.[\w.]+): (?:\[(?:WARNING|ERROR|INFO|DEBUG)\]) ?)"};
  RE2 level{R"((?:\[(?:ERROR|WARNING|WARN|INFO|DEBUG|CRITICAL|FATAL)\]:? ?|(?:ERROR|WARNING|WARN|INFO|DEBUG|CRITICAL|FATAL)(?: - |: |:[\w.]+: ?| +\[?[\w./]+:\d+\]? ?-? ?| ?\| ?)|[\w.]+ - (?:ERROR|WARNING|INFO|DEBUG|CRITICAL) - ))"};
  RE2 pytest{R"(E(?:   |$))"};
};

const Patterns& Known() {
  static const auto* patterns = new Patterns();
  return *patterns;
}

bool StartsWith(StringPiece text, std::string_view prefix) {
  return text.size() >= prefix.size() && std::string_view(text.data(), prefix.size()) == prefix;
}

/// Removes one prefix; false when the text begins with none.
bool StripOne(StringPiece& rest, LogLine& line) {
  const Patterns& known = Known();
  if (rest.empty()) return false;
  const char first = rest[0];
  std::string name;
  const auto stream = [&](const RE2& pattern, std::string_view label) {
    if ((line.prefixes & kStreamPrefix) != 0 || !RE2::Consume(&rest, pattern, &name)) return false;
    line.stream = std::string(label) + name;
    line.prefixes |= kStreamPrefix;
    return true;
  };
  const auto other = [&](const RE2& pattern, unsigned bit) {
    if (!RE2::Consume(&rest, pattern)) return false;
    line.prefixes |= bit;
    return true;
  };
  if (first == '[')
    return stream(known.bracketed_rank, "rank ") || other(known.date, kTimePrefix) || other(known.clock, kTimePrefix) ||
           other(known.level, kLevelPrefix) || other(known.module, kLevelPrefix);
  if (first == '(') return stream(known.ray, "") || other(known.date, kTimePrefix);
  if (std::isdigit(static_cast<unsigned char>(first))) {
    if (other(known.date, kTimePrefix) || other(known.clock, kTimePrefix)) return true;
    return stream(known.slurm, "rank ");
  }
  if (first == '>') {
    rest.remove_prefix(rest.size() > 1 && rest[1] == ' ' ? 2 : 1);
    line.prefixes |= kQuotePrefix;
    return true;
  }
  if (!std::isalpha(static_cast<unsigned char>(first))) return false;
  // The commonest lines begin with a letter and have no prefix: only a few letters are worth a regular expression.
  if (StartsWith(rest, "Traceback")) return false;
  if (first == 'E' && RE2::Consume(&rest, known.pytest)) {
    line.pytest = true;
    return false;  // what follows is the report's own text
  }
  if ((first == 'r' || first == 'R') && stream(known.plain_rank, "rank ")) return true;
  if (rest.size() > 5 && std::isdigit(static_cast<unsigned char>(rest[1])) && other(known.glog, kGlogPrefix)) return true;
  if (std::isupper(static_cast<unsigned char>(first)) && other(known.syslog, kTimePrefix)) return true;
  if (other(known.level, kLevelPrefix) || other(known.module, kLevelPrefix)) return true;
  return stream(known.compose, "");
}

}  // namespace

LogLine StripLogPrefix(std::string_view text) {
  LogLine line;
  // Only the beginning can be a prefix; a pattern must not wander through a line of megabytes.
  StringPiece rest(text.data(), text.size());
  for (int i = 0; i < 6 && StripOne(rest, line); ++i) {
  }
  line.text = std::string_view(rest.data(), rest.size());
  return line;
}

}  // namespace flce
