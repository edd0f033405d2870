"""Rows of the training app: snapshots, runs, checkpoints, evaluations, exports."""

from training_app.models.exports import Export
from training_app.models.runs import Checkpoint, Evaluation, EvaluationEpisode, Snapshot, TrainingRun

__all__ = ["Checkpoint", "Evaluation", "EvaluationEpisode", "Export", "Snapshot", "TrainingRun"]
