// SPDX-License-Identifier: Apache-2.0
#include "native/page_files.hpp"

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "shared/hash.hpp"

namespace ringscope {
namespace {

constexpr size_t page_bytes_max = size_t{64} << 20;

constexpr std::array<std::pair<std::string_view, std::string_view>, 15> content_types{{
    {".html", "text/html; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".mjs", "text/javascript; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".wasm", "application/wasm"},
    {".json", "application/json"},
    {".map", "application/json"},
    {".webmanifest", "application/manifest+json"},
    {".svg", "image/svg+xml"},
    {".png", "image/png"},
    {".ico", "image/x-icon"},
    {".woff2", "font/woff2"},
    {".ttf", "font/ttf"},
    {".txt", "text/plain; charset=utf-8"},
    {".tsv", "text/tab-separated-values; charset=utf-8"},
}};

std::string_view content_type_of(std::string_view extension) {
    for (const auto& [known, type] : content_types) {
        if (known == extension) {
            return type;
        }
    }
    return "application/octet-stream";
}

Error cannot_serve(const std::string& path, const std::string& why) {
    return invalid_field("page", path, why);
}

}  // namespace

Result<PageFiles> PageFiles::load(const std::string& folder) {
    namespace fs = std::filesystem;
    PageFiles page;
    size_t bytes = 0;
    std::error_code problem;
    for (fs::recursive_directory_iterator it(folder, problem), end; !problem && it != end;
         it.increment(problem)) {
        if (!it->is_regular_file() || it->is_symlink()) {
            continue;
        }
        std::ifstream file(it->path(), std::ios::binary);
        PageFile entry;
        entry.content.assign(std::istreambuf_iterator<char>(file), {});
        if (!file) {
            return cannot_serve(it->path(), "cannot be read");
        }
        bytes += entry.content.size();
        if (bytes > page_bytes_max) {
            return cannot_serve(folder, "must hold a page, at most 64 MiB of files");
        }
        Fnv64 hash;
        hash.add(entry.content);
        entry.etag = "\"" + hash.text() + "\"";
        entry.content_type = content_type_of(it->path().extension().native());
        page.files_["/" + it->path().lexically_relative(folder).generic_string()] =
            std::move(entry);
    }
    if (problem) {
        return cannot_serve(folder, "cannot be read: " + problem.message());
    }
    if (page.find("/") == nullptr) {
        return cannot_serve(folder, "must be a folder with an index.html");
    }
    return page;
}

const PageFile* PageFiles::find(std::string_view path) const {
    const auto found = files_.find(path == "/" ? "/index.html" : path);
    return found == files_.end() ? nullptr : &found->second;
}

}  // namespace ringscope
