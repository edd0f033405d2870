"""What the training app does across several rows. One keyword-only function each; errors are `Refused`."""

from training_app.services.bases import make_base_checkpoint
from training_app.services.exporting import Wanted, create_export, write_export
from training_app.services.forecasts import Forecast, examples_of, forecast, mask_of
from training_app.services.ingesting import episodes_of, ingest
from training_app.services.launching import (
    cancel,
    held_out_attempts,
    held_out_attempts_of_tiers,
    launch_evaluation,
    launch_rl,
    launch_sft,
    resume,
    rl_config,
    train_attempts,
)
from training_app.services.snapshots import Choice, create_snapshot, preview
from training_app.services.supervising import reap, result_of, supervise

__all__ = [
    "Choice",
    "Forecast",
    "Wanted",
    "cancel",
    "create_export",
    "create_snapshot",
    "episodes_of",
    "examples_of",
    "forecast",
    "held_out_attempts",
    "held_out_attempts_of_tiers",
    "ingest",
    "launch_evaluation",
    "launch_rl",
    "launch_sft",
    "make_base_checkpoint",
    "mask_of",
    "preview",
    "reap",
    "result_of",
    "resume",
    "rl_config",
    "supervise",
    "train_attempts",
    "write_export",
]
