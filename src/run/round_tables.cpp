#include "run/round_tables.h"

#include "run/csv.h"

namespace fedvg {
namespace {

template <class Figures, class Figure>
std::optional<double> figure_of(const std::optional<Figures>& figures, Figure Figures::*figure) {
  return figures ? std::optional<double>((*figures).*figure) : std::nullopt;
}

std::optional<double> at(const std::vector<double>& measured, std::size_t tensor) {
  return tensor < measured.size() ? std::optional(measured[tensor]) : std::nullopt;
}

}  // namespace

std::string rounds_header() {
  return "round,test_accuracy,test_loss,val_accuracy,val_loss,participants,rejected,weight_min,"
         "weight_max,weight_entropy,bytes_down,bytes_up,seconds,seconds_train,seconds_score,"
         "seconds_combine,seconds_evaluate,test_balanced_accuracy,val_balanced_accuracy,"
         "test_macro_f1,val_macro_f1,test_macro_auroc,val_macro_auroc,scored,clients_evaluated,"
         "clients_accuracy_mean,clients_accuracy_weighted,clients_accuracy_worst,"
         "clients_accuracy_std\n";
}

std::string clients_header() {
  return "round,client,samples,steps,weight,score,norm,loss_first,loss_last,status,seconds_train,"
         "seconds_score,corrupted,accuracy_before,accuracy_after\n";
}

std::string classes_header() { return "round,class,samples,recall\n"; }

std::string layers_header() { return "round,client,tensor,block,norm,weight\n"; }

std::string rounds_line(const RoundResult& result) {
  const RoundRecord& record = result.record;
  CsvLine line;
  line.add(record.round)
      .add(figure_of(result.test, &Evaluation::accuracy))
      .add(figure_of(result.test, &Evaluation::loss))
      .add(figure_of(result.validation, &Evaluation::accuracy))
      .add(figure_of(result.validation, &Evaluation::loss))
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
  for (const auto figure :
       {&Evaluation::balanced_accuracy, &Evaluation::macro_f1, &Evaluation::macro_auroc}) {
    line.add(figure_of(result.test, figure)).add(figure_of(result.validation, figure));
  }
  line.add(record.scored)
      .add(result.clients ? std::optional(result.clients->clients) : std::nullopt);
  for (const auto figure : {&ClientFigures::mean, &ClientFigures::weighted, &ClientFigures::worst,
                            &ClientFigures::deviation}) {
    line.add(figure_of(result.clients, figure));
  }
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
        .add(client.corrupted)
        .add(client.accuracy_before)
        .add(client.accuracy_after);
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

std::string classes_lines(const RoundResult& result, const std::vector<std::string>& classes) {
  if (!result.test) return "";
  const auto samples = class_samples(result.test->confusion);
  const auto recall = recalls(result.test->confusion);
  std::string lines;
  for (std::size_t c = 0; c < samples.size(); ++c) {
    CsvLine line;
    line.add(result.record.round).add(classes[c]).add(samples[c]).add(recall[c]);
    lines += line.text();
  }
  return lines;
}

std::string confusion_table(const Confusion& confusion, const std::vector<std::string>& classes) {
  CsvLine header;
  header.add("true_class");
  for (const auto& name : classes) header.add(name);
  if (without_prediction(confusion) > 0) header.add("(none)");
  std::string text = header.text();
  for (std::size_t c = 0; c < confusion.size(); ++c) {
    CsvLine line;
    line.add(classes[c]);
    for (const auto samples : confusion[c]) line.add(samples);
    text += line.text();
  }
  return text;
}

}  // namespace fedvg
