// SPDX-License-Identifier: Apache-2.0
#include "native/output_file.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ringscope {
namespace {

// The file that a chain of links leads to, so that it is replaced and not the link.
std::string resolve_links(const std::string& path) {
    const std::unique_ptr<char, decltype(&std::free)> resolved(realpath(path.c_str(), nullptr),
                                                               std::free);
    return resolved == nullptr ? path : resolved.get();
}

Error cannot_write(const std::string& path) {
    return plain_error(ErrorKind::invalid_argument,
                       path + ": cannot be written: " + std::strerror(errno));
}

}  // namespace

Result<OutputFile> OutputFile::create(const std::string& path) {
    if (path == "-") {
        const int output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
        std::FILE* file = output < 0 ? nullptr : fdopen(output, "w");
        return file == nullptr ? Result<OutputFile>(cannot_write("standard output"))
                               : OutputFile("", "", file);
    }
    struct stat found {};
    const bool exists = stat(path.c_str(), &found) == 0;
    if (exists && !S_ISREG(found.st_mode)) {
        std::FILE* file = S_ISDIR(found.st_mode) ? nullptr : std::fopen(path.c_str(), "we");
        errno = S_ISDIR(found.st_mode) ? EISDIR : errno;
        return file == nullptr ? Result<OutputFile>(cannot_write(path))
                               : OutputFile(path, "", file);
    }
    return create_regular(exists ? resolve_links(path) : path);
}

Result<OutputFile> OutputFile::create_regular(const std::string& path) {
    std::string part_path = path + ".XXXXXX";
    const int output = mkostemp(part_path.data(), O_CLOEXEC);
    if (output < 0) {
        return cannot_write(path);
    }
    const mode_t mask =
        umask(0);  // mkostemp makes it private; a trace is as public as any new file
    umask(mask);
    fchmod(output, 0666 & ~mask);
    return OutputFile(path, part_path, fdopen(output, "w"));
}

OutputFile::~OutputFile() {
    if (file_ != nullptr && !part_path_.empty()) {
        unlink(part_path_.c_str());
    }
}

void OutputFile::write(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), file_.get());
}

Status OutputFile::commit() {
    const bool written = std::fflush(file_.get()) == 0 && std::ferror(file_.get()) == 0;
    if (!written || (!part_path_.empty() && std::rename(part_path_.c_str(), path_.c_str()) != 0)) {
        return cannot_write(path_.empty() ? "standard output" : path_);
    }
    part_path_.clear();
    return Done{};
}

}  // namespace ringscope
