#include <map>

#include "harness/base/text.h"
#include "harness/cli/completion.h"

namespace flce {
namespace {

/// In single quotes, whatever it holds.
std::string Quoted(const std::string& text) { return "'" + ReplaceAll(text, "'", "'\\''") + "'"; }

std::string SubcommandNames(const std::vector<CompletionCommand>& commands, const char* separator) {
  std::vector<std::string> names;
  for (size_t i = 1; i < commands.size(); ++i) names.push_back(commands[i].name);
  return Join(names, separator);
}

std::vector<std::string> OptionNames(const CompletionCommand& command) {
  std::vector<std::string> names;
  for (const CompletionOption& option : command.options) names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

std::string BashScript(const std::vector<CompletionCommand>& commands) {
  // Options with the same values share a branch: "command:option" patterns by what the branch does.
  std::map<std::string, std::vector<std::string>> branches, arguments;
  std::string options;
  for (const CompletionCommand& command : commands) {
    options += "      " + (command.name.empty() ? std::string("''") : command.name) + ") values=" + Quoted(Join(OptionNames(command), " ")) + " ;;\n";
    for (const CompletionOption& option : command.options) {
      if (!option.takes_value) continue;
      const std::string what = "values=" + Quoted(Join(option.values, " ")) + (option.takes_files ? " files=yes" : "");
      for (const std::string& name : option.names) branches[what].push_back(command.name + ":" + name);
      if (option.names.empty()) arguments[what].push_back(command.name + ":*");
    }
  }
  const auto cases = [](const std::map<std::string, std::vector<std::string>>& map, const std::string& indent) {
    std::string text;
    for (const auto& [what, patterns] : map) text += indent + Join(patterns, "|") + ") " + what + " ;;\n";
    return text;
  };
  return "# Completion of flce-repro in bash, made by: flce-repro completion bash\n"
         "_flce_repro() {\n"
         "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command= values= files= i\n"
         "  # --torch=2.1 arrives in three words\n"
         "  if [[ $cur == = ]]; then cur=; elif [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
         "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
         "    case ${COMP_WORDS[i]} in\n"
         "      " + SubcommandNames(commands, "|") + ") command=${COMP_WORDS[i]}; break ;;\n"
         "    esac\n"
         "  done\n"
         "  case $command:$prev in\n" + cases(branches, "    ") +
         "    *) if [[ $cur == -* ]]; then case $command in\n" + options + "      esac\n"
         "      else case $command:$prev in\n" + cases(arguments, "        ") +
         "        :*) values=" + Quoted(SubcommandNames(commands, " ")) + " ;;\n"
         "      esac; fi ;;\n"
         "  esac\n"
         "  # the last one of a list, what stands before it kept\n"
         "  local last=${cur##*,}\n"
         "  COMPREPLY=($(compgen -P \"${cur%\"$last\"}\" -W \"$values\" -- \"$last\"))\n"
         "  if [[ $files ]]; then local IFS=$'\\n'; COMPREPLY+=($(compgen -f -- \"$cur\")); compopt -o filenames 2>/dev/null; fi\n"
         "  return 0\n"
         "}\n"
         "complete -F _flce_repro flce-repro scripts/flce-repro\n";
}

/// A text inside a specification of _arguments.
std::string ZshText(std::string text) {
  for (const char* special : {"\\", "[", "]", ":"}) text = ReplaceAll(std::move(text), special, std::string("\\") + special);
  return text;
}

std::string ZshAction(const CompletionOption& option) {
  if (option.values.empty()) return option.takes_files ? "_files" : " ";
  const std::string values = Join(option.values, " ");
  const std::string listed = option.is_list ? "_values -s , value " + values : "(" + values + ")";
  if (!option.takes_files) return listed;
  return "_alternative \"values\\:value\\:(" + values + ")\" \"files\\:file\\:_files\"";
}

std::string ZshArguments(const CompletionCommand& command, const std::string& indent) {
  std::string text;
  for (const CompletionOption& option : command.options) {
    const std::string value = option.takes_value ? ":" + std::string("value") + ":" + ZshAction(option) : "";
    for (const std::string& name : option.names) {
      const bool is_long = name.rfind("--", 0) == 0;
      text += " \\\n" + indent + Quoted(name + (option.takes_value && is_long ? "=" : "") + "[" + ZshText(option.description) + "]" + value);
    }
    if (option.names.empty()) text += " \\\n" + indent + Quoted("*" + value);
  }
  return text;
}

std::string ZshScript(const std::vector<CompletionCommand>& commands) {
  std::string names, branches;
  for (size_t i = 1; i < commands.size(); ++i) {
    names += "    " + Quoted(ReplaceAll(commands[i].name, ":", "\\:") + ":" + commands[i].description) + "\n";
    branches += "      " + commands[i].name + ") _arguments" + ZshArguments(commands[i], "        ") + " ;;\n";
  }
  return "#compdef flce-repro\n"
         "# Completion of flce-repro in zsh, made by: flce-repro completion zsh\n"
         "_flce_repro() {\n"
         "  local curcontext=$curcontext state line\n"
         "  typeset -A opt_args\n"
         "  local -a commands=(\n" + names + "  )\n"
         "  _arguments -C" + ZshArguments(commands.front(), "    ") + " \\\n    '1: :->command' '*:: :->arguments'\n"
         "  case $state in\n"
         "    command) _describe command commands ;;\n"
         "    arguments) case $line[1] in\n" + branches + "    esac ;;\n"
         "  esac\n"
         "}\n"
         "compdef _flce_repro flce-repro\n";
}

std::string FishScript(const std::vector<CompletionCommand>& commands) {
  const std::string all = SubcommandNames(commands, " ");
  std::string text = "# Completion of flce-repro in fish, made by: flce-repro completion fish\ncomplete -c flce-repro -f\n";
  for (const CompletionCommand& command : commands) {
    const std::string seen = command.name.empty() ? "not __fish_seen_subcommand_from " + all : "__fish_seen_subcommand_from " + command.name;
    if (!command.name.empty())
      text += "complete -c flce-repro -n 'not __fish_seen_subcommand_from " + all + "' -a " + command.name + " -d " + Quoted(command.description) + "\n";
    for (const CompletionOption& option : command.options) {
      std::string line = "complete -c flce-repro -n " + Quoted(seen);
      for (const std::string& name : option.names) line += name.rfind("--", 0) == 0 ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (option.takes_value && !option.names.empty()) line += " -r";
      if (option.takes_value) line += option.takes_files ? " -F" : " -f";
      if (!option.values.empty())
        line += " -a " + Quoted(option.is_list ? "(__fish_append , " + Join(option.values, " ") + ")" : Join(option.values, " "));
      if (!option.names.empty()) line += " -d " + Quoted(option.description);
      text += line + "\n";
    }
  }
  return text;
}

}  // namespace

std::string CompletionScript(const std::string& shell, const std::vector<CompletionCommand>& commands) {
  return shell == "bash" ? BashScript(commands) : shell == "zsh" ? ZshScript(commands) : FishScript(commands);
}

}  // namespace flce
