"""Trackers, which show the metrics of runs: TensorBoard, Weights & Biases and MLflow. They are imported when used."""

from training.loop.trackers.base import TRACKER_IDS, TrackedRun, Tracker, TrackerIds, numbers_of
from training.loop.trackers.open_trackers import check_trackers, open_trackers

__all__ = ["TRACKER_IDS", "TrackedRun", "Tracker", "TrackerIds", "check_trackers", "numbers_of", "open_trackers"]
