#include "run/log_file.h"

#include <spdlog/details/null_mutex.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>

#include "fedvg/error.h"
#include "run/growing_file.h"

namespace fedvg {
namespace {

// spdlog's own file sink buffers and may leave half a line on a full disk.
class GrowingFileSink final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  explicit GrowingFileSink(const std::filesystem::path& path) : file_(open(path)) {}

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    file_->append({line.data(), line.size()});
  }
  void flush_() override {}

  static std::unique_ptr<GrowingFile> open(const std::filesystem::path& path) {
    std::error_code none;
    const auto size = std::filesystem::file_size(path, none);
    if (none) return std::make_unique<GrowingFile>(path);
    return std::make_unique<GrowingFile>(path, begin_of(path, static_cast<std::int64_t>(size)));
  }

  std::unique_ptr<GrowingFile> file_;
};

}  // namespace

LogFile::LogFile(const std::filesystem::path& path)
    : logger_(std::make_unique<spdlog::logger>("fedvg", std::make_shared<GrowingFileSink>(path))) {
  logger_->set_pattern("%Y-%m-%dT%H:%M:%S.%e+00:00 %-7l %v", spdlog::pattern_time_type::utc);
  logger_->set_error_handler([this](const std::string& what) { failure_ = what; });
}

LogFile::~LogFile() = default;

void LogFile::write(int level, const std::string& message) {
  failure_.clear();
  // As an argument: a message is never taken for a format.
  logger_->log(static_cast<spdlog::level::level_enum>(level), "{}", message);
  if (!failure_.empty()) throw RunError(failure_);
}

void LogFile::info(const std::string& message) { write(spdlog::level::info, message); }
void LogFile::warning(const std::string& message) { write(spdlog::level::warn, message); }
void LogFile::error(const std::string& message) { write(spdlog::level::err, message); }

}  // namespace fedvg
