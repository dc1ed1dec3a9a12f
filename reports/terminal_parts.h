#pragma once

#include <string>

#include "reports/folded_table.h"
#include "reports/terminal.h"
#include "reports/words.h"

/// The two halves of RenderTerminal.
namespace flce {

/// The verdict of one cell.
std::string CellText(const CellRecord& cell, const ReportOptions& options, const TerminalOptions& terminal);
/// Matrices, counts, fixes and what needs attention.
std::string MatrixText(const RunRecord& run, const ReportOptions& options, const TerminalOptions& terminal);
/// One table, with its title above; it goes on below where the terminal is too narrow.
std::string MatrixTableText(const MatrixTable& table, const ReportOptions& options, const TerminalOptions& terminal);
std::string FoldedTableText(const FoldedTable& table, const ReportOptions& options, const TerminalOptions& terminal);

/// A mark's sign in its colour, padded to `width` columns.
std::string PaintMark(const Mark& mark, const std::string& sign, size_t width, const Ink& ink);
/// "label    text", wrapped and indented; nothing for an empty text.
std::string LabelledText(std::string_view label, std::string_view text, const TerminalOptions& terminal);

}  // namespace flce
