#include "harness/cli/schema.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "harness/cli/locations.h"
#include "harness/cli/messages.h"

namespace flce {

void SetupSchema(CLI::App& app, Command& chosen) {
  CLI::App* sub = app.add_subcommand("schema", "print the JSON Schema of the report");
  sub->callback([&chosen] {
    chosen = [](const std::vector<std::string>&) {
      const Result<Locations> locations = FindLocations();
      if (!locations) return PrintError(locations.error());
      const Result<std::string> schema = ReadFile(locations->root / "reports" / "schema" / "report.schema.json");
      if (!schema) return PrintError(schema.error());
      std::fputs(schema->c_str(), stdout);
      return 0;
    };
  });
}

}  // namespace flce
