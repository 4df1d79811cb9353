"""BlazeFL's own FedAvg (blazefl.contrib): one after another, a pool of threads or of processes.

    blazefl_sim.py JOB.json [--mode single|thread|process] [--workers N]

Threads are its fastest mode where Python has no global interpreter lock (3.14t); the report says
whether there was one.
"""

import argparse
import pathlib
import sys
import tempfile

import torch
from blazefl.contrib.fedavg import (
    FedAvgBaseClientTrainer, FedAvgBaseServerHandler, FedAvgPartitionType,
    FedAvgProcessPoolClientTrainer, FedAvgThreadPoolClientTrainer)
from blazefl.core import IPCMode
from torch.utils.data import DataLoader, Subset, TensorDataset

import workload
from job import Job


class ModelSelector:
    def select_model(self, name):
        return workload.make_model()


class PartitionedData:
    """BlazeFL's PartitionedDataset of the job's clients; in shared memory for processes."""

    def __init__(self, job, data, shared):
        if shared:
            data.images.share_memory_()
            data.labels.share_memory_()
        self.training = TensorDataset(data.images, data.labels)
        self.test = TensorDataset(data.test_images, data.test_labels)
        self.clients = job.clients()

    def get_dataset(self, type_, cid):
        if type_ == FedAvgPartitionType.TEST:
            return self.test
        return Subset(self.training, self.clients[cid])

    def set_dataset(self, type_, cid, dataset):
        pass  # training leaves the data as they are

    def get_dataloader(self, type_, cid, batch_size, generator=None):
        return DataLoader(self.get_dataset(type_, cid), batch_size=batch_size, generator=generator,
                          shuffle=type_ == FedAvgPartitionType.TRAIN)


def make_trainer(job, dataset, options, folder):
    common = {"model_selector": ModelSelector(), "model_name": "cnn", "dataset": dataset,
              "device": "cpu", "num_clients": len(dataset.clients), "epochs": job.epochs,
              "batch_size": job.batch_size, "lr": job.learning_rate, "seed": job.seed}
    if options.mode == "single":
        return FedAvgBaseClientTrainer(**common)
    if options.mode == "thread":
        return FedAvgThreadPoolClientTrainer(num_parallels=options.workers, **common)
    return FedAvgProcessPoolClientTrainer(
        num_parallels=options.workers, ipc_mode=IPCMode.SHARED_MEMORY,
        share_dir=folder / "share", state_dir=folder / "state", **common)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("job")
    parser.add_argument("--mode", default="single", choices=["single", "thread", "process"])
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(1)
    job = Job.read(options.job)
    data, schedule = workload.Data(job.data), job.schedule()
    dataset = PartitionedData(job, data, shared=options.mode == "process")
    handler = FedAvgBaseServerHandler(
        model_selector=ModelSelector(), model_name="cnn", dataset=dataset,
        global_round=job.rounds, num_clients=len(dataset.clients), sample_ratio=1.0, device="cpu",
        batch_size=500, seed=job.seed)
    handler.num_clients_per_round = len(schedule[0])
    clock = workload.RoundClock()
    with tempfile.TemporaryDirectory() as folder:
        trainer = make_trainer(job, dataset, options, pathlib.Path(folder))
        clock.start()
        for cohort in schedule:
            trainer.local_process(handler.downlink_package(), cohort)
            for package in trainer.uplink_package():
                handler.load(package)
            clock.lap()
    lock = getattr(sys, "_is_gil_enabled", lambda: True)()
    workload.report(clock.seconds, workload.accuracy(handler.model, data),
                    python=sys.version.split()[0], interpreter_lock=lock)


if __name__ == "__main__":
    main()
