"""A Ray cluster of several nodes on this machine, for tests: small, quiet, and gone at the end."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

NODE = {"num_cpus": 1, "object_store_memory": 80 << 20, "include_dashboard": False}


class SmallCluster:
    """A head without room for work, and nodes that have room for one worker each."""

    def __init__(self, nodes: int) -> None:
        from ray.cluster_utils import Cluster

        head = {**NODE, "num_cpus": 0}
        self.cluster = Cluster(initialize_head=True, connect=False, head_node_args=head)
        self.address: str = self.cluster.address
        self.nodes: list[Any] = [self.add() for _ in range(nodes)]

    def add(self) -> Any:
        return self.cluster.add_node(wait=False, **NODE)

    def replace(self, index: int) -> None:
        """A node dies, as by a power cut, and another comes."""
        dead = self.nodes.pop(index % len(self.nodes))
        self.nodes.append(self.add())
        self.cluster.remove_node(dead, allow_graceful=False)

    @contextmanager
    def gpus(self, count: int) -> Iterator[None]:
        """A node that says that it has so many, and room for two workers on each."""
        node = self.cluster.add_node(wait=True, **{**NODE, "num_cpus": 2 * count}, num_gpus=count)
        try:
            yield
        finally:
            self.cluster.remove_node(node, allow_graceful=False)


@contextmanager
def cluster_of(nodes: int) -> Iterator[SmallCluster]:
    """Connected to, so that not every test has to."""
    ray = pytest.importorskip("ray")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        patch.delenv("RAY_ADDRESS", raising=False)
        paths = filter(None, [os.getcwd(), os.environ.get("PYTHONPATH")])  # of what tests define
        patch.setenv("PYTHONPATH", os.pathsep.join(paths))
        logging.getLogger("ray").setLevel(logging.ERROR)
        found = SmallCluster(nodes)
        try:
            ray.init(found.address, log_to_driver=False, configure_logging=False)
            yield found
        finally:
            ray.shutdown()
            found.cluster.shutdown()
