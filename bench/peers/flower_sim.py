"""Flower's simulation runtime: Message API, its FedAvg strategy, Ray backend.

    flower_sim.py JOB.json [--workers N]

One core a client, so that Ray keeps N client actors. The strategy sends to the clients of the
job's schedule instead of a random sample; the number of a client travels in the message.
"""

import argparse
import os
import pathlib
import time

# Before flwr and ray are loaded: neither reports home, and Ray's actors find these modules.
os.environ.setdefault("FLWR_TELEMETRY_ENABLED", "0")
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ["PYTHONPATH"] = os.pathsep.join(
    filter(None, [str(pathlib.Path(__file__).resolve().parent), os.environ.get("PYTHONPATH")]))

import torch
from flwr.app import ArrayRecord, ConfigRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import ServerApp
from flwr.serverapp.strategy import FedAvg
from flwr.simulation import run_simulation
from torch.utils.data import Subset, TensorDataset

import workload
from job import Job


def client_app(job):
    app = ClientApp()

    @app.train()
    def train(message: Message, context: Context):
        torch.set_num_threads(1)
        data, clients = workload.kept_data(job)
        indices = clients[int(message.content["config"]["client"])]
        dataset = Subset(TensorDataset(data.images, data.labels), indices)
        model = workload.make_model()
        model.load_state_dict(message.content["arrays"].to_torch_state_dict())
        workload.train_with_dataloader(model, dataset, job)
        return Message(reply_to=message, content=RecordDict({
            "arrays": ArrayRecord(model.state_dict()),
            "metrics": MetricRecord({"num-examples": len(indices)})}))

    return app


class Scheduled(FedAvg):
    """FedAvg with given cohorts; laps the clock at the end of each round."""

    def __init__(self, schedule, clock):
        super().__init__(fraction_evaluate=0.0)
        self.schedule, self.clock = schedule, clock

    def configure_train(self, server_round, arrays, config, grid):
        if not self.clock.started:
            self.clock.start()
        nodes = sorted(grid.get_node_ids())
        return [message for client in self.schedule[server_round - 1]
                for message in self._construct_messages(
                    RecordDict({"arrays": arrays, "config": ConfigRecord({"client": client})}),
                    [nodes[client]], "train")]

    def aggregate_train(self, server_round, replies):
        replies = list(replies)
        for reply in replies:
            if reply.has_error():
                raise SystemExit(f"a client failed: {reply.error}")
        result = super().aggregate_train(server_round, replies)
        self.clock.lap()
        return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("job")
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    job = Job.read(options.job)
    clients = len(job.clients())
    clock, results = workload.RoundClock(), []
    server = ServerApp()

    @server.main()
    def serve(grid, context):
        while len(list(grid.get_node_ids())) < clients:
            time.sleep(0.1)
        strategy = Scheduled(job.schedule(), clock)
        results.append(strategy.start(
            grid=grid, num_rounds=job.rounds,
            initial_arrays=ArrayRecord(workload.make_model().state_dict())))

    run_simulation(
        server_app=server, client_app=client_app(job), num_supernodes=clients,
        backend_config={"init_args": {"num_cpus": options.workers, "include_dashboard": False},
                        "client_resources": {"num_cpus": 1, "num_gpus": 0.0}})
    model = workload.make_model()
    model.load_state_dict(results[0].arrays.to_torch_state_dict())
    workload.report(clock.seconds, workload.accuracy(model, workload.Data(job.data)))


if __name__ == "__main__":
    main()
