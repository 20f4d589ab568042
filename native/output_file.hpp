// SPDX-License-Identifier: Apache-2.0
// OutputFile: a file that appears under its name only when it is complete. "-" is standard output;
// what exists and is no file (a pipe, a device) is written to as it comes.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "shared/result.hpp"

namespace ringscope {

class OutputFile {
  public:
    // Errors: the folder does not exist or cannot be written to.
    static Result<OutputFile> create(const std::string& path);

    OutputFile(OutputFile&& other) noexcept = default;
    OutputFile& operator=(OutputFile&&) = delete;
    ~OutputFile();

    // A failure is kept for commit().
    void write(std::string_view text);

    // Gives the file its name. Errors: something could not be written; then no file is left.
    Status commit();

  private:
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };

    static Result<OutputFile> create_regular(const std::string& path);

    OutputFile(std::string path, std::string part_path, std::FILE* file)
        : path_(std::move(path)), part_path_(std::move(part_path)), file_(file) {}

    std::string path_;
    std::string part_path_;  // empty for what is written to as it comes
    std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace ringscope
