#include "engine/client_figures.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace fedvg {
namespace {

double mean_of_first(const std::vector<double>& values, std::int64_t number) {
  return std::accumulate(values.begin(), values.begin() + number, 0.0) /
         static_cast<double>(number);
}

}  // namespace

std::int64_t worst_clients(std::int64_t clients) { return (clients + 9) / 10; }

ClientFigures figures_of(std::span<const ClientTally> clients) {
  std::vector<double> accuracies;
  std::int64_t right = 0, samples = 0;
  for (const ClientTally& client : clients) {
    if (client.samples == 0) continue;
    accuracies.push_back(static_cast<double>(client.right) / static_cast<double>(client.samples));
    right += client.right;
    samples += client.samples;
  }
  ClientFigures figures{.clients = std::ssize(accuracies)};
  if (accuracies.empty()) return figures;
  std::sort(accuracies.begin(), accuracies.end());
  figures.mean = mean_of_first(accuracies, figures.clients);
  figures.weighted = static_cast<double>(right) / static_cast<double>(samples);
  figures.worst = mean_of_first(accuracies, worst_clients(figures.clients));
  double squares = 0;
  for (const double accuracy : accuracies) squares += std::pow(accuracy - figures.mean, 2);
  figures.deviation = std::sqrt(squares / static_cast<double>(figures.clients));
  return figures;
}

}  // namespace fedvg
