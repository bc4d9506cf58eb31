"""Trackers, which show the metrics of runs: TensorBoard, Weights & Biases and MLflow. They are imported when used."""
