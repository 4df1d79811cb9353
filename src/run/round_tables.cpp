#include "run/round_tables.h"

#include "run/csv.h"

namespace fedvg {
namespace {

std::optional<double> accuracy_of(const std::optional<Evaluation>& evaluation) {
  return evaluation ? std::optional(evaluation->accuracy) : std::nullopt;
}

std::optional<double> loss_of(const std::optional<Evaluation>& evaluation) {
  return evaluation ? std::optional(evaluation->loss) : std::nullopt;
}

std::optional<double> at(const std::vector<double>& measured, std::size_t tensor) {
  return tensor < measured.size() ? std::optional(measured[tensor]) : std::nullopt;
}

}  // namespace

std::string rounds_header() {
  return "round,test_accuracy,test_loss,val_accuracy,val_loss,participants,rejected,weight_min,"
         "weight_max,weight_entropy,bytes_down,bytes_up,seconds,seconds_train,seconds_score,"
         "seconds_combine,seconds_evaluate\n";
}

std::string clients_header() {
  return "round,client,samples,steps,weight,score,norm,loss_first,loss_last,status,seconds_train,"
         "seconds_score,corrupted\n";
}

std::string layers_header() { return "round,client,tensor,block,norm,weight\n"; }

std::string rounds_line(const RoundResult& result) {
  const RoundRecord& record = result.record;
  CsvLine line;
  line.add(record.round)
      .add(accuracy_of(result.test))
      .add(loss_of(result.test))
      .add(accuracy_of(result.validation))
      .add(loss_of(result.validation))
      .add(record.participants)
      .add(record.rejected)
      .add(record.weight_min)
      .add(record.weight_max)
      .add(record.weight_entropy)
      .add(record.bytes_down)
      .add(record.bytes_up)
      .add(result.seconds)
      .add(record.seconds_train)
      .add(record.seconds_score)
      .add(record.seconds_combine)
      .add(result.seconds_evaluate);
  return line.text();
}

std::string clients_lines(const RoundRecord& record) {
  std::string lines;
  for (const ClientRecord& client : record.clients) {
    CsvLine line;
    line.add(record.round)
        .add(client.client)
        .add(client.samples)
        .add(client.steps)
        .add(client.weight)
        .add(client.score)
        .add(client.norm)
        .add_unless_nan(client.loss_first)
        .add_unless_nan(client.loss_last)
        .add(client.status)
        .add(client.seconds_train)
        .add(client.seconds_score)
        .add("");  // corrupted: nobody corrupts clients yet
    lines += line.text();
  }
  return lines;
}

std::string layers_lines(const RoundRecord& record, const std::vector<TensorInfo>& tensors) {
  std::string lines;
  for (const ClientRecord& client : record.clients) {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      CsvLine line;
      line.add(record.round)
          .add(client.client)
          .add(tensors[i].name)
          .add(tensors[i].block)
          .add(at(client.tensor_norms, i))
          .add(at(client.tensor_weights, i));
      lines += line.text();
    }
  }
  return lines;
}

}  // namespace fedvg
