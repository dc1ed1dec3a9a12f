#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace flce {

/// A subcommand is a file pair x.h, x.cc with one entry: SetupX(app, chosen) declares the subcommand and its options, and
/// puts what runs it into `chosen` when it is the one on the command line. It is given
/// the whole command line and returns an exit code.
using Command = std::function<int(const std::vector<std::string>& argv)>;

/// The whole program: parses, runs the chosen subcommand, and turns every error into one line and an exit code.
/// The only place that catches.
int FlceReproMain(int argc, char** argv);

}  // namespace flce
