// SPDX-License-Identifier: Apache-2.0
// The daemon's parts that need no process: store, token, page files, output file.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "native/output_file.hpp"
#include "native/page_files.hpp"
#include "native/run_store.hpp"
#include "native/token.hpp"

namespace ringscope {
namespace {

namespace fs = std::filesystem;
constexpr std::chrono::milliseconds at_once{0};
constexpr std::chrono::seconds patience{30};
using State = RunStore::Viewer::State;

class Folder {
  public:
    Folder() {
        std::string name = (fs::temp_directory_path() / "ringscope-test.XXXXXX").string();
        path_ = mkdtemp(name.data());
    }
    ~Folder() { fs::remove_all(path_); }
    std::string file(const std::string& name) const { return (path_ / name).string(); }
    const fs::path& path() const { return path_; }
    void write(const std::string& name, const std::string& content) const {
        fs::create_directories((path_ / name).parent_path());
        std::ofstream(path_ / name, std::ios::binary) << content;
    }

  private:
    fs::path path_;
};

std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

TEST(RunStore, AViewerReadsWhatWasThereAndWhatComes) {
    RunStore store({});
    const std::string id = store.add({});
    EXPECT_EQ(id.size(), 16U);
    store.begin(id);
    store.append(id, "one\ntwo\n");
    auto viewer = store.view(id, 0);
    ASSERT_TRUE(viewer);
    std::string lines;
    EXPECT_EQ(viewer->next(lines, at_once), State::more);
    EXPECT_EQ(lines, "one\ntwo\n");
    EXPECT_EQ(viewer->line_count(), 2);
    EXPECT_EQ(viewer->next(lines, at_once), State::more);
    EXPECT_EQ(lines, "one\ntwo\n") << "nothing new";
    auto more = std::async(std::launch::async, [&] { return viewer->next(lines, patience); });
    store.append(id, "three\n");
    EXPECT_EQ(more.get(), State::more);
    EXPECT_EQ(lines, "one\ntwo\nthree\n");
    EXPECT_EQ(viewer->line_count(), 3);
    store.finish(id, "");
    EXPECT_EQ(viewer->next(lines, at_once), State::end);
}

TEST(RunStore, AViewerThatComesBackGetsExactlyTheRest) {
    RunStore store({});
    const std::string id = store.add({});
    std::string all;
    for (int i = 0; i < 5000; ++i) {
        all += "line " + std::to_string(i) + "\n";
    }
    store.append(id, all);
    store.finish(id, "");
    size_t offset = 0;
    for (int64_t line = 0; line <= 5000; ++line) {
        if (line % 617 == 0 || line == 5000) {
            auto viewer = store.view(id, line);
            std::string rest;
            while (viewer->next(rest, at_once) == State::more) {
            }
            ASSERT_EQ(rest, all.substr(offset)) << "from line " << line;
            EXPECT_EQ(viewer->line_count(), 5000);
        }
        offset = all.find('\n', offset) + 1;
    }
}

TEST(RunStore, ALineLongerThanAPieceComesWhole) {
    RunStore store({});
    const std::string id = store.add({});
    const std::string line(100'000, 'x');
    store.append(id, line + "\nshort\n");
    auto viewer = store.view(id, 0);
    std::string lines;
    viewer->next(lines, at_once);
    EXPECT_EQ(lines, line + "\n");
}

TEST(RunStore, ForgetsTheOldestFinishedRunsButNeverALiveOne) {
    RunStore store({.run_count_max = 3, .trace_bytes_max = 100});
    const std::string live = store.add({});
    const std::string old = store.add({});
    store.append(old, std::string(60, 'x') + "\n");
    store.finish(old, "");
    auto viewer = store.view(old, 0);
    const std::string newer = store.add({});
    store.append(newer, std::string(60, 'y') + "\n");  // too many bytes now
    EXPECT_FALSE(store.find(old));
    EXPECT_TRUE(store.find(live));
    EXPECT_TRUE(store.find(newer));
    std::string lines;
    viewer->next(lines, at_once);
    EXPECT_EQ(lines.size(), 61U) << "who was reading it still can";
    store.finish(newer, "");
    store.add({});
    store.add({});
    EXPECT_FALSE(store.find(newer)) << "too many runs";
    EXPECT_EQ(store.list().front().id, live);
}

TEST(RunStore, StopSendsWaitingViewersHome) {
    RunStore store({});
    const std::string id = store.add({});
    auto viewer = store.view(id, 0);
    std::string lines;
    auto state = std::async(std::launch::async, [&] { return viewer->next(lines, patience); });
    store.stop();
    EXPECT_EQ(state.get(), State::stopped);
}

TEST(Token, MatchesItselfOnly) {
    const Token token;
    EXPECT_EQ(token.text().size(), 64U);
    EXPECT_NE(token.text(), Token().text());
    EXPECT_TRUE(token.matches(token.text()));
    EXPECT_FALSE(token.matches(""));
    EXPECT_FALSE(token.matches(token.text().substr(1)));
    EXPECT_FALSE(token.matches(token.text() + "0"));
    for (size_t i = 0; i < token.text().size(); ++i) {
        std::string other = token.text();
        other[i] = other[i] == '0' ? '1' : '0';
        EXPECT_FALSE(token.matches(other)) << "digit " << i;
    }
}

TEST(PageFiles, FindsFilesByExactPathOnly) {
    const Folder folder;
    folder.write("page/index.html", "<p>");
    folder.write("page/assets/view.wasm", std::string("\0asm", 4));
    folder.write("secret.txt", "secret");
    fs::create_symlink(folder.file("secret.txt"), folder.file("page/link.txt"));
    const auto page = PageFiles::load(folder.file("page"));
    ASSERT_TRUE(page) << page.error().message;
    ASSERT_NE(page->find("/"), nullptr);
    EXPECT_EQ(page->find("/")->content, "<p>");
    EXPECT_EQ(page->find("/")->content_type, "text/html; charset=utf-8");
    ASSERT_NE(page->find("/assets/view.wasm"), nullptr);
    EXPECT_EQ(page->find("/assets/view.wasm")->content_type, "application/wasm");
    for (const char* path : {"",
                             "//",
                             "/assets",
                             "/assets/",
                             "/link.txt",
                             "/../secret.txt",
                             "/assets/../index.html",
                             "index.html"}) {
        EXPECT_EQ(page->find(path), nullptr) << path;
    }
}

TEST(PageFiles, RefusesAFolderWithoutAPage) {
    const Folder folder;
    for (const std::string& path : {folder.file(""), folder.file("nowhere")}) {
        const auto page = PageFiles::load(path);
        ASSERT_FALSE(page);
        EXPECT_EQ(page.error().field, "page");
    }
}

TEST(OutputFile, HasItsNameOnlyWhenComplete) {
    const Folder folder;
    const std::string path = folder.file("trace.tsv");
    {
        auto file = OutputFile::create(path);
        ASSERT_TRUE(file);
        file->write("half");
    }
    EXPECT_TRUE(fs::is_empty(folder.path())) << "given up, so nothing is left";
    auto file = OutputFile::create(path);
    ASSERT_TRUE(file);
    file->write("whole");
    EXPECT_FALSE(fs::exists(path));
    EXPECT_TRUE(file->commit());
    EXPECT_EQ(read_file(path), "whole");
}

TEST(OutputFile, APipeIsWrittenToAndStaysAPipe) {
    const Folder folder;
    const std::string path = folder.file("pipe");
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    auto reader = std::async(std::launch::async, [&path] { return read_file(path); });
    {
        auto file = OutputFile::create(path);
        ASSERT_TRUE(file);
        file->write("whole");
        EXPECT_TRUE(file->commit());
    }
    EXPECT_EQ(reader.get(), "whole");
    EXPECT_TRUE(fs::is_fifo(path));
}

TEST(OutputFile, OfALinkTheTargetIsReplaced) {
    const Folder folder;
    folder.write("target", "old");
    fs::create_symlink("target", folder.file("link"));
    auto file = OutputFile::create(folder.file("link"));
    ASSERT_TRUE(file);
    file->write("new");
    EXPECT_TRUE(file->commit());
    EXPECT_TRUE(fs::is_symlink(folder.file("link")));
    EXPECT_EQ(read_file(folder.file("target")), "new");
}

TEST(OutputFile, SaysWhenItCannotWrite) {
    EXPECT_FALSE(OutputFile::create("/nowhere/trace.tsv"));
    const Folder folder;
    auto file = OutputFile::create(folder.file("trace.tsv"));
    ASSERT_TRUE(file);
    fs::create_directory(folder.file("trace.tsv"));  // in the way of the name
    file->write("whole");
    EXPECT_FALSE(file->commit());
}

}  // namespace
}  // namespace ringscope
