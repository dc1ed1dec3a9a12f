#pragma once

#include <map>
#include <string>

namespace flce {

/// What a report says of the machine: system, kernel, cores, memory. No host or user name.
std::map<std::string, std::string> DescribeHost();

}  // namespace flce
