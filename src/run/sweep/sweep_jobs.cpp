#include "run/sweep/sweep_jobs.h"

#include <algorithm>

#include "data/wording.h"

namespace fedvg {
namespace {

std::int64_t number_of_jobs(std::int64_t cores, const JobsWish& wish) {
  if (wish.jobs > 0) return std::min(wish.jobs, wish.runs);
  if (!wish.on_cpu) return 1;
  const std::int64_t fitting =
      std::max<std::int64_t>(1, cores / (std::max<std::int64_t>(1, wish.workers) * wish.threads));
  if (wish.workers > 0) return std::min(fitting, wish.runs);
  return wish.runs >= fitting ? fitting : 1;
}

}  // namespace

Jobs divide_cores(const std::vector<int>& cores, const JobsWish& wish) {
  const auto count = static_cast<std::size_t>(std::ssize(cores));
  const auto number = static_cast<std::size_t>(number_of_jobs(std::ssize(cores), wish));
  Jobs jobs(number);
  for (std::size_t i = 0; i < number; ++i) {
    if (number > count) {
      jobs[i].push_back(cores[i % count]);
      continue;
    }
    const auto begin = cores.begin();
    jobs[i].assign(begin + static_cast<std::ptrdiff_t>(i * count / number),
                   begin + static_cast<std::ptrdiff_t>((i + 1) * count / number));
  }
  return jobs;
}

std::string jobs_text(const Jobs& jobs) {
  if (jobs.size() == 1) return "one after another";
  const auto fewer = [](const auto& a, const auto& b) { return a.size() < b.size(); };
  const auto [least, most] = std::minmax_element(jobs.begin(), jobs.end(), fewer);
  const std::string text = std::to_string(jobs.size()) + " at a time, ";
  const auto cores = [](std::size_t size) { return static_cast<std::int64_t>(size); };
  if (least->size() == most->size()) return text + counted(cores(most->size()), "core") + " each";
  return text + std::to_string(least->size()) + " or " + counted(cores(most->size()), "core") +
         " each";
}

}  // namespace fedvg
